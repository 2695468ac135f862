"""Who used a budget: what was taken of it by each person, by each kind of release, and by each budget below."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from bursar.ledger.views.history import Step

_NAME = re.compile(r"[A-Za-z_]\w*(?=\()")
UNNAMED = "nobody named"


class Used(NamedTuple):
    """Somebody or something, and its part of all that was taken."""

    name: str
    share: Fraction


class Users(NamedTuple):
    """Three ways to divide what was taken; the largest part first."""

    people: list[Used]
    kinds: list[Used]
    below: list[Used]


def users(scope: str, taken: Iterable[tuple[Step, bool, list[str]]]) -> Users:
    """From steps, each with whether it may be told who it was, and the scopes that it was made on."""
    people, kinds, below = (dict[str, Fraction]() for _ in range(3))
    for step, told, names in taken:
        if not step.took:
            continue
        _add(people, (step.entry.actor or UNNAMED) if told else "others", step.took)
        _add(kinds, _kind(step) if told else "others", step.took)
        _add(below, _child(scope, names) if told else "others", step.took)
    return Users(_sorted(people), _sorted(kinds), _sorted(below))


def _add(sums: dict[str, Fraction], name: str, share: Fraction) -> None:
    sums[name] = sums.get(name, Fraction(0)) + share


def _sorted(sums: dict[str, Fraction]) -> list[Used]:
    whole = sum(sums.values(), Fraction(0)) or Fraction(1)
    parts = (Used(name, share / whole) for name, share in sums.items())
    return sorted(parts, key=lambda used: (-used.share, used.name))


def _kind(step: Step) -> str:
    """The mechanisms of a release, without their numbers."""
    if step.body.released is None:
        return {"reserve": "reserved", "import": "brought in", "open": "spent before"}.get(step.entry.kind, "other")
    depth, names, at = 0, dict[str, None](), 0
    for found in _NAME.finditer(step.body.released):
        depth += step.body.released.count("(", at, found.start()) - step.body.released.count(")", at, found.start())
        at = found.start()
        if depth == 0:
            names[found[0].replace("_", " ")] = None
    return " + ".join(names) or "other"


def _child(scope: str, names: list[str]) -> str:
    """The budget below that a charge came from; itself where it was made on it."""
    for name in names:
        if name.startswith(f"{scope}/"):
            return "/".join(name.split("/")[: scope.count("/") + 2])
    return next((name for name in names if name != scope), scope) if scope not in names else scope
