"""A draft for the OpenDP deployments registry, in its form of July 2026.

The ledger knows what it enforces: whom it protects, by how much, how releases compose and which ones ran. It does not
know who publishes what for whom: these facts are given (`bursar.ledger.inspection.registry_facts`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from math import inf, nextafter
from typing import Any

from bursar.errors import ScopeUnknown
from bursar.ledger.budget.amounts import shown
from bursar.ledger.budget.scope import Scope
from bursar.ledger.inspection.registry_facts import FIELDS, HEAD, checked
from bursar.ledger.journal.body import LOST, body_in
from bursar.ledger.stores._base import Reader
from bursar.relations import ADD_REMOVE, REPLACE_ONE, ZERO_OUT

_SECOND = ("model_name", "release_type", "data_source_type", "access_type")
_THIRD = (
    "data_domain",
    "unprotected_quantities",
    "post_processing",
    "preprocessing_and_hyperparameter_tuning",
    "justification",
)
"""What the registry's second and third tier disclose besides."""
_VARIANTS = {"pure": "Pure DP", "zcdp": "Zero-concentrated DP", "renyi": "Renyi DP", "gdp": "Custom"}

_APART = {
    "": "",
    "blocks": ", for every block of the data by itself: the parameters are those of the worst block",
    "people": ", for every person by themselves: whoever has used up their own budget is left out",
}


def deployment(reader: Reader, root: str, facts: Mapping[str, Any]) -> str:
    """The draft as YAML."""
    row = reader.scope(root)
    if row is None or row.kind != "root":
        raise ScopeUnknown(f"there is no root scope {root!r}")
    known = checked(facts)
    found = {**_of_ledger(Scope(row), reader), **known}
    if "privacy_unit_details" in known:
        found["privacy_unit_details"] = f"{_neighbours(Scope(row))} {known['privacy_unit_details']}"
    sections = {section: {name: found[name] for name in fields if name in found} for section, fields in FIELDS.items()}
    told = {section: fields for section, fields in sections.items() if fields}
    slug = re.sub(r"[^a-z0-9]+", "-", root.lower()).strip("-")
    tier = 1 if any(name not in found for name in _SECOND) else 2 if any(name not in found for name in _THIRD) else 3
    whole = {"url_slug": slug, "status": "Draft", "tier": tier, **{name: found[name] for name in HEAD if name in found}}
    return "".join(_lines({**whole, "deployment": told}, 0))


def _keeps(scope: Scope) -> str:
    return "" if scope.cohort is None else str(scope.cohort["keeps"])


def _charged_apart(reader: Reader, root: str) -> list[tuple[str, int]]:
    """What was released in a cohort: the texts of its queries, which nobody was charged for as a whole."""
    kinds = ("charge", "admit", "share")
    asked = [body_in(one.entry.body).asked() for one in reader.entries(root) if one.entry.kind in kinds]
    return list(Counter(map(_query, asked)).items())


def _query(asked: Mapping[str, Any]) -> str:
    """What a query of a cohort released."""
    if asked.get("verb") == "share":
        return f"discrete_gaussian(sigma={asked['sigma']}) on the numbers of people with and without enough budget left"
    if asked.get("what"):
        return str(asked["what"])
    return f"gaussian noise {asked['sigma']} on sums of {asked['sums']}, each person's clipped to {asked['norm']}"


def _of_ledger(scope: Scope, reader: Reader) -> dict[str, Any]:
    """What the ledger itself knows."""
    root, target = scope.name, {name: Fraction(value) for name, value in scope.target.items()}
    blocks = [Scope(row) for row in reader.scopes(root) if row.kind == "block"]
    parts = [scope, *blocks]
    released = [
        (what if part is scope else f"{part.name}: {what}", count)
        for part in parts
        for what, count in (reader.released(part.name) if scope.cohort is None else _charged_apart(reader, root))
    ]
    found: dict[str, Any] = {
        "name": root,
        "variant_name": _VARIANTS.get(scope.row.currency, "Approximate DP"),
        "privacy_unit": scope.unit,
        "privacy_unit_details": _neighbours(scope),
        "composition": f"Fully adaptive, by the filter '{scope.row.currency}' of bursar{_APART[_keeps(scope)]}; every "
        "release is charged in a durable, hash-chained ledger before it runs.",
        "mechanisms": "; ".join(f"{count} × {what}" for what, count in released) or "nothing so far",
    }
    terms = [(words, target[name]) for name, words in _WORDS.items() if target.get(name)]
    limit = ", ".join(f"{words} = {shown(value, up=True, digits=17)}" for words, value in terms)
    if scope.row.currency == "zcdp" and target.get("delta"):
        limit += ", so that it is δ-approximate"
    beyond = [part.name for part in parts if part.lost or part.overdrawn != {}]
    if beyond or any(what == LOST for what, _ in released):  # the limit is not what was spent
        why = f"It has been exceeded, or may have been, in {', '.join(beyond or [root])}: entries were lost, or "
        found["privacy_parameters_details"] = f"The limit of the ledger: {limit}. {why}corrections took more than it."
        return found
    found["privacy_parameters_details"] = (
        f"The limit that the ledger enforces: {limit}. Releases are refused before it would be exceeded."
    )
    parts_of = {name: _number(target[name]) for name in ("epsilon", "delta", "rho") if target.get(name)}
    numbers = {name: value for name, value in parts_of.items() if value < inf}
    return {**found, "privacy_parameters": numbers} if numbers else found


_CHANGES = {
    ADD_REMOVE: "adding or removing",
    REPLACE_ONE: "replacing",
    ZERO_OUT: "replacing by null records, which contribute nothing,",
}
_WORDS = {
    "epsilon": "ε",
    "delta": "δ",
    "leak": "of which for releases that leak, δ",
    "rho": "ρ of zero-concentrated DP",
    "mu": "μ of Gaussian DP",
    "order": "order α of the Rényi divergence",
    "renyi": "limit of the Rényi divergence",
}


def _neighbours(scope: Scope) -> str:
    return f"Neighbouring data sets differ by {_CHANGES[scope.relation]} the data of one {scope.unit}."


def _number(value: Fraction) -> float:
    """The float whose decimal is the value, or the next one above: what is enforced is never more than what is said."""
    try:
        found = float(value)
    except OverflowError:
        return inf
    return found if Fraction(repr(found)) >= value else nextafter(found, inf)


def _lines(value: Mapping[str, Any], depth: int) -> list[str]:
    """A mapping as YAML: strings as JSON has them, which is YAML too."""
    rows, lead = [], "  " * depth
    for name, part in value.items():
        if isinstance(part, Mapping):
            rows += [f"{lead}{name}:\n", *_lines(part, depth + 1)]
        elif isinstance(part, list):
            rows += [f"{lead}{name}:\n", *(f"{lead}  - {_scalar(item)}\n" for item in part)]
        else:
            rows.append(f"{lead}{name}: {_scalar(part)}\n")
    return rows


def _scalar(value: Any) -> str:
    if isinstance(value, float):  # some readers take 1e-06 for a word
        text = repr(value)
        return text if "." in text or "e" not in text else text.replace("e", ".0e")
    if isinstance(value, int):
        return str(value)
    # what YAML does not print as it is
    return re.sub(
        r"[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]",
        _escaped,
        json.dumps(value, ensure_ascii=False),
    )


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return found[0] if code > 0xFFFF else f"\\u{code:04x}"
