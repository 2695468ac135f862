"""Discrete Gaussians in closed form, against sums over all outputs with many digits."""

from __future__ import annotations

import mpmath
import pytest
from flint import arb

import bursar as b
from bursar.losses import DiscreteGaussianLoss, LaplaceLoss
from bursar.losses.engines.likeness import delta_of
from bursar.numerics.balls import working


def exact_delta(sigma: int, shift: int, epsilon: mpmath.mpf) -> mpmath.mpf:
    """δ(ε) of one release, by its definition."""
    s, reach = mpmath.mpf(sigma) ** 2, 60 * sigma
    weights = {y: mpmath.exp(-mpmath.mpf(y * y) / (2 * s)) for y in range(-reach, reach + 1)}
    norm, total = mpmath.fsum(weights.values()), mpmath.mpf(0)
    for y, weight in weights.items():
        loss = (shift**2 - 2 * shift * y) / (2 * s)
        if loss > epsilon:
            total += weight * (1 - mpmath.exp(epsilon - loss))
    return total / norm


@pytest.mark.parametrize(("sigma", "shift"), [(10, 1), (13, 40), (25, 3)])
@pytest.mark.parametrize("far", [-1, 0, 2, 9, 20])
def test_the_error_holds(sigma: int, shift: int, far: int) -> None:
    """The Gaussian δ with its error contains the discrete one, from below the mean to twenty deviations."""
    with mpmath.workdps(120), working():
        mu = mpmath.mpf(shift) / sigma
        epsilon = float(max(mu * mu / 2 + far * mu, 0)) + 0.001
        truth = exact_delta(sigma, shift, mpmath.mpf(epsilon))
        like = DiscreteGaussianLoss(arb(sigma) ** 2, shift).likeness()
        assert like is not None
        found = delta_of([(like, 1)], arb(epsilon))
        assert arb(mpmath.nstr(truth, 60)) in found
        if far <= 9 and sigma * sigma > 40 * shift:
            assert found.rad() <= (1 + far * far) / (2 * sigma) ** 2 * 4 * abs(found.mid())


def test_the_error_is_of_the_right_size() -> None:
    """Near a corner of the discrete profile the Gaussian δ is off by more than a hundredth of the bound."""
    with mpmath.workdps(80), working():
        sigma, shift, worst = 10, 5, 0.0
        like = DiscreteGaussianLoss(arb(sigma) ** 2, shift).likeness()
        assert like is not None
        for i in range(40):
            epsilon = 2.0 + 0.0025 * i
            found = delta_of([(like, 1)], arb(epsilon))
            off = abs(arb(mpmath.nstr(exact_delta(sigma, shift, mpmath.mpf(epsilon)), 50)) - found.mid())
            worst = max(worst, float(off / found.rad()))
        assert 0.01 < worst <= 1


@pytest.mark.parametrize("delta", ["1e-3", "1e-30", "1e-280"])
def test_closed_form_and_places_agree(delta: str) -> None:
    """A thousand discrete Gaussians of σ = 40 cost the same in closed form and by their places."""
    what = b.DiscreteGaussian(40, sensitivity=2) * 1000
    with working():
        losses = what.terms[0].mechanism.losses().remove
        closed = b.account(what, delta=delta, theorems=["numerical"]).bound
        from bursar.losses.engines import envelope

        places = envelope.epsilon_at([(losses, 1000)], arb(delta), 1e-6)
    assert closed.lower <= places.upper
    assert places.lower <= closed.upper
    assert closed.upper - closed.lower <= 1e-6 * closed.upper


def test_a_large_sigma_is_no_slower() -> None:
    """σ = 1e5, and σ of any size, are answered by one closed form, to a millionth and close to the Gaussian."""
    for sigma in ("1e4", "1e5", "1e15", "1e29"):
        found = b.account(b.DiscreteGaussian(sigma), delta="1e-60").bound
        plain = b.account(b.Gaussian(sigma), delta="1e-60").bound
        assert found.upper - found.lower <= 1e-6 * found.upper
        assert abs(found.upper - plain.upper) <= 1e-6 * plain.upper


@pytest.mark.parametrize("scale", ["1e9", "3e14", "2e25"])
@pytest.mark.parametrize("count", [1, 7, 3801])
def test_laplaces_of_a_huge_scale_lie_between_their_responses(scale: str, count: int) -> None:
    """The twins are that close, in order, on either side of the profile; and the answer is as narrow."""
    with working(400):
        loss = LaplaceLoss(1 / arb(scale))
        twins = loss.twins()
        assert twins is not None
        for share in ("0", "0.3", "0.9", "0.999999"):
            x = loss.epsilon * arb(share)
            # at 0 a threshold halfway loses nothing
            assert twins.low.profile(x) < loss.profile(x) or share == "0"
            assert loss.profile(x) < twins.high.profile(x)
    found = b.account(b.parse(f"laplace(scale={scale})*{count}"), delta=1e-40).epsilon
    assert found.upper - found.lower <= 1e-6 * found.upper


def test_laplaces_of_a_usual_scale_have_no_twins() -> None:
    """Where responses differ from it by more than anybody asks for, the law stands for itself."""
    assert b.parse("laplace(scale=1e6)").terms[0].mechanism.losses().remove.twins() is None
