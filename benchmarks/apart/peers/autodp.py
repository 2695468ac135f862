"""autodp: Rényi accounting with a search over the orders."""

from __future__ import annotations

from collections.abc import Iterator

from said import Row, asked, say

import bursar as b

REQUIRES = ["autodp", "scipy<1.14"]  # newer ones lack what its characteristic functions call
CASES = [(0.01, 1.0, 1000), (0.001, 0.8, 10_000)]
DELTA = 1e-6


def theirs(rate: float, sigma: float, steps: int) -> str:
    """ε of Poisson-sampled Gaussians by their Rényi accountant."""
    from autodp.mechanism_zoo import GaussianMechanism
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    sampled = AmplificationBySampling(PoissonSampling=True)(
        GaussianMechanism(sigma=sigma), rate, improved_bound_flag=True
    )
    return f"{float(Composition()([sampled], [steps]).get_approxDP(DELTA)):.7g}"


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
