"""What releases cost on a residue line: certified once for each rung, then plain arithmetic.

A charge that is valid at an allowance is valid at every larger one (proofs/residue.md §3), so the charge at the nearest
rung below serves the whole band above it.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any, NamedTuple

from flint import arb

from bursar.composition import Composition
from bursar.errors import BursarError, ConversionRefused, LossUnknown
from bursar.guarantees import GDP, ZCDP, Renyi
from bursar.jobs.curve import profile
from bursar.ledger.amounts import PARTS
from bursar.ledger.currencies._base import Line
from bursar.losses.residue import ResidueLaw, law_of_directions, law_of_points, law_of_promise, smallest_charge
from bursar.mechanisms._base import Mechanism, known_losses
from bursar.numerics.balls import Ball, working
from bursar.numerics.validate import MAX_COUNT

RUNGS = tuple(PARTS * isqrt(isqrt(2 ** (80 - j))) >> 20 for j in range(45))
"""Four to each halving of the allowance, down to a two-thousandth of it."""
_MOST = 512
_WHOLE = 1000
"""A composition of more terms than this is only priced term by term."""

Priced = Mechanism | Composition


class Charge(NamedTuple):
    """Units of the allowance, and units of δ."""

    residue: int
    leak: int


class ResiduePrices:
    """Prices on the lines of one scope; ``slack`` is the δ that one certificate may take."""

    def __init__(self, allowance: Line, delta: Line, slack: float) -> None:
        self.allowance, self.delta, self.slack = allowance, delta, slack
        self._laws: dict[Priced, ResidueLaw | str] = {}
        self._charges: dict[tuple[Priced, int], Charge | None] = {}

    def of(self, composition: Composition, left: int) -> Charge | None:
        """The cheaper of its releases one after another, and of all as one; None where neither has a price."""
        ways = [self._sequence(composition, left)]
        band = rung_below(left)
        if band is not None and _worth_it(composition):
            ways.append(self.charge(composition, band))
        return min((way for way in ways if way is not None), default=None)

    def why_not(self, composition: Composition) -> str:
        """Why some release has no price at all; empty where there is only too little left."""
        laws = [self._law(term.mechanism) for term in composition]
        return "; ".join(law for law in laws if isinstance(law, str))

    def alike(self, composition: Composition, left: int) -> int:
        """How many from here are surely priced by the same rung."""
        band, charge = rung_below(left), self.of(composition, left)
        if charge is None or not charge.residue:
            return MAX_COUNT
        if band is None or all_gaussian(composition):
            return MAX_COUNT
        room = left - RUNGS[band]
        if composition.count > 1 and (sequence := self._sequence(composition, left)) is not None:
            room -= sequence.residue  # its last release must be priced by that rung too
        return max(1, room // charge.residue + 1)

    def gaussian(self, composition: Composition) -> Charge | None:
        """Σμ², where every release is μ-GDP: valid at any allowance, and in any order."""
        ways = [self._gaussian(mechanism) for mechanism, _ in composition.terms]
        if any(way is None for way in ways):
            return None
        counts = [count for _, count in composition.terms]
        return Charge(sum(n * way.residue for n, way in zip(counts, ways, strict=True) if way is not None), 0)

    def knows_losses(self, composition: Composition) -> bool:
        """Whether each release's leak is that of its own losses, not of a promise beside another."""
        return all(not isinstance(known_losses(mechanism), str) for mechanism, _ in composition.terms)

    def _sequence(self, composition: Composition, left: int) -> Charge | None:
        """All its releases one after another."""
        spent = leaked = 0
        for mechanism, count in composition.terms:
            charge = self._run(mechanism, count, left - spent)
            if charge is None:
                return None
            spent, leaked = spent + charge.residue, leaked + charge.leak
        return Charge(spent, leaked)

    def _run(self, mechanism: Mechanism, count: int, left: int) -> Charge | None:
        """``count`` equal releases from an allowance of ``left`` units; where they do not fit, what they would ask."""
        spent = leaked = 0
        while count:
            now = left - spent
            band = rung_below(now)
            charge = self._gaussian(mechanism) if band is None else self.charge(mechanism, band)
            if charge is None:
                return None
            steps = count
            if band is not None and charge.residue:
                steps = min(count, (now - RUNGS[band]) // charge.residue + 1)
            if charge.residue * steps > now:
                return Charge(spent + count * charge.residue, leaked + count * charge.leak)
            spent, leaked, count = spent + steps * charge.residue, leaked + steps * charge.leak, count - steps
        return Charge(spent, leaked)

    def charge(self, what: Priced, band: int) -> Charge | None:
        """The smallest of what a certificate and what plain GDP asks at a rung."""
        key = (what, band)
        if key not in self._charges:
            if len(self._charges) > _MOST * len(RUNGS):
                self._charges.clear()
            ways = [way for way in (self._gaussian(what), self._certified(what, band)) if way is not None]
            self._charges[key] = min(ways) if ways else None
        return self._charges[key]

    def _gaussian(self, what: Priced) -> Charge | None:
        """A release that is μ-GDP costs μ², at any allowance."""
        if isinstance(what, Composition):
            return None  # the sum over its terms says the same
        try:
            return Charge(self.allowance.price(Fraction(what.promise(GDP).mu) ** 2), 0)
        except ConversionRefused:
            return None

    def _certified(self, what: Priced, band: int) -> Charge | None:
        if not isinstance(what, Composition) and what.name == "gaussian":
            return None
        law = self._law(what)
        if isinstance(law, str):
            return None
        # rounded down: a certificate at a smaller allowance serves a larger one
        allowance = float(RUNGS[band] * self.allowance.unit) * (1 - 2.0**-50)
        charge = smallest_charge(law, allowance, self.slack)
        if charge is None:
            return None
        return Charge(self.allowance.price(Fraction(charge)), self.delta.price(law.leak + Fraction(self.slack)))

    def _law(self, what: Priced) -> ResidueLaw | str:
        if what not in self._laws:
            if len(self._laws) > _MOST:
                self._laws.clear()
            with working():
                self._laws[what] = self._whole(what) if isinstance(what, Composition) else self._single(what)
        return self._laws[what]

    def _single(self, mechanism: Mechanism) -> ResidueLaw | str:
        """Its own losses, or the worst case of what it promises; leaks are set aside before."""
        try:
            return law_of_directions(mechanism.losses(), self.slack)
        except LossUnknown as unknown:
            reason = str(unknown)
        try:
            promise = mechanism.promise(ZCDP)
            law = law_of_promise(ZCDP(promise.rho).delta_at, self.slack)
            return ResidueLaw(law.sides, law.leak + Fraction(promise.delta))
        except (ConversionRefused, LossUnknown):
            pass
        try:
            return law_of_promise(mechanism.promise(Renyi).delta_at, self.slack)
        except (ConversionRefused, LossUnknown):
            return reason

    def _whole(self, composition: Composition) -> ResidueLaw | str:
        """A plan declared in advance, by the certified profile of the whole."""

        def deltas(epsilons: Any) -> list[Ball]:
            return [arb(float(upper)) for upper in profile(composition, epsilons).upper]

        try:
            return law_of_points(deltas, self.slack)
        except (BursarError, ArithmeticError) as problem:
            return str(problem)


def _worth_it(composition: Composition) -> bool:
    """Whether the whole may cost less than the sum of its parts: Gaussians add up exactly."""
    if composition.count == 1 or len(composition.terms) > _WHOLE:
        return False
    return not all_gaussian(composition)


def all_gaussian(composition: Composition) -> bool:
    """Whether its charge is the sum of its squares, at whatever allowance."""
    return all(mechanism.name == "gaussian" for mechanism, _ in composition.terms)


def rung_below(left: int) -> int | None:
    """The rung at or below an allowance."""
    return next((band for band, rung in enumerate(RUNGS) if rung <= left), None)
