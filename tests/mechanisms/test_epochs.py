"""Epochs of random allocation and shuffled epochs as releases: ends, counts, relations, and what they hold."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy.special import ndtr

import bursar as b
from bursar.losses import largest_of_steps
from bursar.numerics import normal
from bursar.numerics.balls import down, working

SHUFFLED = (  # steps, σ, ε, lower and upper end of the theory sheet
    (100, "0.5", 1, 0.47382335735710603, 0.50986166005467015),
    (100, "0.5", 4, 0.08349079106813901, 0.084953318671071063),
    (1000, "0.6", 2, 0.084831341477418203, 0.20169398843340863),
    (1000, "0.4", 8, 0.012783840980485187, 0.012789273269896745),
)


@pytest.mark.parametrize(("steps", "sigma", "epsilon", "lower", "upper"), SHUFFLED)
def test_shuffled_batches_as_the_sheet_says(steps: int, sigma: str, epsilon: int, lower: float, upper: float) -> None:
    """The upper end is one Gaussian's; the lower one is the sheet's best threshold, up to the width of a cell."""
    what = b.parse(f"shuffled(gaussian(sigma={Fraction(sigma)}, relation=zero_out), steps={steps})")
    found = b.account(what, epsilon=epsilon).delta
    assert found.lower <= lower * (1 + 1e-12)
    assert found.lower > lower * 0.99
    assert upper <= found.upper <= upper * (1 + 1e-12)


def test_the_largest_output_is_what_it_says() -> None:
    """Simulated outputs of five shuffled steps fall into the cells of the table as often as it says."""
    rng, sigma, steps = np.random.default_rng(3), 0.8, 5
    noise = rng.standard_normal((200_000, steps))
    with working():
        pair = largest_of_steps(arb(sigma), steps)
        assert pair.attained
        for shift, loss in ((2, pair.remove), (1, pair.add)):
            largest = np.maximum(noise[:, 1:].max(axis=1), noise[:, 0] + shift / sigma)
            cells = [float(row.p) for row in loss.rows]
            edges = [(2 / sigma + 9 + 1) * i / 240 - 1 for i in range(241)]
            seen = np.histogram(largest, [-np.inf, *edges, np.inf])[0] / len(largest)
            assert np.abs(seen - cells).max() < 0.003
            assert math.isclose(sum(cells), 1, rel_tol=1e-12)


def test_shuffled_epochs_never_cost_less_than_what_is_attained() -> None:
    """Over several epochs both ends grow, and the lower one is never above the upper one."""
    for relation in ("zero_out", "replace_one"):
        one = b.Shuffled(b.Gaussian(1, relation=relation), steps=10)
        bounds = [b.account(one * epochs, delta=1e-5).epsilon for epochs in (1, 2, 5)]
        for fewer, more in itertools.pairwise(bounds):
            assert 0 < fewer.lower < more.lower < more.upper
            assert fewer.upper < more.upper
        plain = b.account(b.Gaussian(1, relation=relation) * 5, delta=1e-5).epsilon
        assert bounds[-1].upper == pytest.approx(plain.upper)
    assert one.losses().least
    assert not one.losses().attained


def test_a_single_step_is_plain_noise() -> None:
    """An epoch of one step is that step, from both sides."""
    for what, plain in (
        (b.Allocated(b.Gaussian(2), steps=1), b.Gaussian(2)),
        (b.Allocated(b.Gaussian(2), steps=9, times=9), b.Gaussian(2) * 9),
        (b.Shuffled(b.Gaussian(2, relation="zero_out"), steps=1), b.Gaussian(2, relation="zero_out")),
    ):
        found, other = (b.account(one, delta=1e-6).epsilon for one in (what, plain))
        assert found.lower == pytest.approx(other.lower, rel=1e-9)
        assert found.upper == pytest.approx(other.upper, rel=1e-9)


def test_two_of_four_steps_by_simulation() -> None:
    """Two of four steps, drawn at random, cost less than two independent draws from halves, by a million draws; and
    more than one of four, and than what their sum tells.
    """
    rng, epsilon = np.random.default_rng(5), 0.2
    ratio = np.exp(rng.standard_normal((1_000_000, 4)) - 0.5)
    mean = np.mean([ratio[:, i] * ratio[:, j] for i, j in itertools.combinations(range(4), 2)], axis=0)
    seen = float(np.maximum(mean - math.exp(epsilon), 0).mean())
    found = b.account(b.Allocated(b.Gaussian(1), steps=4, times=2), epsilon=epsilon).delta
    once = b.account(b.Allocated(b.Gaussian(1), steps=4), epsilon=epsilon).delta
    assert once.upper < seen < found.upper
    assert found.upper == pytest.approx(0.3548, abs=0.001)
    assert found.lower == pytest.approx(b.account(b.Gaussian(1), epsilon=epsilon).delta.lower)
    assert 0.3 < found.lower < seen


def test_several_times_are_as_many_epochs_of_a_part() -> None:
    """Three of a hundred steps cost at most three epochs of one of thirty-three, to the last digits."""
    several = b.account(b.Allocated(b.Gaussian(1), steps=100, times=3) * 2, delta=1e-6).epsilon
    parts = b.account(b.Allocated(b.Gaussian(1), steps=33) * 6, delta=1e-6).epsilon
    assert several.upper == parts.upper
    assert 0 < several.lower < parts.lower
    added_up = b.account(b.Gaussian("10/3") * 2, delta=1e-6).epsilon
    assert several.lower == pytest.approx(added_up.lower)


_COARSE = 2e-3  # of δ: what sums over a grid may be off by


def cube(shift: float, steps: int) -> tuple[np.ndarray, ...]:
    """Likelihood ratios of each of a few steps on a grid of their outputs, and the chances of its points."""
    axis = np.arange(-6, 6.01, 0.03 if steps == 2 else 0.12)
    density = np.exp(-axis * axis / 2) / np.exp(-axis * axis / 2).sum()
    places = np.meshgrid(*[axis] * steps, indexing="ij")
    chances = np.prod(np.meshgrid(*[density] * steps, indexing="ij"), axis=0)
    return (chances, *(np.exp(shift * x - shift * shift / 2) for x in places))


@pytest.mark.parametrize("sigma", ["0.7", "1", "2"])
def test_two_of_three_steps_by_sums(sigma: str) -> None:
    """The exact mixture over all pairs of steps lies between both ends, in both directions together."""
    chances, *ratios = cube(1 / float(sigma), 3)
    mean = np.mean([ratios[i] * ratios[j] for i, j in itertools.combinations(range(3), 2)], axis=0)
    for epsilon in (0.1, 0.5, 1.5):
        odds = math.exp(epsilon)
        sides = [float((chances * np.maximum(x, 0)).sum()) for x in (mean - odds, 1 - odds * mean)]
        found = b.account(b.Allocated(b.Gaussian(sigma), steps=3, times=2), epsilon=epsilon).delta
        assert 0 < found.lower <= max(sides) * (1 + _COARSE) + 1e-6
        assert max(sides) <= found.upper * (1 + _COARSE) + 1e-6


@pytest.mark.parametrize(("sigma", "steps"), [("0.5", 2), ("1", 3)])
def test_replaced_records_by_sums(sigma: str, steps: int) -> None:
    """A record that pushes against one that pushes the other way, each in a step of its own: the exact mixtures lie
    between both ends, and so do records that push less.
    """
    what = b.Allocated(b.Gaussian(sigma, relation="replace_one"), steps=steps)
    found = {epsilon: b.account(what, epsilon=epsilon).delta for epsilon in (0.05, 1.5)}
    noise = 2 * float(sigma)  # σ is relative to the whole way from 1 to −1
    for first, second in ((1.0, -1.0), (1.0, -0.3), (0.0, -1.0)):
        chances, *present = cube(first / noise, steps)
        _, *other = cube(second / noise, steps)
        p, q = np.mean(present, axis=0), np.mean(other, axis=0)
        for epsilon, bound in found.items():
            odds = math.exp(epsilon)
            truth = max(float((chances * np.maximum(a - odds * c, 0)).sum()) for a, c in ((p, q), (q, p)))
            assert truth <= bound.upper * (1 + _COARSE) + 1e-6
            if (first, second) == (1.0, -1.0):
                assert 0 < bound.lower <= truth * (1 + _COARSE) + 1e-6


def test_replaced_records_that_wait_and_see() -> None:
    """Two steps of which the second record or the first pushes only where the first output looked large: by sums over
    a grid δ stays below the certified one.
    """
    epoch = b.Allocated(b.Gaussian("1/2", relation="replace_one"), steps=2)
    found = {epsilon: b.account(epoch, epsilon=epsilon).delta.upper for epsilon in (0.1, 1.0)}
    axis = np.arange(-8, 8.01, 0.04)
    plain, up, down_ = (np.exp(-((axis - m) ** 2) / 2) * 0.04 / math.sqrt(2 * math.pi) for m in (0.0, 1.0, -1.0))
    for rule in (axis > 0.5, axis < 0.5, np.abs(axis) < 1):
        for pushes in ((up, up), (up, plain), (plain, up)):
            waits = np.where(rule[:, None], pushes[0], pushes[1])
            opposed = np.where(rule[:, None], down_, plain)
            p = (up[:, None] * plain + plain[:, None] * waits) / 2
            q = (down_[:, None] * plain + plain[:, None] * opposed) / 2
            for epsilon, bound in found.items():
                for a, c in ((p, q), (q, p)):
                    assert np.maximum(a - math.exp(epsilon) * c, 0).sum() <= bound + 1e-9


def test_replacing_costs_about_twice_as_much_as_leaving() -> None:
    """At the same noise an epoch of many steps costs far less than plain noise, and more than leaving it does."""
    leaving = b.account(b.Allocated(b.Gaussian(1), steps=1000), delta=1e-6).epsilon
    replacing = b.account(b.Allocated(b.Gaussian("1/2", relation="replace_one"), steps=1000), delta=1e-6).epsilon
    assert leaving.upper < replacing.lower < replacing.upper < 2.3 * leaving.upper


def test_equal_steps_of_other_readings_are_not_taken_for_each_other() -> None:
    """0.03 as a float may mean less noise than 3/100, which was asked first: what it costs covers that."""
    exact, twofold = (b.Gaussian(sigma, relation="replace_one") for sigma in (Fraction(3, 100), 0.03))
    assert exact == twofold
    assert twofold.sigma.low < exact.sigma.low
    first, second = (b.account(b.Allocated(step, steps=2), epsilon=500).delta.upper for step in (exact, twofold))
    assert second > first
    assert second >= b.account(b.Gaussian(Fraction(0.03), relation="replace_one"), epsilon=500).delta.upper


def test_both_relations_with_a_record_or_none() -> None:
    """A null record costs what an absent one costs."""
    added, zeroed = (
        b.account(b.Allocated(b.Gaussian(1, relation=relation), steps=50) * 3, delta=1e-6).epsilon
        for relation in ("add_remove", "zero_out")
    )
    assert added == zeroed


def test_an_adaptive_second_step_gains_nothing() -> None:
    """Two steps of which the second asks only where the first looked large: by sums over a grid of outputs δ stays
    below the certified one in both directions.
    """
    grid = np.arange(-8, 9, 0.02)
    density = np.exp(-grid * grid / 2) * 0.02 / math.sqrt(2 * math.pi)
    shifted = np.exp(-((grid - 1) ** 2) / 2) * 0.02 / math.sqrt(2 * math.pi)
    for rule in (grid > 0.5, grid < 0.5, np.abs(grid) < 1):
        second = np.where(rule[:, None], shifted, density)  # the record pushes only then
        present = (shifted[:, None] * density + density[:, None] * second) / 2
        absent = density[:, None] * density
        for epsilon in (0.1, 0.5, 1.0):
            bound = b.account(b.Allocated(b.Gaussian(1), steps=2), epsilon=epsilon).delta.upper
            for first, other in ((present, absent), (absent, present)):
                assert np.maximum(first - math.exp(epsilon) * other, 0).sum() <= bound + 1e-9


def test_the_ledger_takes_whole_epochs() -> None:
    """An epoch is charged as one release, and again at once when its price is known."""
    with b.Ledger("memory://") as ledger:
        ledger.open("training", epsilon=3, delta=1e-6)
        epoch = b.parse("allocated(gaussian(sigma=1), steps=1000)")
        ledger.spend("training", epoch, key="epoch 1")
        assert ledger.quote("training", epoch).fits > 3
        with pytest.raises(b.BudgetExceeded):
            ledger.spend("training", epoch * 1000, key="the rest")


def test_normal_tails_of_the_lower_pair() -> None:
    """The table's first column is Φ((c − 2)/σ)·Φ(c/σ)^{t−1} at its first edge, by another normal distribution."""
    with working():
        first = largest_of_steps(arb("0.5"), 3).remove.rows[0]
        assert float(first.p) == pytest.approx(float(ndtr(-1 - 4) * ndtr(-1) ** 2), rel=1e-9)
        assert down(first.p) <= float(normal.cdf(arb(-5)) * normal.cdf(arb(-1)) ** 2)


def test_little_noise_has_an_upper_end_all_the_same() -> None:
    """Where no list is made of the lower pair, or of the law itself, one release's promise still holds."""
    for what in (
        "allocated(gaussian(sigma=1/50), steps=9)",
        "shuffled(gaussian(sigma=1/50, relation=replace_one), steps=9)",
    ):
        found = b.account(b.parse(what), delta=1e-6).epsilon
        plain = b.account(b.Gaussian("1/50"), delta=1e-6).epsilon
        assert found.lower <= plain.lower
        assert found.upper == pytest.approx(plain.upper, rel=1e-9)
