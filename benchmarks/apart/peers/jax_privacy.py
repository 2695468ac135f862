"""jax-privacy: its training accountants and execution plans, beside ours for the batches that they really draw."""

from __future__ import annotations

from collections.abc import Iterator

from said import Row, asked, say

import bursar as b
from bursar.adapters.jax import TrainingAccountant, releases

REQUIRES = ["jax-privacy"]
TESTS = ["tests/adapters/test_jax.py"]
UPDATES, DELTA = 1000, 1e-6


def _pld() -> object:
    from jax_privacy.accounting.accountants import PldAccountantConfig

    return PldAccountantConfig()


def _training(question: str, relation: str, **given: object) -> Row:
    """ε of training by their own accountant and by ours."""
    from jax_privacy.accounting import analysis

    params = analysis.DpParams(noise_multipliers=1.0, batch_size=256, num_samples=60_000, delta=DELTA, **given)
    user_level = given.get("examples_per_user", 1) != 1
    kind = analysis.DpsgdTrainingUserLevelAccountant if user_level else analysis.DpsgdTrainingAccountant
    return asked(
        f"{question}, 256 of 60 000, σ = 1, {UPDATES} steps, δ = {DELTA:g}, {relation}",
        lambda: TrainingAccountant(relation).report(UPDATES, params).epsilon,
        lambda: f"{kind(_pld()).compute_epsilon(UPDATES, params):.7g}",
    )


def _bins() -> Row:
    """Balls in bins, for which they have simulations only: ours alone."""
    from jax_privacy.batch_selection import BallsInBinsSampling

    strategy = BallsInBinsSampling(iterations=UPDATES, cycle_length=100)
    return asked(
        f"balls in bins, the same bin in 10 rounds of 100 steps, σ = 4, δ = {DELTA:g}, zero_out",
        lambda: b.account(releases(strategy, noise_multiplier=4.0), delta=DELTA).epsilon,
        "none that is certified: Monte Carlo",
    )


def rows() -> Iterator[Row]:
    """Every sampling option of theirs."""
    from jax_privacy.accounting.analysis import SamplingMethod

    yield _training("Poisson batches", "add_remove")
    yield _training("truncated Poisson batches of at most 300", "zero_out", truncated_batch_size=300)
    yield _training("Poisson batches, 4 examples per user", "add_remove", examples_per_user=4)
    yield _training("fixed batches", "replace_one", sampling_method=SamplingMethod.FIXED_BATCH_SIZE)
    yield _training("groups in turn, 10 of them", "zero_out", cycle_length=10)
    yield _bins()


if __name__ == "__main__":
    say(rows())
