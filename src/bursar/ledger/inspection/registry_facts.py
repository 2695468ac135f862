"""The facts that the deployments registry wants, in its form of July 2026, and no ledger has.

Every field is in `FIELDS`; tests hold it against the registry's own schema. What is missing, unknown or of another kind
is refused by name, all of it at once; nothing is made up.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from bursar.errors import InputError, described

TEXT, TEXTS, DATE, OURS = "text", "texts", "date", "ours"
Kind = str | tuple[str | int, ...]
"""A tuple lists what is allowed; `OURS` is for the ledger alone to say."""
HEAD: dict[str, Kind] = {
    "url_slug": TEXT,
    "status": (
        "Converted",
        "Draft",
        "Pending",
        "Changes Required",
        "Approved",
        "Approved (Update Requested)",
        "Approved (Pending)",
    ),
    "tier": (1, 2, 3),
}
FIELDS: dict[str, dict[str, Kind]] = {
    "basic": {
        "name": TEXT,
        "data_curators": TEXTS,
        "intended_use": TEXT,
        "data_product_type": (
            "Summary statistics",
            "Machine learning model",
            "Dataset",
            "Synthetic data",
            "Interactive API",
            "SQL queries",
        ),
        "data_product_region": TEXT,
        "description": TEXT,
        "publication_date": DATE,
        "data_product_sector": ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance"),
    },
    "dp_variant": {"variant_name": OURS, "data_domain": TEXT, "unprotected_quantities": TEXT},
    "privacy_loss": {
        "privacy_unit": OURS,
        "privacy_unit_details": TEXT,
        "privacy_parameters": OURS,
        "privacy_parameters_details": OURS,
    },
    "deployment_model": {
        "model_name": ("Local", "Central", "Shuffle", "Federated", "Varies"),
        "model_name_details": TEXT,
        "actors": TEXT,
        "release_type": ("One release", "Many releases"),
        "release_type_details": TEXT,
        "data_source_type": ("Static", "Dynamic"),
        "data_source_type_details": TEXT,
        "access_type": ("Interactive", "Non-interactive"),
        "access_type_details": TEXT,
    },
    "accounting": {"post_processing": TEXT, "composition": OURS},
    "implementation": {
        "preprocessing_and_hyperparameter_tuning": TEXT,
        "mechanisms": OURS,
        "justification": TEXT,
    },
    "administrative": {"sources": TEXT, "notes": TEXT, "registry_authors": TEXTS},
}
REQUIRED = (
    "data_curators",
    "description",
    "intended_use",
    "data_product_type",
    "data_product_region",
    "publication_date",
)
"""What no entry may lack, and no ledger has; the name is the root's unless another one is given."""
_KINDS = HEAD | {name: kind for fields in FIELDS.values() for name, kind in fields.items()}
_HOMES = {name: section for section, fields in FIELDS.items() for name in fields}
_LONGEST = 20_000


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """The facts by their names; one error says all that is wrong with them."""
    if not isinstance(given, Mapping):
        raise InputError(f"facts must be a mapping of names to values, not {described(given)}", argument="facts")
    known: dict[str, Any] = {}
    problems: list[str] = []
    for home, name, value in _flat(given, None):
        kind = _KINDS.get(name) if isinstance(name, str) else None
        if kind is None or (home is not None and _HOMES.get(str(name)) != home):
            problems.append(f"the registry has no {described(name)}{'' if home is None else f' in {home}'}")
        elif name in known:
            problems.append(f"{name} is given twice")
        elif kind is OURS:
            problems.append(f"{name} is for the ledger to say: leave it out")
        else:
            known[name] = _value(name, kind, value, problems)
    missing = [name for name in REQUIRED if name not in known]
    if any(name in known for name in FIELDS["administrative"]) and "registry_authors" not in known:
        missing.append("registry_authors")
    if missing:
        problems.append(
            f"no ledger knows these, and the registry wants them: {', '.join(missing)} (facts= in Python, --facts "
            "about.yaml on the command line, POST /v1/export with facts over HTTP)"
        )
    if problems:
        raise InputError("; ".join(problems), argument="facts")
    return known


def _flat(given: Mapping[str, Any], home: str | None) -> list[tuple[str | None, Any, Any]]:
    """Facts come by name, or in the registry's own sections."""
    found: list[tuple[str | None, Any, Any]] = []
    for name, value in given.items():
        if home is None and name == "deployment" and isinstance(value, Mapping):
            found += _flat(value, None)
        elif home is None and name in FIELDS and isinstance(value, Mapping):
            found += _flat(value, name)
        else:
            found.append((home, name, value))
    return found


def _value(name: str, kind: Kind, given: Any, problems: list[str]) -> Any:
    """A fact as the registry wants it."""
    if isinstance(kind, tuple):
        chosen = int(given) if kind is HEAD["tier"] and given in ("1", "2", "3") else given
        if isinstance(chosen, bool) or chosen not in kind:
            problems.append(f"{name} is one of {', '.join(map(str, kind))}, not {described(given)}")
        return chosen
    if kind is DATE:
        day = given.isoformat() if isinstance(given, date) and not isinstance(given, datetime) else given
        if not _is_day(day):
            problems.append(f"{name} is a day such as 2026-07-01, not {described(given)}")
        return day
    every = given if kind is TEXTS else [given]
    if not isinstance(every, (list, tuple)) or not every or not all(map(_is_text, every)):
        problems.append(f"{name} is {'a list of texts' if kind is TEXTS else 'a text'}, not {described(given)}")
    return list(every) if kind is TEXTS and isinstance(every, (list, tuple)) else given


def _is_day(given: Any) -> bool:
    try:
        return isinstance(given, str) and date.fromisoformat(given).isoformat() == given
    except ValueError:
        return False


def _is_text(given: Any) -> bool:
    return (
        isinstance(given, str)
        and 0 < len(given.strip()) <= len(given) <= _LONGEST
        and not any("\ud800" <= letter <= "\udfff" for letter in given)
    )
