"""Sweeps of private training: proved many cells at once, and as good as plans made one by one."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import bursar as b
from bursar.jobs import plan_training, sweep
from bursar.jobs.plan_training import within

RATES = [float(f"{x:.4g}") for x in np.geomspace(0.006, 0.05, 6)]
STEPS = [1_500, 6_000, 40_000]
SETTINGS = [(rate, steps) for rate in RATES for steps in STEPS]


def make(sigma: float, setting: tuple[float, int]) -> b.Composition:
    """DP-SGD at a rate, so many steps."""
    return b.PoissonSampled(b.Gaussian(sigma), setting[0]) * setting[1]


@pytest.fixture(scope="module")
def cells() -> list[sweep.Cell]:
    """A grid of rates, steps, ε's and δ's."""
    return b.sweep(make, epsilons=[1, "2.5", 6], deltas=["1e-5", 1e-8], settings=SETTINGS)


def test_every_cell_fits_and_its_neighbour_does_not(cells: list[sweep.Cell]) -> None:
    """`account` at the value is within the target, at the neighbour it is not, and both are close."""
    assert len(cells) == len(SETTINGS) * 6
    for cell in cells:
        good, bad = (b.account(make(v, cell.setting), delta=cell.delta) for v in (cell.value, cell.plan.neighbour))
        assert Fraction(good.epsilon.upper) <= cell.epsilon.low
        assert Fraction(bad.epsilon.lower) > cell.epsilon.low
        assert 0 < 1 - cell.plan.neighbour / cell.value <= 1e-6


def test_cells_are_the_plans_of_their_own(cells: list[sweep.Cell]) -> None:
    """A plan made alone has the same value, to less than a ten-millionth."""
    for cell in random.Random(4).sample(cells, 10):
        alone = b.plan(lambda s, cell=cell: make(s, cell.setting), epsilon=cell.epsilon, delta=cell.delta)
        assert cell.value == pytest.approx(alone.value, rel=1e-7)
        assert cell.plan.report.to_dict()["asked"] == alone.report.to_dict()["asked"]


def test_nearly_all_are_proved_in_arrays_and_reports_are_written_when_read(cells: list[sweep.Cell]) -> None:
    """No account is made before somebody reads it; then it is kept, also in copies."""
    fresh = b.sweep(make, epsilons=[2], deltas=[1e-6], settings=SETTINGS)
    plans = [cell.plan for cell in fresh]
    assert sum("report" not in plan.__dict__ for plan in plans) == len(plans)
    one = plans[0]
    assert one.report is one.report
    assert one.report.composition == make(one.value, SETTINGS[0])
    assert Fraction(one.report.epsilon.upper) <= 2 < Fraction(one.neighbour_report.epsilon.upper)
    assert "would not do" in one.explain()
    other = copy.copy(plans[2])
    assert other == plans[2]
    assert "report" in other.__dict__
    with pytest.raises(AttributeError, match="nonsense"):
        one.nonsense  # noqa: B018


def test_what_arrays_do_not_prove_is_planned_alone() -> None:
    """Few large losses, unknowns that are not σ, other mechanisms: the promise is the same."""
    rare = b.sweep(
        make, epsilons=[2], deltas=[1e-6], settings=[(0.001, 1000), (0.01, 5000), (0.02, 5000), (0.03, 5000)]
    )
    squared = b.sweep(lambda s, q: make(s * s, q), epsilons=[2], deltas=[1e-6], settings=SETTINGS[:4])
    mixed = b.sweep(
        lambda s, kind: b.Gaussian(s) * 50 if kind == "plain" else make(s, kind),
        epsilons=[1, 3],
        deltas=["1e-6"],
        settings=["plain", *SETTINGS[:3]],
    )
    for cell in (*rare, *squared, *mixed):
        assert (
            Fraction(cell.plan.report.epsilon.upper)
            <= cell.epsilon
            < Fraction(cell.plan.neighbour_report.epsilon.upper)
        )
        assert abs(cell.plan.neighbour / cell.value - 1) <= 2.5e-6


def test_a_cell_that_is_not_proved_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where floats were wrong about σ, neither arrays nor a plan alone take their word."""
    true_least = plan_training.least

    def wrong(rows: object) -> tuple[object, object]:
        sigma, where = true_least(rows)
        return sigma * 0.999, where

    monkeypatch.setattr(plan_training, "least", wrong)
    for cell in b.sweep(make, epsilons=[2], deltas=[1e-6], settings=SETTINGS[:4]):
        assert Fraction(cell.plan.report.epsilon.upper) <= 2 < Fraction(cell.plan.neighbour_report.epsilon.upper)


def test_a_wider_account_does_not_forget_what_the_sweep_proved() -> None:
    """Both proofs hold: the report's upper end is at most the goal, and says by whom."""
    report = b.account(make(1.0, (0.01, 10_000)), delta=1e-6)
    assert within(report, report.epsilon.upper) is report
    goal = report.epsilon.upper * (1 - 1e-12)
    better = within(report, goal)
    assert better.epsilon.upper == goal
    assert better.decided_by[0] == "numerical"
    assert "the sums of the sweep" in better.epsilon.because


@pytest.mark.parametrize(
    ("build", "setting"),
    [
        (lambda v: make(3 * v, (0.01, 5000)), "σ is three times the unknown"),
        (lambda v: make(v * v, (0.01, 5000)), "σ is the square of the unknown"),
        (lambda v: make(1.5, (v / 20, 5000)), "the unknown is part of the rate"),
        (lambda v: make(v, (0.01, 5000 if v < 2 else 20_000)), "so many steps for little noise"),
        (lambda v: make(v, (0.001, 2000)), "few losses are large"),
    ],
)
def test_families_of_training_keep_the_promise_whatever_the_unknown_means(
    build: Callable[[float], b.Composition], setting: str
) -> None:
    """What floats assume about a family decides how long a plan takes, not what it promises."""
    found = b.plan(build, epsilon=2, delta=1e-6)
    assert Fraction(b.account(build(found.value), delta=1e-6).epsilon.upper) <= 2, setting
    assert Fraction(b.account(build(found.neighbour), delta=1e-6).epsilon.upper) > 2, setting


def test_a_table_of_values_is_rounded_away_from_those_that_fail() -> None:
    """Noise is shown rounded up and a number of releases as it is: whoever types a cell in again keeps the target."""
    for make in (lambda x: b.Gaussian(sigma=x) * 10, lambda x: b.RandomizedResponse(epsilon=x) * 10):
        cells = b.sweep(make, epsilons=[1, "2.5", 6], deltas=["1e-5", 1e-8])
        for cell, line in zip(cells, str(cells).splitlines()[1:], strict=True):
            shown = Fraction(line.split()[-1])
            assert cell.plan is not None
            assert (shown >= cell.value) is (cell.value > cell.plan.neighbour)
            assert abs(shown - Fraction(cell.value)) < Fraction(cell.value) / 10**7


def test_the_noise_of_a_split_is_shown_rounded_up() -> None:
    """A query answered with the noise that the table shows costs no more than was split."""
    found = b.split([1, 2, 3, 7], epsilon=1, delta="1e-6")
    lines = [line.split() for line in str(found).splitlines()]
    rows = {cells[0]: cells for cells in lines if len(cells) == 5 and cells[0] in ("1", "2", "3", "7")}
    for share in found.shares:
        assert Fraction(rows[f"{share.sensitivity:g}"][2]) >= Fraction(share.scale)
