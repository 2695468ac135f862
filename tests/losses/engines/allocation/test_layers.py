"""Sums on layers against exact enumeration: masses, means, what is lost, and both sides in convex order."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from bursar.errors import LossUnknown
from bursar.losses.allocation.layers import Layers, added, halved, laid_out
from bursar.losses.allocation.ratio import gaussian_ratio
from bursar.losses.allocation.sides import Side, sides
from bursar.losses.allocation.sums import Goal, Summed, summed
from bursar.losses.laws.listed import ListedLoss
from bursar.numerics.balls import down, up, working

HALF = 4


@st.composite
def laws(draw: st.DrawFn, step: float = 0.25) -> Layers:
    """A few masses on three rows, some labels off their means; all numbers are exact in floats."""
    rows = draw(st.integers(1, 3))
    mass, moment = np.zeros((rows, 2 * HALF)), np.zeros((rows, 2 * HALF))
    for b in range(rows):
        for k in range(HALF if b else 0, 2 * HALF):
            mass[b, k] = draw(st.integers(0, 3)) / 64
            moment[b, k] = mass[b, k] * draw(st.integers(-2, 2)) * step / 4
    return Layers(step * draw(st.integers(0, 9)), step, mass, moment)


def atoms(law: Layers) -> dict[Fraction, tuple[Fraction, Fraction]]:
    """Each place with its mass and moment, exactly."""
    found: dict[Fraction, tuple[Fraction, Fraction]] = {}
    for place, mass, moment in zip(law.places().flat, law.mass.flat, law.moment.flat, strict=True):
        before = found.get(Fraction(place), (Fraction(0), Fraction(0)))
        found[Fraction(place)] = (before[0] + Fraction(mass), before[1] + Fraction(moment))
    return found


def stop_loss(law: dict[Fraction, tuple[Fraction, Fraction]], strike: Fraction, *, means: bool) -> Fraction:
    """E(S − K)₊ with the labels, or with the means of what bears them."""
    total = Fraction(0)
    for place, (mass, moment) in law.items():
        if mass:
            total += mass * max(place + (moment / mass if means else 0) - strike, Fraction(0))
    return total


def convolved(
    a: dict[Fraction, tuple[Fraction, Fraction]], b: dict[Fraction, tuple[Fraction, Fraction]]
) -> dict[Fraction, tuple[Fraction, Fraction]]:
    """Pairs of labels, not merged: the places of pairs that coincide are told apart by a tiny amount."""
    found = {}
    tick = Fraction(1, 10**30)
    for i, (x, (p, v)) in enumerate(a.items()):
        for j, (y, (q, w)) in enumerate(b.items()):
            if p * q:
                found[x + y + (i * 1000 + j) * tick] = (p * q, p * w + v * q)
    return found


@given(laws(), laws(), st.integers(0, 6), st.sampled_from([0.125, 0.25, 0.5]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_sums_keep_mass_and_mean_and_order(first: Layers, second: Layers, shift: int, step: float, same: bool) -> None:
    """With what is lost, masses and means add up exactly; without losses the labels spread and the means gather."""
    second = first if same else second
    sums = added(first, second)
    origin = math.floor((sums.origin + shift * step) / step) * step
    exact = convolved(atoms(first), atoms(second))
    whole = sum((mass for mass, _ in exact.values()), Fraction(0))
    mean = sum((place * mass + moment for place, (mass, moment) in exact.items()), Fraction(0))
    layers, lost, lost_mean = laid_out(sums, origin, step, 3)
    found = atoms(layers)
    assert float(sum(mass for mass, _ in found.values()) + Fraction(lost)) == pytest.approx(float(whole), abs=1e-14)
    kept = float(sum(place * mass + moment for place, (mass, moment) in found.items()))
    assert kept + lost_mean >= float(mean) - 1e-12
    roomy, nothing, _ = laid_out(sums, math.floor(sums.origin / step) * step, step, 9)
    assert nothing == 0
    found = atoms(roomy)
    assert float(sum(p * g + v for g, (p, v) in found.items())) == pytest.approx(float(mean), abs=1e-13)
    assert float(sum(p * g for g, (p, v) in found.items())) == pytest.approx(
        float(sum(p * g for g, (p, _) in exact.items())), abs=1e-13
    )
    for strike in map(Fraction, (0.1, 0.9, 2.3, 4.0, 7.7)):
        below = float(stop_loss(found, strike, means=True))
        above = float(stop_loss(found, strike, means=False))
        assert below <= float(stop_loss(exact, strike, means=True)) + 1e-13
        assert float(stop_loss(exact, strike, means=False)) <= above + 1e-13


def test_halving_is_linear_interpolation() -> None:
    """A point between two goes half and half, with its distance from each."""
    mass, moment = halved((np.array([0.0, 1.0, 0.0, 0.0, 2.0]), np.array([0.0, 0.25, 0.0, 0.0, 0.0])), 0.5)
    assert mass[:3].tolist() == [0.5, 0.5, 2.0]
    assert moment[:3].tolist() == [0.125 + 0.25, 0.125 - 0.25, 0.0]


def test_losses_of_both_summands_count() -> None:
    """Mass that either sum has lost stays lost, under both laws of the pair."""
    goal = Goal(64, 40.0)
    one = gaussian_ratio(arb(1), goal)
    leaky = Summed(one.layers, 1, 1e-3, 1e-4, 3e-4, one.apart)
    found = summed(leaky, 2, goal)
    assert found.lost >= 2e-4
    assert found.lost_mean >= 3e-4 + 1e-4
    assert found.error >= 2e-3
    assert found.apart[0] >= 2 * one.apart[0]


@pytest.mark.parametrize("mu", [0.2, 1.0, 3.0])
def test_one_ratio_by_normal_tails(mu: float) -> None:
    """Masses of one ratio are second differences of its stop-loss; their means are those of the ratio."""
    goal = Goal(256, 50.0)
    one = gaussian_ratio(arb(mu), goal)
    assert float(one.layers.mass.sum()) == pytest.approx(1, abs=1e-12)
    assert float((one.layers.mass * one.layers.places()).sum()) == pytest.approx(1, abs=1e-11)
    assert abs(float(one.layers.moment.sum())) < 1e-12
    places, mass = one.layers.places(), one.layers.mass
    for strike in np.exp(np.array([-1.0, 0.0, 0.7, 1.5]) * mu):
        x = math.log(strike) / mu - mu / 2
        exact = float(ndtr(-x) - strike * ndtr(-x - mu))
        spread = float((mass * np.maximum(places - strike, 0)).sum())
        gathered = float((mass * places + one.layers.moment - strike * mass)[places > strike * 1.02].sum())
        assert exact * (1 - 1e-12) <= spread <= exact * 1.001
        assert gathered <= exact * (1 + 1e-12)


def test_lists_are_moved_to_their_own_side() -> None:
    """What is unsure about masses and ratios makes the list above dearer and the one below cheaper, both directions."""
    side = Side(np.array([0.5, 1.5]), np.array([0.5, 0.5]), 0.01, 0.02, 1e-9, 2e-9)
    with working():
        for removed, truth in ((True, 0.5 * (1.5 - 1.2)), (False, 0.5 * (1 - 1.2 * 0.5))):
            epsilon = arb("1.2").log()
            above, below = (
                ListedLoss.of(side.law(removed=removed, above=way)).profile(epsilon) for way in (True, False)
            )
            wrong = 0.02 * 0.5 * (1.5 if removed else 0.6)
            assert up(above) >= truth * 1.01 + wrong
            assert down(below) <= truth * 0.99 - 0.98 * wrong
            assert float(ListedLoss.of(side.law(removed=removed, above=True)).lost()) >= (2e-9 if removed else 1e-9)


def test_labels_without_a_ratio_are_lost() -> None:
    """A label at 0 has no finite loss for a record added: its mass is counted as lost, not left out."""
    both = sides(arb(2), 2, 120.0)
    assert float(both.above.ratios.min()) > 0
    assert float(both.above.masses.sum()) + both.above.lost >= 1 - 1e-12


def test_noise_too_small_for_any_grid_is_refused() -> None:
    """With σ = 1/50 ratios span more orders of magnitude than the rows may."""
    with pytest.raises(LossUnknown, match="orders of magnitude"):
        sides(arb(50), 2, 60.0)
