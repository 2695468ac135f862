"""Losses that hardly vary, against exact enumeration with many digits."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import mpmath
import pytest
from flint import arb

import bursar as b
from bursar.losses import leaky_response
from bursar.losses.engines import steady
from bursar.numerics.balls import working

Law = list[tuple[mpmath.mpf, mpmath.mpf]]
"""Losses with their probabilities."""


def responses(epsilon: str, count: int) -> Law:
    """The loss of so many randomized responses: (k − 2j)ε with j lies."""
    e = mpmath.mpf(epsilon)
    lie = 1 / (1 + mpmath.exp(e))
    return [
        ((count - 2 * j) * e, mpmath.binomial(count, j) * lie**j * (1 - lie) ** (count - j)) for j in range(count + 1)
    ]


def together(laws: Iterable[Law]) -> Law:
    """The law of the sum of independent losses, by all combinations."""
    total: Law = [(mpmath.mpf(0), mpmath.mpf(1))]
    for law in laws:
        total = [(x + y, p * q) for x, p in total for y, q in law]
    return total


def cost(law: Law, delta: str) -> mpmath.mpf:
    """ε at δ, by halving."""

    def at(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.fsum(p * (1 - mpmath.exp(x - loss)) for loss, p in law if loss > x)

    low, high, target = mpmath.mpf(0), max(loss for loss, _ in law), mpmath.mpf(delta)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) > target else (low, middle)
    return high


@pytest.mark.parametrize("delta", ["1e-2", "1e-9", "1e-40", "1e-200"])
@pytest.mark.parametrize(
    ("large", "small"), [(("2e9", 3), ("0.5", 6)), (("4", 5), ("1e-9", 4)), (("700", 2), ("3e-7", 9))]
)
def test_steady_losses_are_enclosed(delta: str, large: tuple[str, int], small: tuple[str, int]) -> None:
    """Responses of very different ε, in either role, cost what all their outcomes say, to a millionth."""
    with mpmath.workdps(400):
        truth = cost(together([responses(*large), responses(*small)]), delta)
        what = b.RandomizedResponse(Fraction(large[0])) * large[1] + b.RandomizedResponse(Fraction(small[0])) * small[1]
        found = b.account(what, delta=delta, theorems=["numerical"]).bound
        assert mpmath.mpf(found.lower) <= truth <= mpmath.mpf(found.upper)
    assert found.upper - found.lower <= 1e-6 * found.upper


def test_what_is_steady_and_what_is_not() -> None:
    """Losses a billion times larger are moved aside, those of like size are not."""
    with working():
        far = [(leaky_response(arb("1e9"), arb(0)), 3), (leaky_response(arb(1), arb(0)), 50)]
        near = [(leaky_response(arb(2), arb(0)), 30), (leaky_response(arb(1), arb(0)), 50)]
        parts = steady.split(far, arb("1e-20"))
        assert parts is not None
        assert 3e9 in (parts.low + arb(0, 1e3))
        assert parts.low <= parts.high
        assert steady.split(near, arb("1e-20")) is None


def test_each_end_of_a_split_is_needed() -> None:
    """The δ of either end leaves room for what may lie outside: less above, more below."""
    with working():
        far = [(leaky_response(arb("1e9"), arb("1e-30")), 3), (leaky_response(arb(1), arb(0)), 50)]
        parts = steady.split(far, arb("1e-20"))
        assert parts is not None
        left = arb("1e-20") - 3 * arb("1e-30")
        assert parts.above < left < parts.below


@pytest.mark.parametrize("delta", ["1e-5", "1e-60"])
def test_leaks_of_steady_losses_are_paid_first(delta: str) -> None:
    """A leak of the large losses is taken off δ before anything else, as enumeration says."""
    with mpmath.workdps(200):
        leak = mpmath.mpf(delta) / 3
        whole = together([responses("3e8", 1), responses("0.3", 8)])
        truth = cost([(loss, (1 - leak) * p) for loss, p in whole], mpmath.nstr(mpmath.mpf(delta) - leak, 150))
        leaky = b.LeakyRandomizedResponse(epsilon=3 * 10**8, delta=Fraction(delta) / 3)
        found = b.account(leaky + b.RandomizedResponse("0.3") * 8, delta=delta, theorems=["numerical"]).bound
        assert mpmath.mpf(found.lower) <= truth <= mpmath.mpf(found.upper)
    assert found.upper - found.lower <= 1e-6 * found.upper


@pytest.mark.parametrize("epsilon", [10**12, 10**29])
def test_responses_of_any_size_are_enclosed(epsilon: int) -> None:
    """Where e^ε is beyond every float, responses that never lie still cost their sum."""
    for mechanism in (
        b.RandomizedResponse(float(epsilon)),
        b.KaryRandomizedResponse(float(epsilon), 1000),
        b.Laplace(1 / float(epsilon)),
    ):
        found = b.account(mechanism * 10**6, delta="1e-200").bound
        assert 0 < (1 - 1e-6) * epsilon * 1e6 <= found.lower <= epsilon * 1e6 * (1 + 1e-12)
        assert found.upper - found.lower <= 1e-6 * found.upper


@pytest.mark.parametrize("depth", [0.2, 14.0, 600.0])
def test_the_reach_is_the_least_over_all_tilts(depth: float) -> None:
    """Halves find what looking at every tilt finds, from tiny losses to huge ones, few copies and many."""
    laws = [made.losses().remove for made in (b.Laplace("1e-6"), b.Laplace(76), b.RandomizedResponse("0.0004"))]
    laws += [made.losses().remove for made in (b.Gaussian("1e5"), b.Gaussian("0.01"), b.DiscreteLaplace(300))]
    with working():
        for law in laws:
            for count in (1, 300, 8 * 10**6):
                every = [steady._mean_at(law, count, tilt, depth) for tilt in steady._TILTS]
                least = min(at for at in every if at == at)
                assert steady._reach(law, count, depth) == pytest.approx(least, rel=1e-6)
