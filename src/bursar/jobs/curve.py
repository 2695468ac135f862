"""The whole curve of a composition: δ as a function of ε, the trade-off function, and what an attacker can make of it.

Each direction of the neighbour relation has its own curve δ(ε), ε ≥ 0; together they give the least false-negative rate
of every test between the two neighbours at each false-positive rate (the trade-off function of f-DP): see
`bursar.jobs.trade_off`. Finitely many ε's enclose it, and a reading that is wider than asked looks at further ε's where
they help most, until it is narrow or the bounds of δ themselves are the limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from bursar.composition import Composition
from bursar.errors import InputError, understood
from bursar.jobs.account import account, ask
from bursar.jobs.curve_places import places
from bursar.jobs.curve_points import Band, bounds, points
from bursar.jobs.spec import Releases, releases
from bursar.jobs.trade_off import Reading, joined
from bursar.losses.engines.answer import Precision
from bursar.mechanisms import REPLACE_ONE
from bursar.numerics.arrays import Array
from bursar.numerics.balls import ball, down, up, working
from bursar.numerics.interval import Interval
from bursar.numerics.real import Number, Real
from bursar.numerics.shown import shown
from bursar.numerics.trusted import UNIT
from bursar.numerics.validate import listed, probability, real
from bursar.presented import Bare, Table, Tabled
from bursar.theorems import Bound

WIDTH = 1e-4
"""How narrow a reading is, in absolute terms, unless another width is asked."""
_MOST_FURTHER = 512  # ε's that one reading may add
_TURNS, _IDLE = (
    40,
    3,
)  # rounds of adding some; of these, where the bounds of δ are the limit and only narrower ones help
_FINER = 0.25  # of the width asked: how narrow δ itself is wanted at further ε's
_SMALLEST = Fraction(1, 10**300)


@dataclass(frozen=True, repr=False)
class Curve(Tabled):
    """δ at each of several ε's, in each direction, as bounds.

    Readings have a ``width``, in absolute terms: where these ε's leave more room they evaluate δ at further ones, which
    they forget; `refined` keeps them, as a curve of its own.
    """

    composition: Composition
    epsilons: Array
    directions: tuple[Band, ...]
    """A record removed, and added where that differs."""
    leaks: tuple[float, ...]
    """Lower bounds of δ at every ε, by direction."""
    precision: Precision

    @property
    def lower(self) -> Array:
        """Lower ends of δ, the worse direction's."""
        return np.asarray(np.max([band.lower for band in self.directions], axis=0))

    @property
    def upper(self) -> Array:
        """Upper ends of δ, the worse direction's."""
        return np.asarray(np.max([band.upper for band in self.directions], axis=0))

    def _facts(self) -> list[tuple[str, object]]:
        size, first, last = len(self.epsilons), float(self.epsilons[0]), float(self.epsilons[-1])
        return [
            ("composition", self.composition.text()),
            ("epsilons", Bare(f"{size} from {first:.6g} to {last:.6g}")),
            ("delta", Bare(" to ".join(shown(float(self.upper[end]), up=True) for end in (0, -1)))),
        ]

    def _table(self) -> Table:
        above = (f"δ as a function of ε: {self.composition.text()}", f"relation {self.composition.relation}")
        return bounds(above, ("ε", "δ ≥", "δ ≤"), self.epsilons, Band(self.lower, self.upper))

    def trade_off(self, false_positive_rate: float | Sequence[float], *, width: float = WIDTH) -> Interval | Band:
        """The least false-negative rate of any test at this false-positive rate, in the worse direction (whichever of
        the neighbours it takes for positive): f(a) of f-DP.
        """
        _, lower, upper = self._narrowed(_rates(false_positive_rate), _width(width))
        return _given(false_positive_rate, lower, upper)

    def true_positive_rate(
        self, false_positive_rate: float | Sequence[float], *, width: float = WIDTH
    ) -> Interval | Band:
        """The largest true-positive rate of any attacker at this false-positive rate: 1 − f(a)."""
        band = self.trade_off(false_positive_rate, width=width)
        lower = np.maximum(np.nextafter(1 - np.atleast_1d(band.upper), 0), 0.0)
        upper = np.minimum(np.nextafter(1 - np.atleast_1d(band.lower), 2), 1.0)
        return _given(false_positive_rate, lower, upper)

    def advantage(self, *, width: float = WIDTH) -> Interval:
        """The largest true-positive minus false-positive rate: δ(0), the total variation distance."""
        found = self._account(0.0, _width(width))
        return Interval(found.lower, found.upper)

    def bayes_risk(self, prior: Number, *, width: float = WIDTH) -> Interval:
        """The least error probability of an attacker who holds the record's presence for ``prior`` likely.

        Let P be the output's law with the record, Q without it. Whoever answers "present" on an event S errs with
        probability π·P(not S) + (1 − π)·Q(S) = π − [π·P(S) − (1 − π)·Q(S)], and the best S has

            risk = π·(1 − sup over S of P(S) − ((1 − π)/π)·Q(S)) = π·(1 − δ_{P‖Q}(ln((1 − π)/π))),

        which is a profile at ε ≥ 0 for π ≤ ½: that of removing the record. For π > ½ the same with absence for presence
        gives (1 − π)·(1 − δ_{Q‖P}(ln(π/(1 − π)))): that of adding it. Under add_remove presence and absence are not
        exchangeable, so each prior has this one direction. Under replace_one the two hypotheses are two records that
        may have stood in the same place, either order is a pair of neighbours, and the worse one counts.
        """
        p = probability(prior=prior)
        if not 0 < p.low <= p.high < 1:
            raise InputError("prior must be above 0 and below 1", argument="prior")
        asked = _width(width)
        # the rarer hypothesis: presence, which removing tells, or absence, which adding tells
        direction, small = (0, p) if p <= Fraction(1, 2) else (-1, Real(1 - Fraction(p), 1 - p.high, 1 - p.low))
        with working():
            share = ball(small)
            odds = ((1 - share) / share).log()
            ends = max(down(odds), 0.0), max(up(odds), 0.0)
        most, least = self._delta(direction, ends[0], asked).upper, self._delta(direction, ends[1], asked).lower
        with working():
            lower, upper = down(share * (1 - ball(most))), up(share * (1 - ball(least)))
        return Interval(max(lower, 0.0), upper)

    def refined(self, false_positive_rate: float | Sequence[float], *, width: float = WIDTH) -> Curve:
        """The same curve with the further ε's that a reading at these rates takes."""
        return self._narrowed(_rates(false_positive_rate), _width(width))[0]

    def _delta(self, direction: int, epsilon: float, width: float) -> Interval:
        """δ at one ε: of one direction under add_remove (the first or the last), of the worse one under replace_one."""
        found = points(self.composition, [epsilon], self._finer(width))
        either = self.composition.relation == REPLACE_ONE
        bands = found.directions if either else (found.directions[direction],)
        lower, upper = max(float(band.lower[0]) for band in bands), max(float(band.upper[0]) for band in bands)
        if upper - lower > width:
            # all theorems together may know more; their lower end speaks of the worse direction
            bound = self._account(epsilon, width)
            lower, upper = max(lower, bound.lower if either or found.alike else 0.0), min(upper, bound.upper)
        return Interval(min(lower, upper), upper)

    def _account(self, epsilon: float, width: float) -> Bound:
        finer = self._finer(width)
        return account(self.composition, epsilon=epsilon, width=finer.width, effort=finer.effort).delta

    def _narrowed(self, rates: Array, width: float) -> tuple[Curve, Array, Array]:
        """Bounds of f at each rate no wider than asked, or as narrow as δ allows, and the curve they are read from."""
        curve, further, idle = self, 0, 0
        lower, upper = np.zeros(len(rates)), np.where((rates > 0) & (rates < 1), 1 - rates + 2 * UNIT, 1 - rates)
        for _ in range(_TURNS):
            found = curve._readings(rates)
            lower = np.maximum(lower, [reading.lower for reading in found])
            upper = np.maximum(np.minimum(upper, [reading.upper for reading in found]), lower)
            wide = np.flatnonzero(upper - lower > width)
            # were δ known exactly at these ε's, would more of them help?
            sharp = curve._readings(rates[wide], exact=True) if len(wide) else []
            places = {abs(reading.where) for reading in sharp if reading.upper - reading.lower > width}
            if not places:
                idle, places = idle + 1, {abs(found[i].where) for i in wide}
            places -= set(curve.epsilons.tolist())
            if not places or idle > _IDLE or further + len(places) > _MOST_FURTHER:
                break
            further += len(places)
            curve = curve._with(places, self._finer(width))
        return curve, np.minimum(lower, upper), upper

    def _readings(self, rates: Array, *, exact: bool = False) -> list[Reading]:
        """One for each rate, by these ε's: of both orders of the pair the one with the smaller false-negative rate. If
        ``exact``, as if δ were its upper end.
        """
        orders = [(0, -1)] if len(self.directions) == 1 else [(0, 1), (1, 0)]
        ends = [(band.upper if exact else band.lower, band.upper) for band in self.directions]
        pairs = [joined(self.epsilons, ends[i], ends[j], (self.leaks[i], self.leaks[j])) for i, j in orders]
        found = []
        for rate in rates.tolist():
            each = [pair.read(rate) for pair in pairs]
            least = min(each, key=lambda reading: reading.lower)
            found.append(Reading(least.lower, min(reading.upper for reading in each), least.where))
        return found

    def _with(self, further: Iterable[float], precision: Precision) -> Curve:
        """The curve with more ε's."""
        new = sorted(further)
        found = points(self.composition, new, precision)
        places = np.concatenate([self.epsilons, new])
        order = np.argsort(places)
        directions = tuple(
            Band(np.concatenate([a.lower, b.lower])[order], np.concatenate([a.upper, b.upper])[order])
            for a, b in zip(self.directions, found.directions, strict=True)
        )
        return replace(self, epsilons=places[order], directions=directions)

    def _finer(self, width: float) -> Precision:
        return replace(self.precision, width=min(self.precision.width or WIDTH, max(_FINER * width, 2.0**-40)))


@understood
def profile(
    composition: Releases,
    epsilons: Sequence[float] | None = None,
    *,
    width: float | None = None,
    effort: str = "normal",
) -> Curve:
    """δ as a function of ε, at the ε's given or, by default, at 129 of them from 0 to where δ exceeds what leaks by
    less than 1e-12. The releases may be given as their text form.
    """
    what = releases(composition)
    precision = ask(delta=1e-6, epsilon=None, width=width, effort=effort).precision
    grid = places(what, epsilons)
    found = points(what, grid.tolist(), precision)
    return Curve(what, grid, found.directions, found.leaks, precision)


def _rates(given: object) -> Array:
    values = [given] if isinstance(given, (int, float, str)) else listed(false_positive_rate=given)
    rates = [probability(false_positive_rate=value) for value in values]
    if any(0 < rate < _SMALLEST for rate in rates):
        raise InputError("false_positive_rate must be 0 or at least 1e-300", argument="false_positive_rate")
    return np.array([float(rate) for rate in rates])


def _width(width: float) -> float:
    return float(real(width=width, at_least=Fraction(1, 2**40), at_most=1))


def _given(asked: object, lower: Array, upper: Array) -> Interval | Band:
    """One number for one, several for several."""
    if isinstance(asked, (int, float, str)):
        return Interval(float(lower[0]), float(upper[0]))
    return Band(lower, upper)
