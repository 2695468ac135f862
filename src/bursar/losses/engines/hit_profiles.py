"""δ of a few copies of a loss without sampling: a closed form, bounds, or an engine's answer (proofs/hits.md §§3–5)."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cached_property

from flint import arb

from bursar.errors import LossUnknown
from bursar.losses._base import Atom, Loss
from bursar.losses.engines import envelope
from bursar.losses.engines.envelope import NoEnvelope
from bursar.losses.engines.hit_steps import STEP_BITS, Copies, Steps, copies_of
from bursar.numerics.balls import Ball, ball, hull, positive_part, working

_SPARES = (None, arb(10) ** -8, arb(10) ** -40)  # of mass above an atom that may decide
_KNOWN = 1e-12  # relative: a δ as close as this is known
_SAME = 1 - arb(10) ** -12  # of each other: bounds this close are one number
_FLAT = 40  # 1 − e^{−40} is 1 for these purposes
_SEVERAL = 4  # copies: with fewer, what they have in common says more
_FINE = 4  # tilts for each doubling
_LOOKED_AT = 32  # tilts
_POWERS, _MORE_POWERS = 8, 24  # numbers of copies whose places are listed, for one loss


def plain_profile(base: Loss, n: int, x: Ball, nothing: Ball | None = None) -> Ball:
    """δ_n(x) in closed form, or between bounds that cost nothing, or by all places of the copies; less than half of
    what counts as ``nothing`` is not looked at more closely.
    """
    found = quick_profile(base, n, x)
    if found.rad() <= _KNOWN * found.mid() or (nothing is not None and 2 * found <= nothing):
        return found
    own = base.profile(x) if n == 1 else base.copies_profile(n, x)
    if own is None:
        copies = _facts(base).copies(n)
        own = None if copies is None else copies.profile(x)
    if own is None or not own.is_finite():
        return found
    return hull(found.lower().max(own.lower()), found.upper().min(own.upper()))


def quick_profile(base: Loss, n: int, x: Ball) -> Ball:
    """The same where it costs next to nothing."""
    closed = base.copies_profile(n, x) if base.gaussian_noise() else None
    return between(base, n, x) if closed is None else closed


def between(base: Loss, n: int, x: Ball) -> Ball:
    """δ_n(x) between what all losses being large gives and what none being large leaves."""
    low, high = arb(0), arb(1)
    facts = _facts(base)
    for atom, above in facts.atoms:
        most = n * atom.loss
        under = arb(0) if x >= most else -(x - most).expm1() if x < most else hull(arb(0), -(x - most).lower().expm1())
        low = low.max(positive_part(under.lower()) * atom.mass**n)
        # where no loss exceeds the atom's, their sum does not exceed n of it
        high = high.min((under + n * above).upper())
    if not low.lower() >= _SAME * high:  # else the rest would say the same for more
        low = low.max(positive_part(1 - base.below(((x + _FLAT) / n).upper())) ** n * -arb(-_FLAT).expm1())
        high = high.min((n * base.tail((x / n).lower())).upper())
        if n >= _SEVERAL:
            least, most = _by_tilts(facts, n, x)
            low, high = low.max(least), high.min(most)
    low = positive_part(low.lower())
    if not (low.is_finite() and high.is_finite()):
        return hull(arb(0), arb(1))
    return hull(low.min(high), high) if high > 0 else arb(0)


def _by_tilts(facts: _Facts, n: int, x: Ball) -> tuple[Ball, Ball]:
    """Bounds of δ_n(x) by Markov's inequality, from below where all losses together lie far above x, from above where
    they lie far below: 1 − (1 − e^{−y})₊ ≤ e^{−ay} for 0 ≤ a ≤ 1, and (1 − e^{−y})₊ ≤ e^{ty} for t ≥ 0.
    """
    low, high = arb(0), arb(1)
    apart = n * facts.mean - float(x)  # any tilt is sound
    if not (math.isfinite(apart) and 0 < facts.variance < math.inf and apart):
        return low, high
    side = -1 if apart > 0 else 1
    with suppress(LossUnknown, ArithmeticError, ValueError):
        power = facts.best(n, float(x), side)
        tilt, cumulant = facts.tilted(power, side)
        part = (n * cumulant - side * tilt * x).exp()
        if not part.is_finite():
            return low, high
        if side < 0:
            low = positive_part((1 - part).lower())
        else:
            high = high.min((n * facts.base.infinite_mass() + part).upper())
    return low, high


class _Facts:
    """What a sum that asks about one loss, hundreds of times, need not find out each time."""

    def __init__(self, base: Loss) -> None:
        self.base = base
        self.atoms: list[tuple[Atom, Ball]] = []
        for spare in _SPARES:
            atom = base.top(spare)
            if atom is not None and atom.mass > 0:
                above = base.infinite_mass() if spare is None else base.tail(atom.loss)
                self.atoms.append((Atom(atom.loss, atom.mass.min(arb(1))), above))
        self._tilted: dict[tuple[int, int], tuple[Ball, Ball]] = {}
        self._floats: dict[tuple[int, int], float] = {}
        self._copies: dict[int, Copies | None] = {}
        self.powers = _POWERS

    def copies(self, n: int) -> Copies | None:
        """So many copies by all of their places, where these are few."""
        if n not in self._copies:
            steps = self._steps if len(self._copies) < self.powers else None
            self._copies[n] = None if steps is None else copies_of(steps, n)
        return self._copies[n]

    @cached_property
    def _steps(self) -> Steps | None:
        with working(STEP_BITS):
            return self.base.equal_steps()

    @cached_property
    def mean(self) -> float:
        """Of one loss, in floats; NaN where that takes integrals."""
        quick = not self.base.takes_integrals()
        return float(self.base.mean()) if quick and self.base.mean().is_finite() else math.nan

    @cached_property
    def variance(self) -> float:
        """The same for its variance."""
        found = self.base.variance()
        return float(found) if found.is_finite() else math.nan

    def best(self, n: int, x: float, side: int) -> int:
        """The tilt at which the bound is least, in floats: near that of a Gaussian with this variance, or smaller."""
        gaussian = math.floor(_FINE * math.log2(abs(n * self.mean - x) / (n * self.variance)))
        last = min(gaussian + 2 * _FINE, -1) if side < 0 else gaussian + 2 * _FINE
        return min(
            range(last - _LOOKED_AT, last + 1), key=lambda p: n * self._rough(p, side) - side * 2 ** (p / _FINE) * x
        )

    def _rough(self, power: int, side: int) -> float:
        if (power, side) not in self._floats:
            try:
                found = self.base.rough_cumulant(side * 2 ** (power / _FINE))
            except (ArithmeticError, ValueError):
                found = math.inf
            self._floats[power, side] = math.inf if math.isnan(found) else found
        return self._floats[power, side]

    def tilted(self, power: int, side: int) -> tuple[Ball, Ball]:
        """A tilt and K there, with the sign of ``side``: one of few tilts, so that they are soon all known."""
        if (power, side) not in self._tilted:
            tilt = arb(2.0 ** (power / _FINE))
            self._tilted[power, side] = tilt, self.base.cumulant(side * tilt).real
        return self._tilted[power, side]


_known: list[_Facts] = []
"""Of the loss that was asked about last."""


def with_patience(base: Loss) -> None:
    """Allow more for the copies of a loss, where others left much open."""
    facts = _facts(base)
    facts.powers, facts._copies = _MORE_POWERS, {}


def _facts(base: Loss) -> _Facts:
    known = _known[:1]
    if known and known[0].base is base:
        return known[0]
    facts = _Facts(base)
    _known[:] = [facts]
    return facts


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
