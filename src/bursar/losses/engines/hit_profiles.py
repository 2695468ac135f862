"""δ of a few copies of a loss without sampling: a closed form, bounds, or an engine's answer (proofs/hits.md §§3–5)."""

from __future__ import annotations

from flint import arb

from bursar.losses._base import Atom, Loss
from bursar.losses.engines import envelope
from bursar.losses.engines.envelope import NoEnvelope
from bursar.numerics.balls import Ball, ball, hull, positive_part

_SPARES = (None, arb(10) ** -8, arb(10) ** -40)  # of mass above an atom that may decide
_SAME = 1 - arb(10) ** -12  # of each other: bounds this close are one number
_FLAT = 40  # 1 − e^{−40} is 1 for these purposes


def plain_profile(base: Loss, n: int, x: Ball) -> Ball:
    """δ_n(x) in closed form, or between bounds that cost nothing."""
    closed = base.copies_profile(n, x)
    if closed is not None:
        return closed
    found = between(base, n, x)
    if n == 1 and found.rad() > 1e-12 * found.mid():
        own = base.profile(x)
        found = hull(found.lower().max(own.lower()), found.upper().min(own.upper())) if own.is_finite() else found
    return found


def between(base: Loss, n: int, x: Ball) -> Ball:
    """δ_n(x) between what all losses being large gives and what none being large leaves."""
    low, high = arb(0), arb(1)
    for atom, above in _atoms(base):
        most = n * atom.loss
        under = arb(0) if x >= most else -(x - most).expm1() if x < most else hull(arb(0), -(x - most).lower().expm1())
        low = low.max(positive_part(under.lower()) * atom.mass**n)
        # where no loss exceeds the atom's, their sum does not exceed n of it
        high = high.min((under + n * above).upper())
    if not low.lower() >= _SAME * high:  # else the rest would say the same for more
        low = low.max(positive_part(1 - base.below(((x + _FLAT) / n).upper())) ** n * -arb(-_FLAT).expm1())
        high = high.min((n * base.tail((x / n).lower())).upper())
    low = positive_part(low.lower())
    return hull(low.min(high), high) if high > 0 else arb(0)


_known: list[tuple[Loss, list[tuple[Atom, Ball]]]] = []
"""The atoms of the loss that was asked about last: a sum asks about one loss, hundreds of times."""


def _atoms(base: Loss) -> list[tuple[Atom, Ball]]:
    """Atoms that may decide, each with the mass above it."""
    known = _known[-1:]
    if known and known[0][0] is base:
        return known[0][1]
    found = []
    for spare in _SPARES:
        atom = base.top(spare)
        if atom is not None and atom.mass > 0:
            above = base.infinite_mass() if spare is None else base.tail(atom.loss)
            found.append((Atom(atom.loss, atom.mass.min(arb(1))), above))
    _known[:] = [(base, found)]
    return found


def engine_profile(base: Loss, n: int, x: Ball) -> Ball:
    """δ_n(x) by an engine, or between those bounds."""
    found = plain_profile(base, n, x)
    if n == 1 or found.rad() <= 1e-6 * found.mid():
        return found
    try:
        wide = [envelope.delta_at([(base, n)], ball(place), 1e-7) for place in (x.upper(), x.lower())]
    except (NoEnvelope, ArithmeticError, ValueError):
        return found
    low, high = (arb(wide[0].lower), arb(wide[1].upper))
    return hull(low.max(found.lower()), high.min(found.upper()))
