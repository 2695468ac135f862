"""Benchmarks, as ratios in one run: `make bench` writes RESULTS.md beside this file."""

from __future__ import annotations

import gc
import os
import time
import traceback
from collections.abc import Callable
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import curves  # noqa: E402
import epochs  # noqa: E402
import hostile  # noqa: E402
import peers  # noqa: E402
import plans  # noqa: E402
import questions  # noqa: E402
import schemes  # noqa: E402
import stamp  # noqa: E402
import startup  # noqa: E402

import bursar as b  # noqa: E402
import cohorts  # noqa: E402
import ledger  # noqa: E402
import service  # noqa: E402
from bursar.theorems import THEOREMS  # noqa: E402

HERE = Path(__file__).parent


def seconds(run: Callable[[], object], repeats: int = 15) -> float:
    """The least time of a call, after one that warms up, with the garbage collector off, as timeit does it."""
    run()
    times = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeats):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
    finally:
        gc.enable()
    return min(times)


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
        mine = seconds(ours, repeats=60)
        other = seconds(lambda q=rate, s=sigma, n=steps: peer(float(q), float(s), n), repeats=4)
        cells = f"[{bound.lower:.9f}, {bound.upper:.9f}] | {theirs:.6f} | {1e3 * mine:.1f} ms | {1e3 * other:.0f} ms"
        rows.append(f"| {float(rate):.4g}, {sigma}, {steps} | {cells} | {other / mine:.0f}× |")
    return rows


def against_prv() -> list[str]:
    """The same against prv_accountant at eps_error 0.01."""
    from prv_accountant.dpsgd import DPSGDAccountant

    rows = ["| rate, σ, steps | ε, certified | peer's interval | account | peer | ratio |", "|---|---|---|---|---|---|"]
    for rate, sigma, steps in TRAINING:

        def ours(rate: str = rate, sigma: str = sigma, steps: int = steps) -> b.Report:
            return b.account(b.PoissonSampled(b.Gaussian(float(sigma)), float(rate)) * steps, delta=1e-6)

        def peer(rate: str = rate, sigma: str = sigma, steps: int = steps) -> tuple[float, float, float]:
            accountant = DPSGDAccountant(float(sigma), float(rate), steps, eps_error=0.01, delta_error=1e-9)
            return accountant.compute_epsilon(1e-6, steps)

        bound, mine = ours().epsilon, seconds(ours, repeats=60)
        low, _, high = peer()
        other = seconds(peer, repeats=2)
        cells = f"[{bound.lower:.9f}, {bound.upper:.9f}] | [{low:.4f}, {high:.4f}] | {1e3 * mine:.1f} ms"
        rows.append(f"| {float(rate):.4g}, {sigma}, {steps} | {cells} | {1e3 * other:.0f} ms | {other / mine:.0f}× |")
    return rows


def counts() -> list[str]:
    """One setting from a thousand to a billion steps."""
    rows = ["| steps | ε, certified | account |", "|---|---|---|"]
    for power in range(3, 10):

        def run(steps: int = 10**power) -> b.Report:
            return b.account(b.PoissonSampled(b.Gaussian(1.0), 0.01) * steps, delta=1e-6)

        bound = run().epsilon
        rows.append(f"| 1e{power} | [{bound.lower:.8g}, {bound.upper:.8g}] | {1e3 * seconds(run):.1f} ms |")
    return rows


HARD = {
    "prv#17: rate .00033, σ = 4, 10⁴ steps, δ = 1.13e-18": (
        "poisson(gaussian(sigma=4), rate=0.00033)*10000",
        "1.13e-18",
    ),
    "prv#36: rate .125, σ = .8, 1000 steps, δ = 1e-6": ("poisson(gaussian(sigma=0.8), rate=0.125)*1000", "1e-6"),
    "ε near 1000: rate .01, σ = 1, 10⁷ steps": ("poisson(gaussian(sigma=1), rate=0.01)*10000000", "1e-6"),
    "δ = 1e-300: a hundred Gaussians": ("gaussian(sigma=10)*100", "1e-300"),
    "two scales: rate .001, σ = 1, 1000 steps": ("poisson(gaussian(sigma=1), rate=0.001)*1000", "1e-6"),
    "rate 1e-6, σ = .3, 10⁹ steps, δ = 1e-9": ("poisson(gaussian(sigma=0.3), rate=1e-6)*1000000000", "1e-9"),
    "100 Gaussians + 100 Laplaces, all different": (
        " + ".join(
            [f"gaussian(sigma={10 + i}/1)" for i in range(100)] + [f"laplace(scale={20 + i})" for i in range(100)]
        ),
        "1e-6",
    ),
    "1000 different sampled Gaussians": (
        " + ".join(f"poisson(gaussian(sigma={1 + i / 1000:.3f}), rate=0.01)" for i in range(1000)),
        "1e-6",
    ),
    "1000 different pure ε's": (
        " + ".join(f"randomized_response(epsilon={(100 + i) / 10000})" for i in range(1000)),
        "1e-6",
    ),
}


def hard_cases() -> list[str]:
    """Settings on which peers fail, or that are large: the numerical theorem alone."""
    rows = ["| what | ε, certified | relative width | time |", "|---|---|---|---|"]
    for name, (text, delta) in HARD.items():
        what = b.parse(text)
        start = time.perf_counter()
        bound = b.account(what, delta=delta, theorems=["numerical"]).epsilon
        took = time.perf_counter() - start
        width = (bound.upper - bound.lower) / bound.upper
        rows.append(f"| {name} | [{bound.lower:.8g}, {bound.upper:.8g}] | {width:.0e} | {took:.3f} s |")
    return rows


SECTIONS: dict[str, Callable[[], list[str]]] = {
    "From a shell": startup.startup,
    "Closed forms": closed_forms,
    "Private training against dp_accounting's PLD accountant at its default, δ = 1e-6": training,
    "Private training against prv_accountant at eps_error 0.01, δ = 1e-6": against_prv,
    **peers.SECTIONS,
    "Time against the number of steps: rate .01, σ = 1, δ = 1e-6": counts,
    "Hard and large": hard_cases,
    "Random questions over every family": questions.questions,
    "Curves": curves.curves,
    "Random allocation: σ = 1, δ = 1e-6, one step of so many an epoch (processor time)": epochs.epochs,
    **plans.SECTIONS,
    **ledger.SECTIONS,
    "Ledger: prices of sampling schemes (processor time)": schemes.prices,
    "Cohorts: many blocks, many people": cohorts.rows,
    "Service: one client and sixty-four": service.service,
    "Service: beside six hostile tokens": hostile.hostile,
}


def _rows(run: Callable[[], list[str]]) -> list[str]:
    """A section, or why there is none: the others took long, and are kept."""
    try:
        return run()
    except Exception as problem:
        traceback.print_exc()
        return [f"Did not run: {type(problem).__name__}."]


def main() -> None:
    """Run everything and write the page."""
    page = [
        "# Benchmark results",
        "",
        f"Run: {stamp.run()}.",
        "",
        "One core (threads of numpy and flint held to one); times are the least of several runs.",
        "",
    ]
    took = []
    for title, run in SECTIONS.items():
        begun = time.perf_counter()
        page += [f"## {title}", "", *_rows(run), ""]
        took.append(f"| {title} | {time.perf_counter() - begun:.0f} s |")
        print(took[-1], flush=True)
    page += ["## How long each of these took", "", "| section | wall time |", "|---|---|", *took, ""]
    text = "\n".join(page)
    (HERE / "RESULTS.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
