"""What strategies reach, from below: never above the truth, and as much as is known of them."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import mpmath
import pytest
from flint import arb
from mpmath import mpf

import bursar as b
from bursar.jobs.account import ask
from bursar.losses import Directions, symmetric
from bursar.losses.engines import meet
from bursar.losses.engines.answer import USUAL
from bursar.mechanisms import Mechanism
from bursar.numerics.balls import working
from bursar.theorems import Bound, strategies


def reached(what: b.Composition | b.Mechanism, **question: object) -> Bound:
    """The theorem's own bound."""
    with working():
        found = strategies.THEOREM.ask(b.Composition() + what, ask(**{"delta": None, "epsilon": None, **question}))
    assert not hasattr(found, "reason"), found
    return found


def enumerated(eta: mpf, t: mpf, count: int, epsilon: mpf) -> mpf:
    """δ of releases with the losses t and t − η: all sequences of outcomes, one by one."""
    p = mpmath.expm1(eta - t) / (mpmath.exp(eta - t) - mpmath.exp(-t))
    rows = [(p, p * mpmath.exp(-t)), (1 - p, (1 - p) * mpmath.exp(eta - t))]
    total = mpf(0)
    for row in itertools.product(rows, repeat=count):
        here, there = mpmath.fprod(x for x, _ in row), mpmath.fprod(y for _, y in row)
        total += max(here - mpmath.exp(epsilon) * there, mpf(0))
    return total


@pytest.mark.parametrize("count", [1, 2, 3, 6])
@pytest.mark.parametrize("share", [0.25, 0.6])
def test_pairs_of_two_outcomes(count: int, share: float) -> None:
    """The engines' δ of a strategy with one t is what enumeration gives, and both are below the proved upper end."""
    what = b.Exponential(epsilon="0.8")
    with working(), mpmath.workdps(30):
        eta, t, epsilon = mpf("0.8"), mpf(share) * mpf("0.8"), mpf("0.3") * count
        truth = enumerated(eta, t, count, epsilon)
        table = what.losses().remove.strategy(share)
        found = meet.delta_at([[(table, count)]], arb(epsilon), USUAL)
        assert found.lower <= truth * (1 + mpf("1e-20"))
        assert truth <= found.upper * (1 + mpf("1e-20"))
        assert found.width <= 2e-6
        assert found.lower <= b.account(what * count, epsilon=float(epsilon)).delta.upper


def test_the_best_fixed_t_for_two() -> None:
    """Two releases of η = 1 at ε = 0.2 reach .22986 with one t, and more when the second t may depend on the answer."""
    with working(), mpmath.workdps(20):
        best = max(enumerated(mpf(1), mpf(i) / 500, 2, mpf("0.2")) for i in range(1, 500))
    assert 0.22986 <= float(best) < 0.22987
    assert reached(b.Exponential(epsilon=1) * 2, epsilon="0.2").lower == pytest.approx(0.23654, abs=1e-5)


@pytest.mark.parametrize(
    ("epsilon", "count", "at", "published"), [("1", 3, "1", 0.0948951119463448), ("0.5", 10, "1", 0.0647438899379624)]
)
def test_published_optima(epsilon: str, count: int, at: str, published: float) -> None:
    """Whoever adapts reaches at least the published optimum for utilities fixed in advance."""
    bound = b.account(b.Exponential(epsilon=epsilon) * count, epsilon=at).delta
    assert published < bound.lower <= 1.2 * published
    fixed = b.account(b.Exponential(epsilon=epsilon) * count, epsilon=at, theorems=["numerical"]).delta
    assert bound.lower < fixed.upper


@pytest.mark.parametrize(
    "text",
    [
        "exponential(epsilon=1)*2",
        "exponential(epsilon=0.5, utility=monotone)*30",
        "exponential(epsilon=0.1)*1000",
        "exponential(epsilon=1)*3 + exponential(epsilon=0.5)*4",
        "exponential(epsilon=1)*3 + gaussian(sigma=5)*10",
        "exponential(epsilon=1)*3 + laplace(scale=2)",
        "poisson(exponential(epsilon=1), rate=0.1)*20",
        "declared(bounded_range(eta=0.3))*5 + leaky_randomized_response(epsilon=0.1, delta=1e-8)",
    ],
)
@pytest.mark.parametrize("delta", [0, 1e-3, 1e-9, 1e-100])
def test_every_interval_has_two_ends(text: str, delta: float) -> None:
    """From below there is always something, never above what is proved from above: `account` refuses contradictions."""
    what = b.parse(text)
    bound = b.account(what, delta=delta).epsilon
    assert 0 < bound.lower <= bound.upper
    if delta == 1e-3:
        assert b.account(what, epsilon=bound.lower).delta.upper >= delta


def test_monotone_utilities_have_half_the_range() -> None:
    """Half the range, and the same strategies: both ends are those of half the ε."""
    half = b.account(b.Exponential(epsilon="1/2") * 4, delta=1e-4).epsilon
    monotone = b.account(b.Exponential(epsilon=1, utility="monotone") * 4, delta=1e-4).epsilon
    assert (half.lower, half.upper) == (monotone.lower, monotone.upper)


def test_what_is_unknown_is_forgotten() -> None:
    """The others alone cost no more than all together: a Gaussian beside promises keeps its own lower end."""
    promise = b.Declared(b.ZCDP("1/10")) * 2
    alone = b.account(b.Gaussian(5) * 3, delta=1e-6).epsilon
    assert b.account(b.Gaussian(5) * 3 + promise, delta=1e-6).epsilon.lower == pytest.approx(alone.lower, rel=1e-5)
    assert b.account(b.Gaussian(5) * 3 + promise, delta=1e-6).epsilon.lower <= alone.upper
    assert b.account(promise, delta=1e-6).epsilon.lower == 0


@dataclass(frozen=True, init=False, repr=False)
class Dominated(Mechanism):
    """A mechanism of which only a dominating pair is known, and no strategy."""

    relation: str = "add_remove"
    name = "dominated"

    def __init__(self) -> None:
        self._set(relation="add_remove")

    def claims(self) -> tuple[object, ...]:
        """Nothing."""
        return ()

    def losses(self) -> Directions:
        """A response's, which it may fall short of."""
        return symmetric(b.RandomizedResponse(1).losses().remove, attained=False)


def test_a_law_that_only_dominates_is_left_out() -> None:
    """Nobody attains it, so neither alone nor beside others does it count from below, at an ε or along a curve."""
    for question in ({"delta": 1e-3}, {"epsilon": "1/10"}, {"delta": 0}):
        assert b.account(Dominated() * 3, **question).bound.lower == 0
        assert b.account(Dominated(), **question).bound.lower == 0
        beside = b.account(Dominated() * 3 + b.RandomizedResponse("1/2") * 2, **question).bound
        assert beside.lower <= b.account(b.RandomizedResponse("1/2") * 2, **question).bound.upper
    assert not b.profile(b.Composition() + Dominated() * 3, [0.1, 1.0]).lower.any()


def test_a_curve_speaks_of_one_strategy() -> None:
    """The lower ends of a curve are those of one pair: at the corners of its trade-off function no reading's upper end
    is below it, as it might be if each ε had a pair of its own.
    """
    curve = b.profile(b.Exponential(epsilon=1) * 3, [i / 10 for i in range(31)])
    assert (curve.lower[:20] > 0).all()
    assert (curve.lower <= curve.upper).all()
    with working():
        (pairs,) = strategies.common([(b.Exponential(epsilon=1).losses(), 3)])
        table = pairs[0][0]
        p, q = (float(getattr(table.rows[0], name)) for name in ("p", "q"))
    for at_least in (1, 2, 3):
        chance = [sum(math.comb(3, i) * x**i * (1 - x) ** (3 - i) for i in range(at_least, 4)) for x in (p, q)]
        reading = curve.trade_off(chance[1])
        assert reading.lower <= 1 - chance[0] + 1e-12
        assert 1 - chance[0] - 1e-12 <= reading.upper <= 1 - chance[0] + 0.05


def test_one_release_is_known_exactly_along_its_curve() -> None:
    """Each point of the profile is attained, so the trade-off function of one release is enclosed closely."""
    for what in (b.Exponential(epsilon=1), b.PoissonSampled(b.Exponential(epsilon=1), rate="0.3")):
        reading = b.profile(what).trade_off([0.01, 0.2, 0.6])
        assert (reading.upper - reading.lower <= 1e-4).all()
