"""The engines as one: each direction is asked of the engine that suits its losses, and of another where that cannot
serve or stays wider than asked.

    single event   bounded losses at a δ below the chance that all of them are largest: two ends for nothing
    closed form    copies of one loss whose composed profile is known, or discrete Gaussians of a large σ
    hits           samples, of Gaussians also different ones, whose outcome says who took part
    contour        where noise is Gaussian: fewest moments, because they decay
    envelope       everything whose places can be listed: atoms, densities, and both together
    largest loss   where one tilt cannot serve small losses and rare large ones: the compositions by their largest loss
    bands          where a few large losses decide among many small ones, and all of these stay wide
    lattice        what is left, and the cross-check; for samples `drawn` has a lower end where nobody else has one
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module

from bursar.losses.engines import closed, contour, dominant, envelope, lattice, simpler, top
from bursar.losses.engines.answer import EFFORTS, USUAL_WIDTH, Answer, Losses, NoEngine, Precision, both, worst
from bursar.losses.engines.cheaper import STUMBLES, below, cheaper
from bursar.losses.engines.chernoff import delta_at_most
from bursar.losses.engines.lattice.bracket import between
from bursar.losses.engines.tried import Tried
from bursar.numerics.balls import Ball, down

SETTLED = "settled"
"""In place of an engine's name: as ledgers have priced plans up to now. What they wrote must not move with every better
engine."""
_HITS = "bursar.losses.engines.hit_mixes"  # these are loaded when they are asked, which is seldom
_HIT = "bursar.losses.engines.hits"
_LARGEST = "bursar.losses.engines.largest.solve"
_BANDS = "bursar.losses.engines.bands.solve"
_DRAWN = "bursar.losses.engines.drawn"
_LATE = ("close hits", "bands")  # what takes long, and is asked where others leave much open
_MANY = 100
_SMOOTH = ("plain contour", "rare losses")  # ways of the contour engine, for losses that are smooth
_FEW_MOMENTS = 1 << 14  # where the envelope engine asks for more, another one may need fewer
_CLOSE = 1e-4  # an answer this narrow is not worth another engine's minutes, unless effort is asked for
_OPEN = 1e-3  # an answer wider than this is worth asking about each release by itself
_PER_MOMENT = 4  # grid points are worth a moment


def usual_width(losses: Losses) -> float:
    """The relative width that is asked for unless another is: a millionth."""
    return USUAL_WIDTH


def epsilon_at(directions: Sequence[Losses], delta: Ball, precision: Precision) -> Answer:
    """The smallest ε ≥ 0 at which every direction's δ(ε) is at most δ."""
    answers: list[Answer] = []
    precision = precision if precision.tried is not None else replace(precision, tried=Tried())
    for losses in directions:
        # Mostly the other direction is the cheaper one, which is easier to show than to solve.
        known = answers and precision.engine is None and answers[0].upper < math.inf
        if known and below(losses, answers[0], delta):
            continue
        summed = known and answers[0].engine == "contour"
        if summed and cheaper(losses, answers[0], delta):
            continue
        easier = None if precision.engine is not None else _easier(losses, delta, precision)
        if easier is not None:
            answers.append(easier)
        elif summed or not known or not cheaper(losses, answers[0], delta):
            answers.append(_one_way(losses, delta, precision))
    return worst(answers)


def _easier(losses: Losses, delta: Ball, precision: Precision) -> Answer | None:
    """One direction's ε where one engine is known to be the right one, or where the question is simpler than it looks;
    None elsewhere.
    """
    width = USUAL_WIDTH if precision.width is None else precision.width
    if contour.suits(losses, delta):
        with suppress(*STUMBLES):
            found = contour.on_main_road(losses, delta)
            if found.width <= width:
                return found
    easier = simpler.epsilon_at(losses, delta, precision, _alone)
    if easier is not None and easier.width > width:
        with suppress(NoEngine):
            easier = both(easier, _one_way(losses, delta, precision))
    return easier


def _alone(losses: Losses, delta: Ball, precision: Precision) -> Answer:
    return epsilon_at([losses], delta, precision)


def _one_way(losses: Losses, delta: Ball, precision: Precision) -> Answer:
    """One direction's ε: by the releases that matter where others cost next to nothing, else by all of them."""
    if precision.engine is not None or len(losses) == 1:
        return _by_engines(losses, delta, precision)

    def solve(some: Losses, part: Ball, narrow: float) -> Answer:
        try:
            return _by_engines(some, part, replace(precision, width=narrow))
        except NoEngine as limit:
            raise ArithmeticError(str(limit)) from limit

    width, found, refused = USUAL_WIDTH if precision.width is None else precision.width, None, None
    for way in (dominant.epsilon_at, None, dominant.by_answers, dominant.one_by_one):
        if way is dominant.one_by_one and found is not None and found.width <= _OPEN:
            break
        try:
            other = _by_engines(losses, delta, precision) if way is None else way(losses, delta, width, solve)
        except NoEngine as limit:
            refused = limit
        except STUMBLES:
            continue
        else:
            found = found if other is None else other if found is None else both(found, other)
        if found is not None and found.width <= width:
            break
    if found is None:
        raise refused or NoEngine("no engine serves these")
    return found


def _by_engines(losses: Losses, delta: Ball, precision: Precision) -> Answer:
    """One direction's ε by the engines that suit all of its losses."""
    most = EFFORTS[precision.effort] // _PER_MOMENT
    return _Ask(
        precision,
        {
            "single event": lambda losses, _: top.epsilon_at(losses, delta),
            "closed form": lambda losses, _: closed.epsilon_at(losses, delta),
            "hits": lambda losses, width: import_module(_HITS).epsilon_at(losses, delta, width),
            "contour": lambda losses, _: contour.epsilon_at(losses, delta),
            "plain contour": lambda losses, _: contour.by_all(losses, delta),
            "nothing": lambda losses, _: dominant.nothing(losses, delta),
            "few moments": lambda losses, width: envelope.narrow_epsilon_at(
                losses, delta, width, min(most, _FEW_MOMENTS)
            ),
            "largest loss": lambda losses, width: import_module(_LARGEST).epsilon_at(losses, delta, width, most),
            "rare losses": lambda losses, _: contour.by_rare(losses, delta),
            "envelope": lambda losses, width: envelope.epsilon_at(losses, delta, width, most),
            "close hits": lambda losses, width: import_module(_HIT).closer_epsilon_at(losses, delta, width),
            "bands": lambda losses, _: import_module(_BANDS).epsilon_at(losses, delta),
            "bracket": lambda losses, width: between(losses, delta, width, most),
            "lattice": lambda losses, width: (
                None
                if precision.engine is None and lattice.long(losses, delta)
                else lattice.epsilon_at(losses, delta, width, EFFORTS[precision.effort])
            ),
            "drawn": lambda losses, _: import_module(_DRAWN).epsilon_at(losses, delta),
        },
        delta,
    )(losses)


def delta_at(directions: Sequence[Losses], epsilon: Ball, precision: Precision) -> Answer:
    """The largest of the directions' δ(ε)."""
    most = EFFORTS[precision.effort] // _PER_MOMENT
    ask = _Ask(
        precision,
        {
            "single event": lambda losses, _: None if _smooth(losses) else top.delta_at(losses, epsilon),
            "hits": lambda losses, _: import_module(_HITS).delta_at(losses, epsilon),
            "contour": lambda losses, _: contour.delta_at(losses, epsilon),
            "envelope": lambda losses, width: envelope.delta_at(losses, epsilon, width, most),
            "lattice": lambda losses, width: lattice.delta_at(losses, epsilon, width, EFFORTS[precision.effort]),
        },
    )
    answers: list[Answer] = []
    for losses in directions:
        # a direction that costs next to nothing is easier to bound than to enclose
        if not (answers and precision.engine is None and delta_at_most(losses, down(epsilon)) <= answers[0].lower):
            answers.append(ask(losses))
    return worst(answers)


def deltas_at(losses: Losses, epsilons: Sequence[float], precision: Precision) -> list[Answer]:
    """One direction's δ at many ε's, by the engines in turn until all are narrow; `NoEngine` where one has none."""
    width, effort = precision.width or _width(losses, precision), EFFORTS[precision.effort]
    ways: dict[str, Callable[[list[float]], Sequence[Answer | None]]] = {
        "contour": lambda asked: list(contour.deltas_at(losses, asked)),
        "envelope": lambda asked: envelope.deltas_at(losses, asked, width, effort // _PER_MOMENT),
        "lattice": lambda asked: list(lattice.deltas_at(losses, asked, width, effort)),
    }
    found: dict[float, Answer] = {}
    if precision.engine is None and not _smooth(losses):
        found = top.deltas_at(losses, epsilons, width)
    reasons = []
    for name in _order(losses, precision, ways):
        # an answer this narrow is not worth another engine's time
        enough = max(width, _CLOSE) if name == "lattice" and precision.effort != "high" else width
        asked = [epsilon for epsilon in epsilons if not (epsilon in found and found[epsilon].width <= enough)]
        if not asked:
            break
        try:
            for epsilon, other in zip(asked, ways[name](asked), strict=True):
                if other is not None:
                    found[epsilon] = both(found[epsilon], other) if epsilon in found else other
        except STUMBLES as limit:
            reasons.append(f"the {name} engine: {limit}")
    if not all(epsilon in found for epsilon in epsilons):
        raise NoEngine("; ".join(reasons) or "no engine proves anything at some ε")
    return [found[epsilon] for epsilon in epsilons]


def _order(losses: Losses, precision: Precision, ways: Iterable[str]) -> list[str]:
    """Which engines to ask, in turn: the one that is forced, or those that suit the losses."""
    if precision.engine == SETTLED:
        return ["contour", "lattice"]
    if precision.engine is not None:
        return [precision.engine]
    smooth, ways = _smooth(losses), list(ways)
    left = {"contour"} if "plain contour" in ways or not smooth else set()
    return [name for name in ways if name not in left and (smooth or name not in _SMOOTH)]


def _width(losses: Losses, precision: Precision) -> float:
    """The width that is asked where none is given."""
    if precision.engine != SETTLED or _smooth(losses):
        return USUAL_WIDTH
    return 1e-3 if sum(loss.table() is not None for loss, _ in losses) > _MANY else 1e-4


def _smooth(losses: Losses) -> bool:
    """Whether some noise is Gaussian, so that moments decay and the contour engine is the quickest."""
    return any(loss.gaussian_noise() for loss, _ in losses)


@dataclass(frozen=True)
class _Ask:
    """The engines in turn, until what they prove together is narrow enough."""

    precision: Precision
    engines: dict[str, Callable[[Losses, float], Answer | None]]
    delta: Ball | None = None
    """The δ at which ε is asked."""

    def __call__(self, losses: Losses) -> Answer:
        width = USUAL_WIDTH if self.precision.width is None else self.precision.width
        reasons, found = [], None
        for name in _order(losses, self.precision, self.engines):
            if name == "lattice" and found is not None and found.width <= _CLOSE and self.precision.effort != "high":
                break
            if name in _LATE and (self.precision.effort == "low" or (found is not None and found.width <= _OPEN)):
                continue
            try:
                other = self._asked(name, losses, width)
            except STUMBLES as limit:
                reasons.append(f"the {name} engine: {limit}")
                continue
            if other is not None:
                found = other if found is None else both(found, other)
                if found.width <= width:
                    break
        if found is None:
            raise NoEngine("; ".join(reasons) or "no engine serves these")
        return found

    def _asked(self, name: str, losses: Losses, width: float) -> Answer | None:
        """What one engine answers, or what is left of its answer where it was asked in vain before."""
        tried, delta = self.precision.tried, self.delta
        if tried is None or delta is None:
            return self.engines[name](losses, width)
        before, left = tried.before(name, losses, delta)
        if before:
            return left
        found = None
        try:
            found = self.engines[name](losses, width)
        finally:
            tried.note(name, losses, delta, found)
        return found
