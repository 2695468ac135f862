"""Benchmarks, as ratios in one run: `make bench` writes RESULTS.md beside this file."""

from __future__ import annotations

import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import bursar as b
from bursar.theorems import THEOREMS

HERE = Path(__file__).parent


def seconds(run: Callable[[], object], repeats: int = 9) -> float:
    """The median time of a call, after one that warms up."""
    run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def ten_distinct() -> b.Composition:
    """Ten distinct mechanisms, made anew so that nothing is remembered."""
    parts = [b.Gaussian(sigma=20 + i) * (i + 1) for i in range(4)]
    parts += [b.Laplace(scale=10 + i) * 2 for i in range(3)]
    parts += [b.RandomizedResponse(epsilon=f"0.0{i}") for i in (1, 2)]
    return sum(parts, b.DiscreteLaplace(scale=20) * 1)


CLOSED = [theorem.id for theorem in THEOREMS if theorem.id != "numerical"]


def closed_forms() -> list[str]:
    """How long an account of closed forms takes."""
    rows = ["| what | time |", "|---|---|"]
    cases = {
        "account of ten distinct mechanisms": lambda: b.account(ten_distinct(), delta=1e-6),
        "the same, closed forms only": lambda: b.account(ten_distinct(), delta=1e-6, theorems=CLOSED),
        "account of 100 randomized responses": lambda: b.account(b.RandomizedResponse(epsilon=0.1) * 100, delta=1e-6),
        "account of ten distinct randomized responses": lambda: b.account(
            sum((b.RandomizedResponse(epsilon=f"0.{i}1") * 1 for i in range(1, 11)), b.Composition()), delta=1e-6
        ),
    }
    for name, run in cases.items():
        rows.append(f"| {name} | {1e3 * seconds(run):.2f} ms |")
    return rows


TRAINING = [("0.01", "1", 10_000), ("0.001", "0.8", 100_000), (str(256 / 60000), "1.1", 14_040)]


def training() -> list[str]:
    """Private training against the PLD accountant of dp_accounting at its default, in the same run."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    def peer(rate: float, sigma: float, steps: int) -> float:
        accountant = PLDAccountant()
        event = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma))
        accountant.compose(dp_accounting.SelfComposedDpEvent(event, steps))
        return float(accountant.get_epsilon(1e-6))

    rows = ["| rate, σ, steps | ε, certified | peer's ε | account | peer | ratio |", "|---|---|---|---|---|---|"]
    for rate, sigma, steps in TRAINING:

        def ours(rate: str = rate, sigma: str = sigma, steps: int = steps) -> b.Report:
            return b.account(b.PoissonSampled(b.Gaussian(float(sigma)), float(rate)) * steps, delta=1e-6)

        bound, theirs = ours().epsilon, peer(float(rate), float(sigma), steps)
        mine = seconds(ours)
        other = seconds(lambda q=rate, s=sigma, n=steps: peer(float(q), float(s), n), repeats=3)
        cells = f"[{bound.lower:.9f}, {bound.upper:.9f}] | {theirs:.6f} | {1e3 * mine:.1f} ms | {1e3 * other:.0f} ms"
        rows.append(f"| {float(rate):.4g}, {sigma}, {steps} | {cells} | {other / mine:.0f}× |")
    return rows


def main() -> None:
    """Run everything and write the page."""
    page = ["# Benchmark results", "", f"{platform.machine()}, Python {sys.version.split()[0]}, one core.", ""]
    page += ["## Closed forms", "", *closed_forms(), ""]
    page += ["## Private training, δ = 1e-6", "", *training(), ""]
    text = "\n".join(page)
    (HERE / "RESULTS.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
