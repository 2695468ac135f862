"""Profiles by sums from marks on: every reading of a list's places and masses lies inside, wherever ε is."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb

from bursar.losses.places import Law
from bursar.losses.tails import _BLOCK
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, working

SIZES = (1, 2, _BLOCK - 1, _BLOCK, _BLOCK + 1, 3 * _BLOCK + 7)


def profile(losses: Array, log_masses: Array, epsilon: float) -> Ball:
    """Σ mass·(1 − e^{ε−l})₊, place by place, in balls."""
    total = arb(0)
    for loss, height in zip(losses.tolist(), log_masses.tolist(), strict=True):
        if loss > epsilon:
            total += arb(height).exp() * (1 - (arb(epsilon) - arb(loss)).exp())
    return total


def drawn(size: int, place_error: float = 0.0, mass_error: float = 0.0) -> Law:
    """A list in no order, with places that are close together and far apart, and masses of all sizes."""
    rng = np.random.default_rng(size)
    losses = np.concatenate([rng.normal(0, 3, size - size // 3), 1 + 1e-9 * rng.normal(size=size // 3)])
    heights = rng.uniform(-600, 0, size)
    return Law(losses, np.full(size, place_error), heights, np.full(size, mass_error))


@pytest.mark.parametrize("size", SIZES)
def test_sums_from_marks_are_the_sums_of_all_places(size: int) -> None:
    """Between places, at them, at marks and beyond both ends, to twelve digits."""
    law = drawn(size)
    ordered = np.sort(law.losses)
    asked = [-9.0, 0.0, 1.0, 1 + 3e-9, 9.0, *ordered[:: max(size // 5, 1)].tolist(), float(ordered[-1])]
    with working():
        for epsilon in asked:
            found, exact = law.tails.profile(epsilon, epsilon), profile(law.losses, law.log_masses, epsilon)
            assert found.contains(exact)
            assert float(found.rad()) <= 1e-12 * float(exact) + 1e-14 * float(law.tails.masses.sum()) + 1e-299


@pytest.mark.parametrize("way", [-1.0, 1.0])
def test_every_reading_lies_inside(way: float) -> None:
    """Places and masses moved as far as they are unsure, and ε anywhere in its interval."""
    law = drawn(300, place_error=1e-6, mass_error=1e-5)
    with working():
        for low in (-2.0, 0.3, 1 - 2e-6, 1.0, 4.0):
            high, losses, heights = low + 1e-6, law.losses + way * 1e-6, law.log_masses + way * 1e-5
            exact = profile(losses, heights, low if way > 0 else high)
            found = law.tails.profile(low, high)
            assert found.lower() <= exact.lower()
            assert exact.upper() <= found.upper()


def test_masses_that_are_unsure_count_in_full() -> None:
    """A single place far beyond ε: nothing is unsure but its mass."""
    law = Law(np.array([50.0]), np.array([0.0]), np.array([0.0]), np.array([0.01]))
    with working():
        found = law.tails.profile(0.0, 0.0)
        assert found.upper() >= arb("0.01").exp()
        assert found.lower() <= arb("-0.01").exp()


def test_no_library_threads_decide_a_digit() -> None:
    """The sums are numpy's own, so that a price is the same whatever the number of threads of BLAS."""
    law = drawn(20_000)
    order = np.argsort(law.losses, kind="stable")
    starts = np.arange(0, 20_000, _BLOCK)
    sums = np.add.reduceat(np.exp(law.log_masses[order]), starts).tolist()
    total = 0.0
    for one in reversed(sums):
        total = one + total
    assert law.tails.beyond[0] == total
