"""Why an interval is wider than it was asked to be, as a part of a sentence: which term is wide, and what would narrow
it.
"""

from __future__ import annotations

from bursar.composition import Composition
from bursar.errors import LossUnknown
from bursar.losses import Directions
from bursar.losses.engines.answer import Answer

_MORE = {"low": "normal", "normal": "high"}
_FINER = ("discretisation", "envelope", "aliasing", "truncation", "cut")  # what more points make smaller


def why_wide(found: Answer, width: float, effort: str, kinds: int) -> str:
    """What to add to the reason of an answer; nothing where it is as narrow as asked."""
    if found.width <= width:
        return ""
    lead = f"; that is wider than the {width:.0e} asked"
    if not found.errors:
        return f"{lead}, {_advice('', found, effort, kinds)}"
    name, size = max(found.errors, key=lambda term: term[1])
    return f"{lead}: its widest term is {name}, {size:.0e} of δ; {_advice(name, found, effort, kinds)}"


def _advice(name: str, found: Answer, effort: str, kinds: int) -> str:
    """What would narrow it."""
    if found.engine in ("lattice", "envelope") and name in _FINER and effort in _MORE:
        return f'effort="{_MORE[effort]}" allows more points'
    if kinds > 1:
        return f"fewer than these {kinds} different mechanisms would narrow it"
    return "no setting narrows it, so take its upper end"


def why_open(composition: Composition) -> str:
    """Why nothing is proved from below: the first mechanism that is not known to be as bad as what is proved of it."""
    for mechanism, _ in composition.terms:
        try:
            losses: Directions = mechanism.losses()
        except LossUnknown as unknown:
            return f"no lower end, since {unknown}"
        if not losses.attained:
            return f"no lower end, since {mechanism.text()} may leak less than the worst that keeps its promise"
    return "no lower end, since no engine resolves it: a larger effort, or fewer different mechanisms, might"
