"""Finds what a tariff lacks: the promises of mechanisms, and certified charges at rungs. This takes time."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Any

from flint import arb

from bursar.composition import Composition
from bursar.errors import BursarError, ConversionRefused, LossUnknown
from bursar.guarantees import GDP, ZCDP, ApproxDP, Renyi
from bursar.identity import is_foreign, kinds_in
from bursar.jobs.curve_points import points
from bursar.ledger.budget.currencies._base import Line
from bursar.ledger.budget.currencies._residue_prices import RUNGS, Charge, Missing, Stated, Tariff, text_of
from bursar.ledger.budget.release import Release
from bursar.losses.engines.answer import Precision
from bursar.losses.engines.asking import SETTLED
from bursar.losses.residue import ResidueLaw, law_of_directions, law_of_points, law_of_promise, smallest_charge
from bursar.mechanisms import Gaussian
from bursar.mechanisms._base import Mechanism, known_losses
from bursar.numerics.balls import Ball, working
from bursar.written import Written

_MOST = 512
_LAWS: dict[tuple[str, float], ResidueLaw | str] = {}
"""By text and slack, for all scopes: the limit has no part in them. Only of bursar's own classes: another's may be
something else tomorrow.
"""


class Appraiser(Tariff):
    """A tariff that finds what it is asked for; ``slack`` is the δ that one certificate may take."""

    def __init__(self, known: Tariff, allowance: Line, epsilon: Line, delta: Line, slack: float) -> None:
        super().__init__()
        self.known, self.allowance, self.epsilon, self.delta, self.slack = known, allowance, epsilon, delta, slack
        self._laws = _LAWS
        self._own_laws: dict[tuple[str, float], ResidueLaw | str] = {}

    def stated(self, release: Release, term: int) -> Stated:
        """What a term promises by itself, found once for each text."""
        text = text_of(release, term)
        found = self.known.mechanisms.get(text)
        if found is None:
            fresh = Tariff()
            found = fresh.mechanisms[text] = self._stated(release.mechanisms[term])
            self.known.learn(fresh)
        return found

    def reason(self, release: Release, term: int) -> str:
        """Why a term has no such promise, found once for each text."""
        text = text_of(release, term)
        found = self.known.reasons.get(text)
        if found is None:
            fresh, law = Tariff(), self.law(release.mechanisms[term])
            found = fresh.reasons[text] = law if isinstance(law, str) else ""
            self.known.learn(fresh)
        return found

    def charge(self, release: Release, term: int | None, band: int) -> Charge | None:
        """The smallest of what a certificate and what plain GDP asks at a rung."""
        key = (text_of(release, term), band)
        with suppress(Missing):
            return self.known.charge(release, term, band)
        squares = None if term is None else self.stated(release, term).squares  # the sum over its terms says the same
        what = release.composition if term is None else release.mechanisms[term]
        ways = [None if squares is None else Charge(squares, 0), self.certified(what, band)]
        fresh = Tariff()
        found = fresh.charges[key] = min((way for way in ways if way is not None), default=None)
        self.known.learn(fresh)
        return found

    def certified(self, what: Mechanism | Composition, band: int) -> Charge | None:
        """What a certificate asks at a rung; None where there is none, or none is needed."""
        if type(what) is Gaussian:
            return None
        law = self.law(what)
        if isinstance(law, str):
            return None
        # rounded down: a certificate at a smaller allowance serves a larger one
        allowance = float(RUNGS[band] * self.allowance.unit) * (1 - 2.0**-50)
        charge = smallest_charge(law, allowance, self.slack)
        if charge is None:
            return None
        return Charge(self.allowance.price(Fraction(charge)), self.delta.price(law.leak + Fraction(self.slack)))

    def law(self, what: Mechanism | Composition) -> ResidueLaw | str:
        """The loss that a certificate is about, or why none is known."""
        kept = self._own_laws if any(map(_foreign, kinds_in(what))) else self._laws
        key = (what.text(), self.slack)
        found = kept.get(key)
        if found is None:
            with working():
                found = self._whole(what) if isinstance(what, Composition) else self._single(what)
            if len(kept) > _MOST:
                kept.clear()
            kept[key] = found  # which another thread may clear at once
        return found

    def _stated(self, mechanism: Mechanism) -> Stated:
        try:
            squares = self.allowance.price(Fraction(mechanism.promise(GDP).mu) ** 2)
        except ConversionRefused:
            squares = None
        plain: tuple[int, int] | str
        try:
            promise = mechanism.promise(ApproxDP)
            plain = (self.epsilon.price(Fraction(promise.epsilon)), self.delta.price(Fraction(promise.delta)))
        except ConversionRefused as refusal:
            plain = str(refusal)
        knows = not isinstance(known_losses(mechanism), str)
        return Stated(type(mechanism) is Gaussian, squares, plain, knows)

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
            found = points(composition, epsilons, Precision(engine=SETTLED))
            return [arb(max(ends)) for ends in zip(*(band.upper.tolist() for band in found.directions), strict=True)]

        try:
            return law_of_points(deltas, self.slack)
        except (BursarError, ArithmeticError) as problem:
            return str(problem)


def _foreign(kind: type) -> bool:
    """Whether its text may mean something else one day."""
    return issubclass(kind, Written) and is_foreign(kind)
