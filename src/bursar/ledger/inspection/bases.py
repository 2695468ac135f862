"""Whether what an engine found of a composed release may be true of it.

The cheap answer uses one number. For a pair (P, Q) let ρ = Σ√(PQ); it multiplies over independent releases, and no
processing makes it smaller. So whatever is dearer than a release, as a basis must be, has a ρ that is at most the
release's own: with a larger one it belongs to something cheaper. The deep answer asks the engines again.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from bursar.composition import Composition
from bursar.errors import BursarError
from bursar.jobs.account import account
from bursar.jobs.spec import parse
from bursar.ledger.budget.amounts import exact
from bursar.ledger.budget.currencies._certificates import points_in
from bursar.ledger.budget.currencies.sums import ends_in
from bursar.ledger.journal.body import Basis
from bursar.losses.residue import law_of_points, places_of
from bursar.numerics.balls import up, working

_ROUNDED = 1e-9
"""More than rounding adds to a sum of floats."""


def cheaply(basis: Basis) -> str:
    """What is certainly wrong with a basis; empty where nothing is known to be."""
    return _compared(basis, lambda composition: _by_overlap(basis, composition))


def deeply(basis: Basis) -> str:
    """The same, by the engines."""
    return cheaply(basis) or _compared(basis, lambda composition: _by_engines(basis, composition))


def _compared(basis: Basis, compare: Callable[[Composition], bool]) -> str:
    try:
        with working():
            wrong = compare(parse(basis.what))
    except (BursarError, ValueError, ArithmeticError) as problem:
        return f"it cannot be read: {problem}"
    return "it is that of a cheaper release" if wrong else ""


def _is_interval(basis: Basis) -> bool:
    return len(basis.numbers.split()) == 2


def _by_overlap(basis: Basis, composition: Composition) -> bool:
    if _is_interval(basis):
        # the dearest pair that is (ε, δ)-DP: a leak, else a randomized response
        least = (1 - float(exact(basis.at, "delta"))) / math.cosh(ends_in(basis)[1] / 2)
    else:
        law = law_of_points(points_in(basis))
        least = min(float((masses * pow(math.e, -losses / 2)).sum()) for losses, masses in law.sides)
    own = _overlap(composition)
    return own is not None and least * (1 - _ROUNDED) > own


def _overlap(composition: Composition) -> float | None:
    """An upper end of ρ of a composition; None where some release does not know its losses, or not their moments."""
    total = 0.0
    try:
        for mechanism, count in composition.terms:
            losses = mechanism.losses()
            total += count * min(up(loss.cumulant(-0.5).real) for loss in (losses.remove, losses.add))
    except (BursarError, ValueError, ArithmeticError):
        return None
    return math.exp(total) * (1 + _ROUNDED) if math.isfinite(total) else None


def _by_engines(basis: Basis, composition: Composition) -> bool:
    """Whether some point of it lies below what the engines prove."""
    if _is_interval(basis):
        lower, upper = ends_in(basis)
        found = account(composition, delta=exact(basis.at, "delta")).epsilon
        return not (found.lower <= upper and lower <= found.upper)
    from bursar.jobs.curve_points import points  # which needs all engines
    from bursar.losses.engines.answer import Precision

    stored = points_in(basis)
    again = points(composition, places_of(stored.reach), Precision())
    least = [max(ends) for ends in zip(*(band.lower.tolist() for band in again.directions), strict=True)]
    return any(delta < low for delta, low in zip(stored.deltas, least, strict=True))
