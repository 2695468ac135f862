"""Different samples of Gaussians whose outcomes say who took part: against enumeration, in 80 digits."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import pytest
from flint import arb

import bursar as b
from bursar.losses.engines import dominant, hit_mixes
from bursar.losses.engines.answer import Losses
from bursar.numerics.balls import working

Kinds = list[tuple[str, str, int]]
MIXED: list[tuple[Kinds, str]] = [
    ([("0.001", "0.003", 4), ("0.002", "0.2", 3)], "1e-6"),
    ([("0.001", "0.003", 4), ("0.0011", "0.2", 3), ("1e-7", "1e-9", 2)], "1e-12"),
    ([("1e-20", "1e-5", 5), ("3e-20", "0.01", 6)], "1e-9"),
]


def removed(kinds: Kinds) -> Losses:
    """The losses with a record removed."""
    return [(b.PoissonSampled(b.Gaussian(sigma), rate).losses().remove, count) for sigma, rate, count in kinds]


def enumerated(kinds: Kinds, epsilon: float) -> mp.mpf:
    """δ(ε) where a hit's loss is ln q + u and a miss's ln(1 − q), exactly: over all numbers of hits."""
    total = mp.mpf(0)
    for numbers in itertools.product(*(range(count + 1) for _, _, count in kinds)):
        chance, square, offset = mp.mpf(1), mp.mpf(0), mp.mpf(0)
        for (sigma, rate, count), n in zip(kinds, numbers, strict=True):
            q = mp.mpf(rate)
            chance *= mp.binomial(count, n) * q**n * (1 - q) ** (count - n)
            square += n / mp.mpf(sigma) ** 2
            offset += n * mp.log(q) + (count - n) * mp.log(1 - q)
        if square:
            m, x = mp.sqrt(square), mp.mpf(epsilon) - offset
            # 1 − e^{x−L} of L ~ N(M²/2, M²): an M of thousands, so only Φ(a) is seen, and φ(a)/(M − a) of the rest
            a = m / 2 - x / m
            total += chance * (mp.ncdf(a) - mp.npdf(a) / (m - a)) if m - a > 500 else chance
    return total


@pytest.mark.parametrize(("kinds", "delta"), MIXED)
def test_the_ends_enclose_what_enumeration_gives(kinds: Kinds, delta: str) -> None:
    """δ by enumeration is above the one asked at the lower end and below it at the upper end, within its own digits."""
    with working():
        found = hit_mixes.epsilon_at(removed(kinds), arb(delta), 1e-6)
    assert found is not None
    assert found.lower > 0
    assert found.width < 1e-9
    with mp.workdps(80):
        step = 1e-10 * found.upper  # far more than what the enumeration leaves out
        assert enumerated(kinds, found.lower - step) > mp.mpf(delta)
        assert enumerated(kinds, found.upper + step) < mp.mpf(delta)


def test_two_kinds_alike_are_one_kind() -> None:
    """Copies counted as two kinds, or as one: the same answer."""
    one, two = [("0.001", "0.003", 30)], [("0.001", "0.003", 10), ("0.001", "0.003", 20)]
    with working():
        alone, mixed = (hit_mixes.epsilon_at(removed(kinds), arb("1e-20"), 1e-6) for kinds in (one, two))
    assert alone is not None
    assert mixed is not None
    assert max(alone.lower, mixed.lower) <= min(alone.upper, mixed.upper)
    assert math.isclose(alone.upper, mixed.upper, rel_tol=1e-9)


def test_kinds_that_do_not_show_themselves_are_left_to_others() -> None:
    """A σ of 2 hides who took part, whatever the other kind shows."""
    with working():
        assert hit_mixes.epsilon_at(removed([("0.001", "0.003", 4), ("2", "0.1", 3)]), arb("1e-6"), 1e-6) is None


def test_nothing_is_seen_where_delta_covers_every_hit() -> None:
    """ε is 0 where all hits together are less likely than δ, and not where they are likelier."""
    kinds = [("1e-9", "1e-12", 1000), ("3", "1e-10", 10)]
    with working():
        assert dominant.nothing(removed(kinds), arb("1.2e-9")) is not None
        assert dominant.nothing(removed(kinds), arb("0.9e-9")) is None
    found = b.account(b.parse("poisson(gaussian(sigma=1e-9), rate=1e-12)*1000"), delta="1.1e-9").epsilon
    assert (found.lower, found.upper) == (0, 0)
