"""jax-privacy with bursar's accountant; JAX is large, so this belongs to the long campaigns."""

from __future__ import annotations

import pytest

import bursar as b

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore")]


def test_its_training_accountant_and_calibration() -> None:
    """ε of DP-SGD is account's, and the calibrated noise meets the target."""
    pytest.importorskip("jax_privacy")
    from jax_privacy.accounting import analysis, calibrate

    from bursar.adapters.jax import BursarConfig

    accountant = analysis.DpsgdTrainingAccountant(dp_accountant_config=BursarConfig())
    params = analysis.DpParams(noise_multipliers=1.0, batch_size=256, num_samples=60_000, delta=1e-5)
    rate = 256 / 60_000
    expected = b.account(b.PoissonSampled(b.Gaussian(1.0), rate) * 1000, delta=1e-5).epsilon.upper
    assert accountant.compute_epsilon(1000, params) == expected
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
