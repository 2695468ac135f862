"""What the releases of a scope have cost by now: its odometer, and their cost with hindsight."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from bursar.composition import Composition
from bursar.errors import BursarError, ConversionRefused, LossUnknown
from bursar.guarantees import ZCDP, PureDP
from bursar.jobs.account import account
from bursar.ledger.budget.release import release_of
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.body import LOST
from bursar.ledger.views.odometer import mixture

ODOMETER = (
    "with probability at least 1 − δ the loss never exceeded this, at any time so far: a statement of another kind "
    "than the limit, which holds all the same and may be smaller"
)
HINDSIGHT = "what the same releases would cost if exactly they had been fixed in advance; it admits nothing"
Lost = tuple[float | None, tuple[float, float] | None]
"""An odometer, and a cost with hindsight, each where it is known."""


def losses(scope: Scope, released: Sequence[tuple[str, int]]) -> Lost:
    """What these releases have cost by now, and would have cost if they had been fixed in advance."""
    if scope.cohort is not None:  # nobody has been through all of its releases
        return None, None
    return _odometer(scope, released), _hindsight(scope, released)


def _delta(scope: Scope) -> Fraction:
    return Fraction(scope.target.get("delta", "0"))


def _odometer(scope: Scope, released: Sequence[tuple[str, int]]) -> float | None:
    """The smaller of Σε and the mixture boundary; leaks take their part of δ first."""
    if "epsilon" not in scope.target or any(what == LOST for what, _ in released):
        return None
    try:
        charged = [(release_of(text).composition, times) for text, times in released]
    except BursarError:  # a plug-in that is not installed here, say
        return None
    delta = _delta(scope)
    pure: Fraction | None = Fraction(0)
    rho, leak = Fraction(0), Fraction(0)
    for composition, times in charged:
        for mechanism, count in composition.terms:
            try:
                pure = None if pure is None else pure + times * count * Fraction(mechanism.promise(PureDP).epsilon)
            except ConversionRefused:
                pure = None
            try:
                promise = mechanism.promise(ZCDP)
            except ConversionRefused:
                return None if pure is None else _above(pure)
            if promise.delta > 0 and not _leaks_surely(mechanism):
                return None  # an (ε, δ) promise bounds no loss by itself
            rho, leak = rho + times * count * Fraction(promise.rho), leak + times * count * Fraction(promise.delta)
    if delta <= leak:
        return None if pure is None else _above(pure)
    # γ is fixed by what was agreed when the scope was opened
    gamma = Fraction(scope.terms["currency"]["epsilon"]) ** 2 / 64
    boundary = mixture(2 * rho, gamma, delta - leak) if rho else 0.0
    return boundary if pure is None else min(boundary, _above(pure))


def _above(value: Fraction) -> float:
    return float(value) * (1 + 2.0**-50)


def _leaks_surely(mechanism: Any) -> bool:
    """Whether its leak is that of its own losses, so that apart from it the loss is bounded."""
    try:
        return bool(mechanism.losses().attained)
    except LossUnknown:
        return False


def _hindsight(scope: Scope, released: Sequence[tuple[str, int]]) -> tuple[float, float] | None:
    if not released:
        return (0.0, 0.0)
    if any(what == LOST for what, _ in released):
        return None
    try:
        whole = sum((release_of(text).composition * count for text, count in released), Composition())
        report = account(whole, delta=_delta(scope))
    except BursarError:
        return None
    return (report.epsilon.lower, report.epsilon.upper) if report.epsilon.upper < float("inf") else None
