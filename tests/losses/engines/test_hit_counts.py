"""So many hits that their number decides: against summed binomial chances, and against the sum over numbers."""

from __future__ import annotations

import pytest
from flint import arb
from mpmath import exp, log, loggamma, mp, mpf

import bursar as b
from bursar.losses.engines import hits
from bursar.losses.engines.hit_counts import by_counts
from bursar.numerics.balls import working

NOISES = ["laplace(scale=1e-7)", "gaussian(sigma=1e-5)", "gaussian(sigma=1e-5, relation=replace_one)"]


@pytest.mark.parametrize(
    ("scale", "rate", "count", "delta"),
    [("1e-20", "0.11", 40_000, "1e-30"), ("1e-15", "0.6", 100_000, "1e-9"), ("1e-12", "0.002", 10**6, "1e-120")],
)
def test_the_quantile_of_the_hits_lies_between_the_ends(scale: str, rate: str, count: int, delta: str) -> None:
    """A hit of so little Laplace noise costs 1/scale, all but exactly, so ε is the quantile of their number."""
    with working():
        loss = b.PoissonSampled(b.Laplace(scale), rate).losses().remove
    with working(160):
        total = hits.total_of([(loss, count)], arb(delta))
        assert total is not None
        found = by_counts(total, arb(delta))
    assert found is not None
    with mp.workdps(40):
        truth = _quantile(mpf(rate), count, mpf(delta)) / mpf(scale)
        assert mpf(found.lower) <= truth * (1 + mpf("1e-9"))
        assert truth * (1 - mpf("1e-9")) <= mpf(found.upper)
    assert found.width < 1e-3


@pytest.mark.parametrize(
    ("scale", "rate", "count", "delta"),
    [("1e-15", "0.6", 100_000, "0.9"), ("1e-15", "0.01", 4 * 10**6, "0.6"), ("1e-12", "0.5", 10**6, "0.3")],
)
def test_a_delta_that_the_usual_number_does_not_reach(scale: str, rate: str, count: int, delta: str) -> None:
    """Above ½ δ asks for fewer hits than usual: the lower end stays below what as many cost, and is what some show."""
    found = b.account(f"poisson(laplace(scale={scale}), rate={rate})*{count}", delta=delta).bound
    with mp.workdps(40):
        q, low, high = mpf(rate), 0, count
        while high - low > 1:
            middle = (low + high) // 2
            below = 1 - _at_least(1 - q, count, count - middle + 1) if middle < q * count else mpf(0)
            many = (below if middle < q * count else _at_least(q, count, middle)) > mpf(delta)
            low, high = (middle, high) if many else (low, middle)
        truth = low / mpf(scale)
        assert mpf(found.lower) <= truth * (1 + mpf("1e-9"))
        assert truth * (1 - mpf("1e-9")) <= mpf(found.upper)
    assert found.lower > 0


def _quantile(rate: mpf, count: int, delta: mpf) -> int:
    """The largest n such that n hits or more are likelier than δ, by bisection of summed chances."""
    low, high = int(rate * count), count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _at_least(rate, count, middle) > delta else (low, middle)
    return low


def _at_least(rate: mpf, count: int, n: int) -> mpf:
    """The chance of n hits or more, term by term."""
    ways = loggamma(count + 1) - loggamma(n + 1) - loggamma(count - n + 1)
    term = exp(ways + n * log(rate) + (count - n) * log(1 - rate))
    total = mpf(0)
    while n <= count and term > mpf("1e-25") * total:
        total += term
        term *= (count - n) * rate / ((n + 1) * (1 - rate))
        n += 1
    return total


@pytest.mark.parametrize("noise", NOISES)
def test_the_sum_over_numbers_lies_between_the_ends(noise: str) -> None:
    """Where few enough numbers matter to be summed, both ways meet."""
    with working():
        (term,) = b.parse(f"poisson({noise}, rate=0.01)").terms
        loss = term.mechanism.losses().remove
        summed = hits.epsilon_at([(loss, 2000)], arb("1e-12"), 1e-6)
    with working(160):
        total = hits.total_of([(loss, 2000)], arb("1e-12"))
        assert total is not None
        counted = by_counts(total, arb("1e-12"))
    assert summed is not None
    assert counted is not None
    assert counted.lower <= summed.upper
    assert summed.lower <= counted.upper
    assert counted.width < 0.1


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("poisson(discrete_gaussian(sigma=0.06465, sensitivity=27), rate=0.0678)*37706916", "1.705e-97"),
        ("poisson(discrete_gaussian(sigma=0.2201, sensitivity=91), rate=0.4828)*1251337", "4.035e-260"),
        ("poisson(discrete_laplace(scale=4.229e-14, sensitivity=3166540), rate=0.8673)*279731361", "6.423e-111"),
    ],
)
def test_what_hits_cost_together_is_known_more_closely_than_one_by_one(text: str, delta: str) -> None:
    """Noise that hardly moves outputs: the number of hits decides, and its exact binomial tail says which; all of them
    cost about that many times what one does.
    """
    ((term,),) = (b.parse(text).terms,)
    loss = term.mechanism.losses().remove
    found = b.account(b.parse(text), delta=delta).epsilon
    assert found.upper - found.lower <= 1e-4 * found.upper
    with working(300):
        target, q, k = arb(delta), loss.rate, term.count
        # P(N ≥ n) = I_q(n, k − n + 1); hits that cost what they do without noise
        low, high = int(float(k * q)), k
        while high - low > 1:
            middle = (low + high) // 2
            tail = arb(q).beta_lower(arb(middle), arb(k - middle + 1), regularized=1)
            low, high = (middle, high) if tail > target else (low, middle)
        one = loss.base.remove.mean()
        about = low * (one + q.log()) + (k - low) * (-q).log1p()
        assert abs(about - found.upper) <= arb(found.upper) * 1e-4


def test_hits_that_leak_have_no_count() -> None:
    """Where a hit may cost infinitely much, the number of hits bounds nothing."""
    ((term,),) = (b.parse("poisson(leaky_randomized_response(epsilon=90, delta=1e-9), rate=0.3)*100000").terms,)
    with working(200):
        delta = arb(10) ** -4
        total = hits.total_of([(term.mechanism.losses().remove, term.count)], delta)
        assert total is not None
        assert by_counts(total, delta) is None


def test_hits_that_leak_are_counted_where_that_is_little() -> None:
    """What all hits leak together, far below δ, moves nothing; not far below it, there is no count."""
    with working(160):
        for leak, counted in (("1e-60", True), ("1e-12", False)):
            loss = b.PoissonSampled(b.LeakyRandomizedResponse("1e9", leak), "0.02").losses().remove
            total = hits.total_of([(loss, 10**6)], arb("1e-9"))
            assert total is not None
            found = by_counts(total, arb("1e-9"))
            assert (found is not None) == counted
            if found is not None:
                with mp.workdps(40):
                    truth = _quantile(mpf("0.02"), 10**6, mpf("1e-9")) * mpf("1e9")
                assert mpf(found.lower) <= truth <= mpf(found.upper) * (1 + mpf("1e-6"))
