"""Discrete Laplaces of a large scale: their continuous twins, and their places."""

from __future__ import annotations

import random

import mpmath
import pytest
from flint import arb

import bursar as b
from bursar.losses import DiscreteLaplaceLoss
from bursar.losses.engines import envelope
from bursar.losses.laws import discrete_laplace
from bursar.numerics.balls import working


def exact_profile(scale: mpmath.mpf, shift: int, epsilon: mpmath.mpf) -> mpmath.mpf:
    """δ(ε) by its definition, over all outputs."""
    a = mpmath.exp(-1 / scale)
    norm, reach, total = (1 - a) / (1 + a), 3000, mpmath.mpf(0)
    for y in range(-reach, reach + 1):
        p, q = norm * a ** abs(y), norm * a ** abs(y - shift)
        total += max(p - mpmath.exp(epsilon) * q, mpmath.mpf(0))
    return total


@pytest.mark.parametrize(("scale", "shift"), [(20, 7), (30, 60), (12, 3)])
def test_twins_enclose_the_profile(scale: int, shift: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At every ε the profile lies between those of the two continuous laws, which are told apart somewhere."""
    monkeypatch.setattr(discrete_laplace, "_LISTED", 0)
    monkeypatch.setattr(discrete_laplace, "_FINE", 1.0)
    rng, apart = random.Random(f"{scale} {shift}"), 0.0
    with mpmath.workdps(60), working():
        twins = DiscreteLaplaceLoss(arb(1) / scale, shift).twins()
        assert twins is not None
        for _ in range(12):
            epsilon = rng.uniform(-1.3, 1.1) * shift / scale
            truth = arb(mpmath.nstr(exact_profile(mpmath.mpf(scale), shift, mpmath.mpf(epsilon)), 50))
            low, high = (twin.profile(epsilon) for twin in (twins.low, twins.high))
            assert low <= truth + 1e-36
            assert truth <= high + 1e-36
            apart = max(apart, float(truth - low))
    assert apart > 1e-9


def test_places_beyond_those_that_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The window of places in floats gives what all atoms as balls give."""
    with working():
        loss = DiscreteLaplaceLoss(arb(1) / 40, 3000)
        listed = envelope.epsilon_at([(loss, 2000)], arb("1e-30"), 1e-6)
        monkeypatch.setattr(discrete_laplace, "_LISTED", 100)
        assert loss.envelope_factor(2000, 110.0) is not None
        window = envelope.epsilon_at([(loss, 2000)], arb("1e-30"), 1e-6)
    assert window.lower <= listed.upper
    assert listed.lower <= window.upper


@pytest.mark.parametrize(("scale", "shift"), [("1e9", 10**6), ("1e25", 10**11), ("3e6", 10**5)])
def test_large_scales_cost_what_laplaces_cost(scale: str, shift: int) -> None:
    """Enclosed to a millionth, and next to the continuous law of the same ε."""
    found = b.account(b.DiscreteLaplace(scale, sensitivity=shift) * 10**5, delta="1e-40").bound
    plain = b.account(b.Laplace(mpmath.nstr(mpmath.mpf(scale) / shift, 30)) * 10**5, delta="1e-40").bound
    assert found.upper - found.lower <= 1e-6 * found.upper
    assert plain.lower <= found.upper
    assert found.lower <= plain.upper * (1 + 1e-6)
