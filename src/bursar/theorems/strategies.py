"""What strategies reach: a bound from below where not every release attains the pair that bounds it from above.

Statement: if some releases of a composition can be made to have certain pairs of output distributions on one and the
    same pair of neighbours, whatever came before, then δ(ε) of the whole is at least E[(1 − e^{ε−L})₊] for L the sum of
    these pairs' losses, in the worse direction; whoever asks may choose the pairs as answers come in.
Hypotheses: some release attains its pair, or a lesser one (samples of fixed size), or one of the pairs with the losses
    t and t − η (η-bounded range: the exponential mechanism with two candidates). Nothing is asked of the others:
    forgetting their outputs is post-processing. At δ = 0 the largest losses add up.
Source: Dong, Durfee and Rogers 2020 for the pairs of the exponential mechanism and the best single t;
    proofs/strategies.md for the strategies and the numbers.
Code/paper: up to 24 releases of one range are played to the best adaptive strategy on a grid
    (`bursar.losses.engines.adaptive`); else every bounded range gets the t with the largest moment at one tilt, and the
    numerical engines compose these pairs with those that are attained.
Rounding: a strategy's δ is rounded down, and an ε counts only if that δ certainly exceeds the one asked.
Checked: enumeration of all answers for up to six releases, the published optimum for one t, golden values of the best
    adaptive strategies; never above what is proved from above, over random compositions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import arb

from bursar.composition import Composition
from bursar.losses import Directions, Loss
from bursar.losses.engines import adaptive
from bursar.losses.engines import meet as engines
from bursar.losses.engines.answer import Answer, Losses, NoEngine
from bursar.mechanisms._base import known_losses
from bursar.numerics.balls import Ball, ball, down
from bursar.numerics.real import Real
from bursar.numerics.search import minimiser
from bursar.theorems._base import Abstain, Adaptivity, Bound, ForEpsilon, Question, Theorem, never
from bursar.theorems.numerical import unrolled

Pairs = Sequence[tuple[Directions, int]]
_MIDDLE = 0.5
_LIKELY = Fraction(1, 10**15)
_USUAL = ForEpsilon(Real(Fraction(1, 1000)))
_TILTS = (-12.0, 60.0)  # logarithms
_EDGE = 2.0**-40  # of the range: no t is closer to its ends


def answer(composition: Composition, question: Question) -> Bound | Abstain:
    """The best of the strategies that are tried."""
    known = [(known_losses(mechanism), count) for mechanism, count in composition.terms]
    if all(not isinstance(pair, str) and pair.attained for pair, _ in known):
        return Abstain("every release attains its own pair, of which `numerical` speaks")
    told = [(pair, count) for pair, count in known if not isinstance(pair, str)]
    if composition.count == 1 and told and _read_alone(told[0][0], question):
        return Abstain("one release, of which `single` reads what some data attain")
    ways = max((len(pair.least) for pair, _ in told), default=0)
    found = [_reached(_chosen(told, way), question) for way in range(max(ways, 1))]
    bounds = [bound for bound in found if isinstance(bound, Bound)]
    if not bounds:
        return found[0]
    best = max(bounds, key=lambda bound: bound.lower)
    dropped = len(known) - len(_chosen(told, 0))
    return Bound(best.lower, best.upper, best.because + _without(dropped))


def _read_alone(pair: Directions, question: Question) -> bool:
    """Whether the profiles of what one release attains say as much, in less time, at a δ that is not tiny."""
    likely = not isinstance(question, ForEpsilon) or question.delta.low >= _LIKELY
    return likely and bool(pair.least) and pair.remove.copies()[1] == 1


def _chosen(told: Pairs, way: int) -> Pairs:
    """What each release is played as: its own pair, one that it attains instead, or a strategy."""
    reached = [
        (pair if pair.attained or not pair.least else pair.least[min(way, len(pair.least) - 1)], count)
        for pair, count in told
    ]
    return [(pair, count) for pair, count in reached if _played(pair)]


def _reached(pairs: Pairs, question: Question) -> Bound | Abstain:
    if not pairs:
        return Abstain("no release is known to attain a pair of output distributions")
    most = math.inf if isinstance(question, ForEpsilon) else 1.0
    if isinstance(question, ForEpsilon) and question.delta.high == 0:
        return Bound(max(down(_largest(pairs)), 0.0), most, "the largest losses of what is attained add up")
    if (game := _game(pairs)) is not None:
        if isinstance(question, ForEpsilon):
            lower = adaptive.epsilon_below(*game, ball(question.delta))
        else:
            lower = adaptive.delta_below(*game, ball(question.epsilon))
        found = [(lower, "utilities chosen as answers come in, by the best strategy on a grid, reach it")]
    else:
        found = []
    found += _fixed(pairs, question)
    if not found:
        return Abstain("no engine composes the pairs that are attained")
    lower, because = max(found)
    return Bound(min(lower, most), most, because)


def _played(pair: Directions) -> bool:
    return pair.attained or (pair.remove.strategy(_MIDDLE) is not None and pair.add.strategy(_MIDDLE) is not None)


def _without(dropped: int) -> str:
    return f"; {dropped} kinds of release whose losses are unknown are left out" if dropped else ""


def _game(pairs: Pairs) -> tuple[Ball, int] | None:
    """The range and the number of releases, where there is one range and few enough of them."""
    ranges = [(pair.remove, count) for pair, count in pairs]
    laws = [eta for law, _ in ranges if (eta := law.bounded_range()) is not None]
    count = sum(count for _, count in ranges)
    if len(laws) < len(ranges) or count > adaptive.MOST:
        return None
    same = all((eta.mid(), eta.rad()) == (laws[0].mid(), laws[0].rad()) for eta in laws)
    return (laws[0], count) if same else None


def _fixed(pairs: Pairs, question: Question) -> list[tuple[float, str]]:
    """One t for all releases of a range, at the tilt that counts."""
    found: list[tuple[float, str]] = []
    tilt, alone = _tilt(pairs, question), all(pair.remove.bounded_range() is not None for pair, _ in pairs)
    for _ in range(1 if alone else 2):
        directions = at_tilt(pairs, tilt)
        try:
            reached = _composed(directions, question) if all(directions) else None
        except NoEngine:
            reached = None
        if reached is None:
            break
        found.append((reached.lower, f"what is fixed in advance reaches it, by the {reached.engine} engine"))
        if reached.tilt == tilt or all(pair.attained for pair, _ in pairs):
            break
        tilt = reached.tilt or tilt or _steep(pairs, question)
    return found


def _steep(pairs: Pairs, question: Question) -> float:
    """A tilt for single events that decide: the highest losses together shall be about twice as likely as δ."""
    if not isinstance(question, ForEpsilon):
        return 0.0
    return math.exp(-float((2 * ball(question.delta)).log()) / sum(count for _, count in pairs))


def common(pairs: Pairs) -> list[Losses]:
    """One strategy for every ε, by direction as `numerical.composed` lists them: what is read off a whole curve speaks
    of one pair. Where nothing is attained a direction is empty.
    """
    played = _chosen(pairs, 0)
    return at_tilt(played, _tilt(played, _USUAL))


def _composed(directions: list[Losses], question: Question) -> Answer:
    if isinstance(question, ForEpsilon):
        return engines.epsilon_at(directions, ball(question.delta), question.precision)
    return engines.delta_at(directions, ball(question.epsilon), question.precision)


def _tilt(pairs: Pairs, question: Question) -> float:
    """The tilt of the least Chernoff bound, in floats, as far as moments are quickly told; 0 where none is."""
    log_delta = float(ball(question.delta).log()) if isinstance(question, ForEpsilon) else 0.0
    told = [(way, count) for pair, count in pairs if (way := _rough(pair)) is not None]
    if all(pair.attained for pair, _ in pairs) or not told:
        return 0.0

    def price(log_tilt: float) -> float:
        tilt = math.exp(log_tilt)
        height = sum(count * way(tilt) for way, count in told) - math.log1p(tilt) - tilt * math.log1p(1 / tilt)
        if isinstance(question, ForEpsilon):
            return (height - log_delta) / tilt
        return height - tilt * float(question.epsilon)

    try:
        return math.exp(minimiser(price, _TILTS[0], _TILTS[1], points=48, steps=20))
    except (ArithmeticError, ValueError):  # floats only choose
        return 0.0


def _rough(pair: Directions) -> Callable[[float], float] | None:
    """ln E[e^{τL}] of one release in floats, at the best pair, where no integral is needed."""
    loss = pair.remove
    if (eta := loss.bounded_range()) is not None:
        length = float(eta)
        return lambda tilt: adaptive.largest_moment(length, tilt)
    return loss.rough_cumulant if type(loss).rough_cumulant is not Loss.rough_cumulant else None


def at_tilt(pairs: Pairs, tilt: float) -> list[Losses]:
    """Both directions of what is attained, each bounded range with the pair that has the largest moment at the tilt;
    with that of the middle where the tilt is 0.
    """

    def chosen(loss: Loss, attained: bool) -> Loss | None:
        if attained:
            return loss
        share = _MIDDLE
        if tilt > 0:
            length = float(loss.support()[1])
            share = min(max(adaptive.best_top(length, tilt) / length, _EDGE), 1 - _EDGE)
        return loss.strategy(share)

    ways = [[(chosen(pair.remove, pair.attained), count) for pair, count in pairs]]
    if not all(pair.same for pair, _ in pairs):
        ways.append([(chosen(pair.add, pair.attained), count) for pair, count in pairs])
    # a law that only dominates must not stand in for a pair that nobody attains: it is left out
    return [[unrolled(loss, count) for loss, count in way if loss is not None] for way in ways]


def _largest(pairs: Pairs) -> Ball:
    """No smaller ε holds at δ = 0: a loss up to the sum of the largest ones has positive probability."""
    removed = sum((count * pair.remove.support()[1] for pair, count in pairs), arb(0))
    added = sum((count * pair.add.support()[1] for pair, count in pairs), arb(0))
    return removed.max(added)


THEOREM = Theorem(
    id="strategies",
    title="what attained strategies reach",
    citations=("DDR20",),
    adaptivity=Adaptivity.FIXED,
    answer=answer,
    dear=never,
)
