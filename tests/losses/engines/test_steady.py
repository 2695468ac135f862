"""Losses that hardly vary: which are moved aside, and what their ends leave of δ."""

from __future__ import annotations

import pytest
from flint import arb

import bursar as b
from bursar.losses import leaky_response
from bursar.losses.engines import steady
from bursar.numerics.balls import working


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
