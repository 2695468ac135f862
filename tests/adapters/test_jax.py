"""jax-privacy: its training accountants, sampling options and execution plans, in the environment of its own that
`make peers` makes for it: JAX is large.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import dp_accounting as dpa
import numpy as np
import pytest
from jax_privacy import batch_selection as batches
from jax_privacy.accounting import accountants, analysis, calibrate
from jax_privacy.experimental import accounting, execution_plan

import bursar as b
from bursar.adapters.google import BursarAccountant, from_event
from bursar.adapters.jax import BursarConfig, TrainingAccountant, planned, releases
from bursar.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore")
FIXED = analysis.SamplingMethod.FIXED_BATCH_SIZE


def params(**given: Any) -> Any:
    """A run of 60 000 records."""
    usual = {"noise_multipliers": 1.0, "batch_size": 256, "num_samples": 60_000, "delta": 1e-5}
    return analysis.DpParams(**{**usual, **given})


def test_its_training_accountant_and_calibration() -> None:
    """ε of DP-SGD is account's, and the calibrated noise meets the target, with its accountant or ours."""
    rate = 256 / 60_000
    expected = b.account(b.PoissonSampled(b.Gaussian(1.0), rate) * 1000, delta=1e-5).epsilon.upper
    for accountant in (
        analysis.DpsgdTrainingAccountant(dp_accountant_config=BursarConfig()),
        TrainingAccountant("add_remove"),
    ):
        assert accountant.compute_epsilon(1000, params()) == expected
        found = calibrate.calibrate_noise_multiplier(
            target_epsilon=1.0,
            accountant=accountant,
            batch_sizes=256,
            num_updates=1000,
            num_samples=60_000,
            target_delta=1e-5,
            tol=1e-3,
        )
        assert b.account(b.PoissonSampled(b.Gaussian(found), rate) * 1000, delta=1e-5).epsilon.upper <= 1.01


def test_fixed_batches_are_not_poisson_samples_of_half_the_noise() -> None:
    """Two steps, q = .1, σ = 2, ε = .05: theirs says .04396, somebody who chooses the second step after the first
    reaches .04605, and ours lies above that.
    """
    run = {"noise_multipliers": 2.0, "batch_size": 10, "num_samples": 100, "sampling_method": FIXED}
    found = TrainingAccountant("replace_one").composition(2, params(**run))
    sampled = b.FixedSizeSampled(b.Gaussian(1, relation="replace_one"), sample=10, population=100)
    assert found == sampled * 2
    ours = b.account(found, epsilon=0.05).delta
    assert 0.0460515 < ours.upper < 0.0481435
    theirs = analysis.DpsgdTrainingAccountant(accountants.PldAccountantConfig())
    claimed = theirs.compute_epsilon(2, params(**run, delta=0.045))
    assert claimed < 0.05  # they promise δ = .045 at an ε where .046 is reached


def test_options_of_its_training_accountant() -> None:
    """Truncated batches, users with several examples, groups in turn and schedules are the releases that they are."""
    ours = TrainingAccountant("zero_out")
    step = b.Gaussian(1, relation="zero_out")
    assert ours.composition(10, params(truncated_batch_size=300)) == (
        b.TruncatedPoisson(step, 256 / 60_000, most=300, population=60_000) * 10
    )
    user = ours.composition(10, params(examples_per_user=3))
    assert user == b.Group(b.PoissonSampled(step, 256 / 60_000), 3) * 10
    theirs = analysis.DpsgdTrainingUserLevelAccountant(accountants.PldAccountantConfig())
    assert b.account(user, delta=1e-5).epsilon.upper == pytest.approx(
        theirs.compute_epsilon(10, params(examples_per_user=3)), rel=1e-3
    )
    assert ours.composition(95, params(cycle_length=10)) == b.PoissonSampled(step, 256 / 6000) * 10
    changing = params(noise_multipliers=[(0, 1.0), (4, 2.0)], batch_size_scale_schedule={2: 2})
    assert ours.composition(10, changing) == (
        b.PoissonSampled(step, 256 / 60_000) * 2
        + b.PoissonSampled(step, 512 / 60_000) * 2
        + b.PoissonSampled(b.Gaussian(2, relation="zero_out"), 512 / 60_000) * 6
    )
    assert ours.compute_epsilon(0, params()) == 0


@pytest.mark.parametrize(
    ("relation", "given", "names"),
    [
        ("add_remove", {"sampling_method": FIXED}, "replace_one"),
        ("add_remove", {"cycle_length": 10}, "zero_out"),
        ("zero_out", {"sampling_method": FIXED, "truncated_batch_size": 300}, "largest size"),
        ("add_remove", {"truncated_batch_size": 300, "examples_per_user": 2}, "population"),
        ("zero_out", {"cycle_length": 10, "noise_multipliers": [(0, 1.0), (4, 2.0)]}, "one noise"),
        ("zero_out", {"batch_size": 60_001}, "rate"),
    ],
)
def test_what_has_no_proof_is_refused_by_name(relation: str, given: dict[str, Any], names: str) -> None:
    """Each refusal says what would do."""
    with pytest.raises(InputError, match=names):
        TrainingAccountant(relation).composition(10, params(**given))


def test_strategies_are_what_they_draw() -> None:
    """Each strategy of batches as releases; bins that are kept are one allocation with less noise."""
    step, held = b.Gaussian(2, relation="zero_out"), b.Gaussian(1, relation="replace_one")
    poisson = batches.CyclicPoissonSampling(sampling_prob=0.25, iterations=8)
    assert releases(poisson, noise_multiplier=2.0) == b.PoissonSampled(step, 0.25) * 8
    assert releases(poisson, noise_multiplier=2.0, relation="replace_one") == b.PoissonSampled(held, 0.25) * 8
    users = batches.UserSelectionStrategy(poisson, 2)
    assert releases(users, noise_multiplier=2.0) == b.PoissonSampled(step, 0.25) * 8
    fixed = batches.FixedBatchSampling(batch_size=5, iterations=3)
    assert releases(fixed, noise_multiplier=2.0, records=20) == b.FixedSizeSampled(step, sample=5, population=20) * 3
    again = batches.FixedBatchSampling(batch_size=5, iterations=3, replace=True)
    assert releases(again, noise_multiplier=2.0, relation="replace_one", records=20) == (
        b.WithReplacementSampled(held, draws=5, population=20) * 3
    )
    bins = batches.BallsInBinsSampling(iterations=400, cycle_length=100)
    assert releases(bins, noise_multiplier=2.0) == b.Allocated(b.Gaussian(1, relation="zero_out"), steps=100) * 1
    (odd,) = releases(batches.BallsInBinsSampling(300, 100), noise_multiplier=2.0).terms
    assert 0 < Fraction(4, 3) - Fraction(odd.mechanism.mechanism.sigma) ** 2 < Fraction(1, 10**29)
    with pytest.raises(InputError, match="BMinSepSampling"):
        releases(batches.BMinSepSampling(0.1, 10, 3), noise_multiplier=2.0)
    with pytest.raises(InputError, match="records"):
        releases(fixed, noise_multiplier=2.0)


def test_bins_are_drawn_as_they_are_accounted() -> None:
    """Every record is in one bin, kept in all rounds, and all bins are as likely."""
    seen = [list(batches.BallsInBinsSampling(20, 10).batch_iterator(50, rng=seed)) for seed in range(200)]
    for rounds in seen:
        assert all(np.array_equal(rounds[i], rounds[i + 10]) for i in range(10))
        assert sorted(np.concatenate(rounds[:10]).tolist()) == list(range(50))
    where = [next(i for i in range(10) if 7 in rounds[i]) for rounds in seen]
    assert np.bincount(where, minlength=10).min() > 5


@pytest.mark.parametrize("relation", ["zero_out", "replace_one"])
@pytest.mark.parametrize("truncated", [None, 120])
def test_execution_plans(relation: str, truncated: int | None) -> None:
    """A plan that our accountant calibrates keeps its target, and its batches are what its event claims."""
    named = {"zero_out": dpa.NeighboringRelation.REPLACE_SPECIAL, "replace_one": dpa.NeighboringRelation.REPLACE_ONE}
    config = execution_plan.BandMFExecutionPlanConfig(
        strategy=np.ones(1),
        iterations=100,
        epsilon=1.0,
        delta=1e-5,
        sampling_prob=0.1,
        truncated_batch_size=truncated,
        num_examples=1000,
        accountant=BursarAccountant(named[relation]),
    )
    found = planned(config.plan, relation=relation, records=1000)
    assert found == from_event(config.plan.dp_event, named[relation])
    assert 0.99 < b.account(found, delta=1e-5).epsilon.upper <= 1


def test_a_plan_that_claims_other_batches_is_refused() -> None:
    """Bins, fixed batches and larger rates behind an event of Poisson samples."""
    event = accounting.dpsgd_event(2.0, 10, sampling_prob=0.1)
    for strategy in (
        batches.BallsInBinsSampling(iterations=10, cycle_length=10),
        batches.FixedBatchSampling(batch_size=10, iterations=10),
        batches.CyclicPoissonSampling(sampling_prob=0.2, iterations=10),
        batches.CyclicPoissonSampling(sampling_prob=0.1, iterations=11),
        batches.CyclicPoissonSampling(sampling_prob=0.1, iterations=10, truncated_batch_size=12),
    ):
        plan = execution_plan.DPExecutionPlan(lambda: None, strategy, None, event)
        with pytest.raises(InputError, match="the plan claims"):
            planned(plan, records=100)
    honest = batches.CyclicPoissonSampling(sampling_prob=0.1, iterations=10)
    plan = execution_plan.DPExecutionPlan(lambda: None, honest, None, event)
    assert planned(plan) == b.PoissonSampled(b.Gaussian(2, relation="zero_out"), 0.1) * 10
