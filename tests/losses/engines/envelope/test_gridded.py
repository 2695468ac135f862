"""Sums of waves from places anywhere, by one transform: against sums in 40 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from bursar.losses.engines.envelope import spectrum
from bursar.losses.engines.envelope.coarse import _COARSE, _thinned
from bursar.losses.engines.envelope.gridded import grid_size, wave_sums
from bursar.numerics.arrays import Array

RNG = np.random.default_rng(11)
PLACES = {
    "anywhere": RNG.uniform(-3000, 3000, 500),
    "one cell": 17 + RNG.uniform(-0.4, 0.4, 500),
    "half cells": np.arange(-40, 41) + 0.5,
    "around the end": np.concatenate([RNG.uniform(-9, 9, 200), 5120 + RNG.uniform(-9, 9, 200)]),
    "far away": 2.0**40 + RNG.uniform(0, 100, 300).round(6),
    "a single one": np.array([3.25]),
}


def exact(turns: Array, weights: Array, size: int, j: int) -> mpmath.mpc:
    """Σ w·e^{2πijt/M}."""
    with mpmath.workdps(40):
        angle = 2 * mpmath.pi * j / size
        parts = zip(weights.tolist(), turns.tolist(), strict=True)
        return mpmath.fsum(mpf(w) * mpmath.expj(angle * mpf(t)) for w, t in parts)


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("count", [1, 2, 9, 1000])
def test_sums_are_within_their_errors(name: str, count: int) -> None:
    """At the first, the last and some frequencies between, for weights that are alike or span 40 orders."""
    turns, size = PLACES[name], grid_size(count)
    assert size >= 5 * count
    for spread in (0.0, 92.0):
        weights = np.exp(RNG.uniform(-spread, 0, len(turns)))
        weights /= weights.sum()
        values, errors = wave_sums(turns, weights, size, count)
        assert float(errors.max()) < 1e-11
        for j in {0, 1, count // 3, count - 1} & set(range(count)):
            assert abs(mpmath.mpc(values[j]) - exact(turns, weights, size, j)) <= errors[j]


@pytest.mark.parametrize("name", ["anywhere", "half cells", "a single one"])
def test_the_spread_is_as_wide_as_it_must_be(name: str) -> None:
    """Each sum is right to twelve digits, far within what would be seen of points that are left out."""
    turns, size = PLACES[name], grid_size(1000)
    weights = np.full(len(turns), 1 / len(turns))
    values, _ = wave_sums(turns, weights, size, 1000)
    for j in (0, 500, 999):
        assert abs(mpmath.mpc(values[j]) - exact(turns, weights, size, j)) < 1e-12


def test_errors_are_no_larger_than_some_hundred_roundings() -> None:
    """A budget that is far too large would hide sums that are off."""
    turns, size = PLACES["anywhere"], grid_size(1000)
    _, errors = wave_sums(turns, np.full(len(turns), 1 / len(turns)), size, 1000)
    assert float(errors[0]) < 1e-12
    assert float(errors[-1]) < 20 * float(errors[0])


@pytest.mark.parametrize("count", [3, 700])
def test_centred_sums_keep_their_digits_near_zero(count: int) -> None:
    """1 − C + iD at multiples of a tiny frequency: each part is known relative to s·Σw|y|."""
    places = RNG.normal(0, 2, 900)
    law = spectrum.weighed(places, np.zeros(900), RNG.uniform(-3, 0, 900), np.zeros(900), 0.0)
    frequencies = np.arange(1 << 12) * 2.0**-30
    asked = np.unique(RNG.integers(0, 1 << 12, count))
    c, d, error = law.centred(frequencies, asked)
    for i in (0, len(asked) // 2, len(asked) - 1):
        with mpmath.workdps(40):
            s = mpf(float(frequencies[asked[i]]))
            pairs = list(zip(law.weights.tolist(), law.places.tolist(), strict=True))
            one = mpmath.fsum(w * (1 - mpmath.cos(s * mpf(y))) for w, y in pairs)
            other = mpmath.fsum(w * mpmath.sin(s * mpf(y)) for w, y in pairs)
        assert abs(one - mpf(float(c[i]))) <= error[i]
        assert abs(other - mpf(float(d[i]))) <= error[i]
        assert error[i] <= 1e-11 * float(frequencies[asked[i]]) + 1e-300


def test_weights_add_up_to_one_but_for_what_is_said() -> None:
    """Sums of blocks in floats, and of these exactly, are off by no more than a block's roundings."""
    heights = RNG.uniform(-30, 0, 100_003)
    law = spectrum.weighed(np.zeros(100_003), np.zeros(100_003), heights, np.zeros(100_003), 0.0)
    with mpmath.workdps(40):
        total = mpmath.fsum(law.weights.tolist())
    assert abs(total - 1) <= law.weight_error


def test_thinned_atoms_keep_mass_and_mean() -> None:
    """For searching: neighbours together, the first and the last ones as they are."""
    losses, heights = np.sort(RNG.normal(0, 1, 50_000)), np.full(50_000, -np.log(50_000))
    places, logs = _thinned(losses, heights)
    assert len(places) < 4 * _COARSE
    assert np.isclose(np.exp(logs).sum(), 1)
    assert np.isclose(np.exp(logs) @ places, losses.mean(), atol=1e-9)
    assert (places[0], places[-1]) == (losses[0], losses[-1])
