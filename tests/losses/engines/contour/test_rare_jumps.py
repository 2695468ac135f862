"""Many copies of a release that hardly ever does anything, and then a lot: each copy's jump is too light to see, all of
them together decide.
"""

from __future__ import annotations

import mpmath
import pytest
from flint import arb

import bursar as b
from bursar.losses.engines import contour
from bursar.numerics.balls import working


def mean_loss(rate: mpmath.mpf) -> float:
    """∫ φ_σ(x)·A(x)·ln A(x) dx, by quadrature."""
    sigma = mpmath.mpf("0.1")

    def integrand(x: mpmath.mpf) -> mpmath.mpf:
        odds = 1 - rate + rate * mpmath.exp((2 * x - 1) / (2 * sigma**2))
        return mpmath.npdf(x, 0, sigma) * odds * mpmath.log(odds)

    return float(mpmath.quad(integrand, [-1, -0.3, 0, 0.3, 0.6, 0.8, 1, 1.2, 1.5, 2]))


@pytest.mark.parametrize(("rate", "count"), [("1e-6", 10**9), ("1e-5", 10**9), ("1e-4", 10**7), ("1e-3", 10**6)])
def test_rare_jumps_are_enclosed(rate: str, count: int) -> None:
    """σ = 0.1 at small rates: a millionth or better, and between bounds that a few moments give."""
    found = b.account(b.PoissonSampled(b.Gaussian("0.1"), rate) * count, delta="1e-9").epsilon
    assert 0 < found.lower <= found.upper <= found.lower * (1 + 1e-6)
    with working():
        loss = b.PoissonSampled(b.Gaussian("0.1"), rate).losses().remove
        # Chernoff at a few small tilts: an upper bound of ε that shares nothing with the contour
        ways = [(count * loss.cumulant(t).real - arb("1e-9").log()) / t for t in (0.001, 0.003, 0.01, 0.03)]
        assert any(arb(found.upper) <= way for way in ways)
        assert all(not arb(found.lower) > way for way in ways)
    assert found.upper > count * mean_loss(mpmath.mpf(rate))


def test_a_direction_whose_losses_are_bounded_is_dismissed() -> None:
    """Adding a record loses at most −ln(1 − rate) a step: where that is less than the other direction's ε, it is
    the cheaper one, and nothing is computed.
    """
    loss = b.PoissonSampled(b.Gaussian("0.1"), "1e-5").losses().add
    with working():
        assert 10**9 * loss.support()[1] < 10_001
        with pytest.raises(ArithmeticError):
            contour.epsilon_at([(loss, 10**9)], arb("1e-9"))
    assert b.account(b.PoissonSampled(b.Gaussian("0.1"), "1e-5") * 10**9, delta="1e-9").epsilon.lower > 390_000
