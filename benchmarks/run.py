"""Benchmarks, as ratios in one run: `make bench` writes RESULTS.md beside this file."""

from __future__ import annotations

import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import bursar as b

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


def closed_forms() -> list[str]:
    """How long an account of closed forms takes."""
    rows = ["| what | time |", "|---|---|"]
    cases = {
        "account of ten distinct mechanisms": lambda: b.account(ten_distinct(), delta=1e-6),
        "account of 100 randomized responses": lambda: b.account(b.RandomizedResponse(epsilon=0.1) * 100, delta=1e-6),
        "account of ten distinct randomized responses": lambda: b.account(
            sum((b.RandomizedResponse(epsilon=f"0.{i}1") * 1 for i in range(1, 11)), b.Composition()), delta=1e-6
        ),
    }
    for name, run in cases.items():
        rows.append(f"| {name} | {1e3 * seconds(run):.2f} ms |")
    return rows


def main() -> None:
    """Run everything and write the page."""
    page = ["# Benchmark results", "", f"{platform.machine()}, Python {sys.version.split()[0]}, one core.", ""]
    page += ["## Closed forms", "", *closed_forms(), ""]
    text = "\n".join(page)
    (HERE / "RESULTS.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
