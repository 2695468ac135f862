"""The engines as one: each direction is asked of the engine that suits its losses, and of another where that cannot
serve or stays wider than asked.

    single event   bounded losses at a δ below the chance that all of them are largest: two ends for nothing
    closed form    copies of one loss whose composed profile is known, or discrete Gaussians of a large σ
    hits           samples, also different ones, whose outcome says who took part
    contour        where noise is Gaussian: fewest moments, because they decay
    leaps          the same at the saddle point of an ε, where one large loss more pays about as much as it costs
    envelope       everything whose places can be listed: atoms, densities, and both together
    largest loss   where one tilt cannot serve small losses and rare large ones: the compositions by their largest loss
    close hits     samples again, with engines for every number of hits that may decide
    bands          where a few large losses decide among many small ones, and all of these stay wide
    lattice        what is left, and the cross-check; for samples `drawn` has a lower end where nobody else has one
    at least       where none of them has a lower end: by one release, by one of many copies, by δ(0)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module

from flint import arb

from bursar.losses.engines import closed, contour, dominant, envelope, lattice, simpler, top
from bursar.losses.engines.answer import EFFORTS, USUAL_WIDTH, Answer, Losses, NoEngine, Precision, both, worst
from bursar.losses.engines.asking import CLOSE, OPEN, Ask, Turn, is_smooth, order_of
from bursar.losses.engines.cheaper import STUMBLES, below, cheaper
from bursar.losses.engines.chernoff import delta_at_most
from bursar.losses.engines.tried import Tried
from bursar.numerics.balls import Ball, down

_HITS = "bursar.losses.engines.hit_mixes"  # these are loaded when they are asked, which is seldom
_HIT = "bursar.losses.engines.hits"
_LARGEST = "bursar.losses.engines.largest.solve"
_BANDS = "bursar.losses.engines.bands.solve"
_DRAWN = "bursar.losses.engines.drawn"
_BRACKET = "bursar.losses.engines.lattice.bracket"
_AT_LEAST = "bursar.losses.engines.at_least"
_FROM_BELOW = "at least"  # what an answer is called where no engine has an upper end
_FEW_MOMENTS = 1 << 14  # where the envelope engine asks for more, another one may need fewer
_PER_MOMENT = 4  # grid points are worth a moment


def usual_width(losses: Losses) -> float:
    """The relative width that is asked for unless another is: a millionth."""
    return USUAL_WIDTH


def epsilon_at(directions: Sequence[Losses], delta: Ball, precision: Precision) -> Answer:
    """The smallest ε ≥ 0 at which every direction's δ(ε) is at most δ."""
    if precision.engine is not None:
        return _by_directions(directions, delta, precision)
    if precision.tried is not None:  # a part of a question: nobody looks for its last resort
        found = _by_directions(directions, delta, precision)
        return _raised(found, max(dominant.alone(losses, delta) for losses in directions)) if _open(found) else found
    try:
        found = _by_directions(directions, delta, replace(precision, tried=Tried()))
    except NoEngine:
        found = Answer(0.0, math.inf, (), _FROM_BELOW, 1, 0.0)
        if not (raised := _raised(found, _at_least(directions, delta, precision))).lower > 0:
            raise
        return raised
    return _raised(found, _at_least(directions, delta, precision)) if _open(found) else found


def _open(found: Answer) -> bool:
    """Whether nothing is proved from below, though ε may be positive."""
    return found.lower == 0 < found.upper


def _raised(found: Answer, lower: float) -> Answer:
    """The answer with a lower end of somebody else's."""
    return both(found, replace(found, lower=lower, upper=math.inf))


def _by_directions(directions: Sequence[Losses], delta: Ball, precision: Precision) -> Answer:
    """The worst of the directions, those left out that cost less than the first."""
    answers: list[Answer] = []
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


def _at_least(directions: Sequence[Losses], delta: Ball, precision: Precision) -> float:
    """A lower end where the engines have none; 0 where nobody has one."""
    at_least = import_module(_AT_LEAST)
    lower: float = max(at_least.by_releases(losses, delta) for losses in directions)
    if not lower > 0:
        with suppress(NoEngine, *STUMBLES):
            lower = at_least.by_delta(delta_at(directions, arb(0), replace(precision, width=None)).lower, delta)
    return lower


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
        if precision.tried is not None and easier.width <= OPEN:
            precision.tried.narrow = True
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
    for way in (dominant.epsilon_at, Turn.FIRST, dominant.by_answers, Turn.LAST, dominant.one_by_one):
        if way is dominant.one_by_one and found is not None and found.width <= OPEN:
            break
        try:
            if isinstance(way, Turn):
                found = _by_engines(losses, delta, precision, way, found)
            elif (other := way(losses, delta, width, solve)) is not None:
                found = other if found is None else both(found, other)
        except NoEngine as limit:
            refused = limit
        except STUMBLES:
            continue
        if found is not None and found.width <= width:
            break
    if found is None:
        raise refused or NoEngine("no engine serves these")
    return found


def _by_engines(
    losses: Losses, delta: Ball, precision: Precision, turn: Turn = Turn.ALL, known: Answer | None = None
) -> Answer:
    """One direction's ε by the engines that suit all of its losses."""
    most = EFFORTS[precision.effort] // _PER_MOMENT
    return Ask(
        precision,
        {
            "single event": lambda losses, _: top.epsilon_at(losses, delta),
            "closed form": lambda losses, _: closed.epsilon_at(losses, delta),
            "hits": lambda losses, width: import_module(_HITS).epsilon_at(losses, delta, width),
            "contour": lambda losses, _: contour.epsilon_at(losses, delta),
            "plain contour": lambda losses, _: contour.by_all(losses, delta),
            "nothing": lambda losses, _: dominant.nothing(losses, delta),
            "leaps": lambda losses, _: contour.by_leaps(losses, delta),
            "few moments": lambda losses, width: envelope.narrow_epsilon_at(
                losses, delta, width, min(most, _FEW_MOMENTS)
            ),
            "largest loss": lambda losses, width: import_module(_LARGEST).epsilon_at(losses, delta, width, most),
            "rare losses": lambda losses, _: contour.by_rare(losses, delta),
            "envelope": lambda losses, width: envelope.epsilon_at(losses, delta, width, most),
            "close hits": lambda losses, width: import_module(_HIT).closer_epsilon_at(losses, delta, width),
            "bands": lambda losses, _: import_module(_BANDS).epsilon_at(losses, delta),
            "bracket": lambda losses, width: import_module(_BRACKET).between(losses, delta, width, most),
            "lattice": lambda losses, width: (
                None
                if precision.engine is None and lattice.long(losses, delta)
                else lattice.epsilon_at(losses, delta, width, EFFORTS[precision.effort])
            ),
            "drawn": lambda losses, _: import_module(_DRAWN).epsilon_at(losses, delta),
        },
        delta,
    )(losses, turn, known)


def delta_at(directions: Sequence[Losses], epsilon: Ball, precision: Precision) -> Answer:
    """The largest of the directions' δ(ε)."""
    most = EFFORTS[precision.effort] // _PER_MOMENT
    ask = Ask(
        precision,
        {
            "single event": lambda losses, _: None if is_smooth(losses) else top.delta_at(losses, epsilon),
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
    width, effort = precision.width or USUAL_WIDTH, EFFORTS[precision.effort]
    ways: dict[str, Callable[[list[float]], Sequence[Answer | None]]] = {
        "contour": lambda asked: list(contour.deltas_at(losses, asked)),
        "envelope": lambda asked: envelope.deltas_at(losses, asked, width, effort // _PER_MOMENT),
        "lattice": lambda asked: list(lattice.deltas_at(losses, asked, width, effort)),
    }
    found: dict[float, Answer] = {}
    if precision.engine is None and not is_smooth(losses):
        found = top.deltas_at(losses, epsilons, width)
    reasons = []
    for name in order_of(losses, precision, ways):
        # an answer this narrow is not worth another engine's time
        enough = max(width, CLOSE) if name == "lattice" and precision.effort != "high" else width
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
