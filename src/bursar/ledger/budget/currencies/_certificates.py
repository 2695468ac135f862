"""Finds what a table of costs lacks: the promises of mechanisms, and certified charges at levels. This takes time."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bursar.composition import Composition
from bursar.errors import BursarError, ConversionRefused, LossUnknown
from bursar.guarantees import GDP, ZCDP, ApproxDP, Renyi
from bursar.identity import is_foreign, kinds_in
from bursar.ledger.budget.currencies._base import Line
from bursar.ledger.budget.currencies._residue_costs import LEVELS, Charge, Costs, Key, Term, text_of
from bursar.ledger.budget.release import Release
from bursar.ledger.journal.body import Basis
from bursar.losses.residue import (
    VERSION,
    Points,
    ResidueLaw,
    certified,
    law_of_directions,
    law_of_points,
    law_of_promise,
    places_of,
    reach_from,
    smallest_charge,
)
from bursar.mechanisms import Gaussian
from bursar.mechanisms._base import Mechanism, known_losses
from bursar.numerics.balls import working
from bursar.written import Written

_MOST = 512
_CLOSELY, _ROUGHLY = 1e-4, 0.1  # of a δ
_LAWS: dict[tuple[str, float], tuple[ResidueLaw | str, Basis | None]] = {}
"""By text and slack, for all scopes: the limit has no part in them. Only of bursar's own classes: another's may be
something else tomorrow.
"""

Compose = Callable[[Composition, float], Points]
"""The points of a composed release's profile, up to a cut."""


def by_engines(composition: Composition, cut: float) -> Points:
    """As the engines find them."""
    from bursar.jobs.account import account
    from bursar.jobs.curve_points import points  # which needs all of them
    from bursar.losses.engines.answer import Precision

    reach = reach_from(account(composition, delta=cut).epsilon.upper)
    # Tables take long to be read more closely. At the last place δ has fallen below the cut; how far matters little.
    gaussian = any(_has_gaussian_noise(term.mechanism) for term in composition.terms)
    closely = Precision() if gaussian else Precision(width=_CLOSELY)
    *near, before, last = places_of(reach)
    most: list[float] = []
    for places, precision in (([*near, before], closely), ([before, last], Precision(width=_ROUGHLY))):
        found = points(composition, places, precision)
        most += (max(ends) for ends in zip(*(band.upper.tolist() for band in found.directions), strict=True))
    return Points(reach, (*most[:-2], most[-1]))


class Finder(Costs):
    """A table of costs that finds what it is asked for; ``slack`` is the δ that one certificate may take."""

    def __init__(self, known: Costs, allowance: Line, epsilon: Line, delta: Line, slack: float) -> None:
        super().__init__()
        self.table = known.table
        self.allowance, self.epsilon, self.delta, self.slack = allowance, epsilon, delta, slack
        self.compose: Compose = by_engines
        self._learn = known.learn
        self._laws: dict[tuple[str, float], tuple[ResidueLaw | str, Basis | None]] = {}

    def get(self, kind: str, release: Release, term: int | None, level: int = 0) -> Any:
        """An entry of the table, found now if it is not there."""
        key: Key = (kind, text_of(release, term), level)
        try:
            return self.table[key]
        except KeyError:
            found = self._find(kind, release, term, level)
        self._learn({key: found})
        return found

    def _find(self, kind: str, release: Release, term: int | None, level: int) -> Any:
        what = release.composition if term is None else release.mechanisms[term]
        if kind == "term":
            assert isinstance(what, Mechanism)
            return self._said(what)
        if kind == "basis":
            return self._law(what)[1]
        if kind == "why":
            law = self._law(what)[0]
            return law if isinstance(law, str) else ""
        squares = (
            None if term is None else self.get("term", release, term).squares
        )  # of the whole, its sequence says it
        ways = [None if squares is None else Charge(squares, 0, False), self.charge(what, level)]
        self.get("basis", release, term)
        return min((way for way in ways if way is not None), default=None)

    def charge(self, what: Mechanism | Composition, level: int) -> Charge | None:
        """What a certificate asks at a level; None where there is none, or none is needed."""
        if type(what) is Gaussian:
            return None
        law = self._law(what)[0]
        if isinstance(law, str):
            return None
        charge = smallest_charge(law, self.allowance_at(level), self.slack)
        if charge is None:
            return None
        return Charge(self.allowance.price(Fraction(charge)), self.delta.price(law.leak), True)

    def proves(self, what: Mechanism | Composition, level: int | None, units: int) -> bool:
        """Whether a charge of so many units suffices at a level."""
        law = self._law(what)[0]
        if level is None or isinstance(law, str):
            return False
        charge = float(units * self.allowance.unit) * (1 - 2.0**-50)
        return certified(law, self.allowance_at(level), charge, self.slack)

    def allowance_at(self, level: int) -> float:
        """B² at a level, rounded down: a certificate at a smaller allowance serves a larger one."""
        return float(LEVELS[level] * self.allowance.unit) * (1 - 2.0**-50)

    def _law(self, what: Mechanism | Composition) -> tuple[ResidueLaw | str, Basis | None]:
        kept = self._laws if self.compose is not by_engines or any(map(_foreign, kinds_in(what))) else _LAWS
        key = (what.text(), self.slack)
        found = kept.get(key)
        if found is None:
            with working():
                found = self._found(what)
            if len(kept) > _MOST:
                kept.clear()
            kept[key] = found  # which another thread may clear at once
        return found

    def _found(self, what: Mechanism | Composition) -> tuple[ResidueLaw | str, Basis | None]:
        if isinstance(what, Mechanism) and not _composed(what):
            return self._single(what), None
        whole = what if isinstance(what, Composition) else Composition([(what, 1)])
        try:
            points = self.compose(whole, self.slack)
            return law_of_points(points), basis_of(whole.text(), self.slack, points)
        except (BursarError, ArithmeticError) as problem:
            return str(problem), None

    def _said(self, mechanism: Mechanism) -> Term:
        try:
            squares = self.allowance.price(Fraction(mechanism.promise(GDP).mu) ** 2)
        except ConversionRefused:
            squares = None
        pure: tuple[int, int] | str
        try:
            promise = mechanism.promise(ApproxDP)
            pure = (self.epsilon.price(Fraction(promise.epsilon)), self.delta.price(Fraction(promise.delta)))
        except ConversionRefused as refusal:
            pure = str(refusal)
        knows = not isinstance(known_losses(mechanism), str)
        return Term(type(mechanism) is Gaussian, squares, pure, knows)

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


def basis_of(what: str, slack: float, points: Points) -> Basis:
    """Points as the journal has them."""
    return Basis(what, repr(slack), VERSION, " ".join(map(repr, (points.reach, *points.deltas))))


def points_in(basis: Basis) -> Points:
    """Points that the journal has; `ValueError` where it has something else."""
    reach, *deltas = map(float, basis.numbers.split())
    return Points(reach, tuple(deltas))


def from_bases(bases: tuple[Basis, ...], composition: Composition, cut: float) -> Points:
    """The points of a composed profile that a journal has; `LossUnknown` where it has none, or damaged ones."""
    text = composition.text()
    for basis in bases:
        if (basis.what, basis.at) == (text, repr(cut)):
            try:
                return points_in(basis)
            except ValueError as problem:
                raise LossUnknown(f"the points of its profile are damaged: {problem}") from problem
    raise LossUnknown(f"its entry does not say on which profile the price of {text[:60]} rests")


def _composed(mechanism: Mechanism) -> bool:
    """Whether its profile is that of many losses, which only engines find."""
    losses = known_losses(mechanism)
    return not isinstance(losses, str) and losses.remove.copies()[1] > 1


def _has_gaussian_noise(mechanism: Mechanism) -> bool:
    """Whether engines read its profile closely in little time."""
    losses = known_losses(mechanism)
    return not isinstance(losses, str) and losses.remove.gaussian_noise()


def _foreign(kind: type) -> bool:
    """Whether its text may mean something else one day."""
    return issubclass(kind, Written) and is_foreign(kind)
