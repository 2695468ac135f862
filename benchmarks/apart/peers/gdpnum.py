"""gdpnum: the one μ of Gaussian privacy that describes a training run, from dp_accounting's grid."""

from __future__ import annotations

from collections.abc import Iterator

from said import Row, asked, say

import bursar as b

REQUIRES = ["gdpnum"]
CASES = [(0.01, 1.0, 10_000), (0.001, 0.8, 10_000)]
DELTA = 1e-6


def theirs(rate: float, sigma: float, steps: int) -> str:
    """ε by their accountant, and the μ and regret that they would report instead."""
    from gdpnum import CTDAccountant

    accountant = CTDAccountant()
    accountant.history = [(sigma, rate, steps)]
    mu, regret = accountant.get_mu_and_regret()
    return f"{accountant.get_epsilon(delta=DELTA):.7g}; μ = {mu:.4g} with regret {regret:.1g}"


def rows() -> Iterator[Row]:
    """Private training."""
    for case in CASES:
        rate, sigma, steps = case
        yield asked(
            f"Poisson batches at rate {rate:g}, σ = {sigma:g}, {steps} steps, δ = {DELTA:g}",
            lambda case=case: b.account(b.PoissonSampled(b.Gaussian(case[1]), case[0]) * case[2], delta=DELTA).epsilon,
            lambda case=case: theirs(*case),
        )


if __name__ == "__main__":
    say(rows())
