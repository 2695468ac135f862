"""`export("opendp")` failed the registry's schema of July 2026 with 4 to 5 errors for every currency, and facts that no
ledger has could not be given.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml
from shared import judged

import bursar as b

SCHEMA = json.loads((Path(__file__).parents[1] / "data" / "registry_fields.json").read_text(encoding="utf-8"))
FACTS = {
    "data_curators": ["The Bureau"],
    "intended_use": "Planning of schools",
    "data_product_type": "Summary statistics",
    "data_product_region": "Norway",
    "description": "Counts by district",
    "publication_date": "2026-07-01",
}
TERMS: dict[str, dict[str, Any]] = {
    "pure": {"epsilon": 1},
    "sums": {"epsilon": 1, "delta": "1e-6"},
    "advanced": {"epsilon": 1, "delta": "1e-6"},
    "concentrated": {"epsilon": 1, "delta": "1e-6"},
    "residue": {"epsilon": 1, "delta": "1e-6"},
    "zcdp": {"rho": "1/10"},
    "gdp": {"mu": "3/10"},
}


def drafted(ledger: b.Ledger) -> Any:
    """With the facts, where they can be given."""
    try:
        text = ledger.export("opendp", root="data", facts=FACTS)
    except TypeError:  # there is no such argument
        text = ledger.export("opendp", root="data")
    return yaml.safe_load(text)


def main() -> tuple[bool, str]:
    """The errors for each currency; and a draft without any facts, which must name what is missing."""
    validator = jsonschema_rs.validator_for(SCHEMA, validate_formats=True)
    counts, missing = {}, "written anyway"
    for name, terms in TERMS.items():
        with b.Ledger("memory://", alert=None) as ledger:
            ledger.open("data", currency=name, unit="person", **terms)
            ledger.spend("data", b.Gaussian(sigma=1000) if name == "gdp" else b.Laplace(scale=1000))
            counts[name] = len(list(validator.iter_errors(drafted(ledger))))
            try:
                ledger.export("opendp", root="data")
            except b.InputError as refused:
                missing = "named" if all(fact in str(refused) for fact in FACTS) else str(refused)
    listed = ", ".join(f"{name} {count}" for name, count in counts.items())
    return not any(counts.values()) and missing == "named", f"errors: {listed}; facts that are missing: {missing}"


if __name__ == "__main__":
    judged(main)
