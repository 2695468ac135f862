"""Tails of the discrete Gaussian between integrals, and lists that grow: against plain sums."""

from __future__ import annotations

import mpmath as mp
import pytest
from flint import arb

from bursar.losses.laws.discrete_gaussian import DiscreteGaussianLoss
from bursar.losses.laws.integer_tails import near_tail, smooth_tail
from bursar.numerics.balls import working


@pytest.mark.parametrize("variance", ["0.5", "9", "400", "12345.6"])
@pytest.mark.parametrize("place", [-3, 0, 1, 2, 5, 20, 130, 700])
def test_integrals_enclose_the_sum(variance: str, place: int) -> None:
    """P(Y ≥ m) from Σ e^{−y²/(2s)}, on both sides of where terms become convex; close where s is large."""
    with mp.workdps(40):
        s = mp.mpf(variance)
        far = int(place + 60 * mp.sqrt(s)) + 10
        terms = {y: mp.exp(-mp.mpf(y * y) / (2 * s)) for y in range(-far, far + 1)}
        norm = mp.fsum(terms.values())
        truth = mp.fsum(term for y, term in terms.items() if y >= place) / norm
    with working():
        loss = DiscreteGaussianLoss(arb(variance), 1)
        found = smooth_tail(arb(variance), loss.normaliser(), place)
    slack = truth * mp.mpf("1e-30") + mp.mpf("1e-300")
    assert mp.mpf(found.lower().str(40, radius=False)) <= truth + slack
    assert truth - slack <= mp.mpf(found.upper().str(40, radius=False))
    assert found.rad() <= float(place / s + 1 / mp.sqrt(s) + mp.mpf("1e-9")) * found.mid() or place <= 0


def test_integrals_are_used_where_sums_are_long() -> None:
    """A σ of thousands, or places far out where terms fall slowly; nowhere else."""
    with working():
        norm = DiscreteGaussianLoss(arb(4_000_000), 1).normaliser()
        assert near_tail(arb(4_000_000), norm, 5) is not None
        assert near_tail(arb(250_000), norm, 12_000) is not None
        assert near_tail(arb(250_000), norm, 500) is None
        assert near_tail(arb(4), norm, 12_000) is None


def test_lists_of_tails_grow_by_more_than_is_asked() -> None:
    """Who asks for one place after the other has them listed few times, and each tail is the same as if asked alone."""
    with working():
        loss = DiscreteGaussianLoss(arb(900), 1)
        for place in range(100, 600):
            loss._tail(place)
        assert len(loss._tails) <= 6
        alone = DiscreteGaussianLoss(arb(900), 1)._tail(599)
        assert loss._tail(599).overlaps(alone)
        assert loss._tail(599).rad() < arb("1e-30") * alone.mid()


@pytest.mark.parametrize(("variance", "first"), [(10_000, 10_240), (160_000, 10_001), (407_000, 19_968)])
@pytest.mark.parametrize("bits", [64, 192, 640])
def test_far_tails_enclose_the_sum(variance: int, first: int, bits: int) -> None:
    """At both ends of a stretch and inside, at every precision, against terms that are added up one by one."""
    with mp.workdps(240):
        last = int(mp.sqrt(mp.mpf(first + 1024) ** 2 + 1200 * variance)) + 10
        terms = [mp.exp(-mp.mpf(y * y) / (2 * variance)) for y in range(first, last)]
        norm = mp.sqrt(2 * mp.pi * variance)  # up to e^{−2π²σ²}
        truths = {
            m: mp.fsum(terms[m - first :]) / norm for m in (first, first + 1, first + 500, first + 511, first + 512)
        }
    with working(bits):
        loss = DiscreteGaussianLoss(arb(variance), 1)
        for m, truth in truths.items():
            found = loss._tail(m)
            assert mp.mpf(found.lower().str(220, radius=False)) <= truth * (1 + mp.mpf(10) ** -200)
            assert truth * (1 - mp.mpf(10) ** -200) <= mp.mpf(found.upper().str(220, radius=False))
            assert found.rad() <= found.mid() * arb(2) ** (32 - min(bits, 140))
