"""Off the main road, against peers in the same run: the parameters that are printed are those that ran."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from curves import processor_time

import bursar as b

TRAINING = [(0.01, 1.0, 10_000), (0.001, 0.8, 100_000), (256 / 60000, 1.1, 14_040)]
DELTA = 1e-6


@dataclass(frozen=True)
class Row:
    """One line of the table: what both sides count, and the ratio that is asked."""

    what: str
    peer: str
    asked: str
    ours: Callable[[], b.Report]
    theirs: Callable[[], float]
    repeats: int = 5


def pld(events: list[object], *, interval: float = 1e-4, replace: bool = False) -> float:
    """ε by dp_accounting's PLD accountant."""
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld import PLDAccountant

    relation = NeighboringRelation.REPLACE_ONE if replace else NeighboringRelation.ADD_OR_REMOVE_ONE
    accountant = PLDAccountant(relation, value_discretization_interval=interval)
    for event in events:
        accountant.compose(event)
    return float(accountant.get_epsilon(DELTA))


def step(rate: float, sigma: float, steps: int = 1) -> object:
    """Sampled Gaussians as an event of dp_accounting's."""
    import dp_accounting as dp

    one = dp.PoissonSampledDpEvent(rate, dp.GaussianDpEvent(sigma))
    return dp.SelfComposedDpEvent(one, steps) if steps > 1 else one


def training_rows() -> list[Row]:
    """The three training cases: both relations, two grids, and Rényi accountants."""
    rows = []
    for rate, sigma, steps in TRAINING:
        said = f"rate {rate:.4g}, σ {sigma}, {steps} steps"

        def plain(rate: float = rate, sigma: float = sigma, steps: int = steps) -> b.Report:
            return b.account(b.PoissonSampled(b.Gaussian(sigma), rate) * steps, delta=DELTA)

        def replaced(rate: float = rate, sigma: float = sigma, steps: int = steps) -> b.Report:
            # their σ is relative to a record's norm, and replacing moves twice as far
            noise = b.Gaussian(sigma / 2, relation="replace_one")
            return b.account(b.PoissonSampled(noise, rate) * steps, delta=DELTA)

        def default(rate: float = rate, sigma: float = sigma, steps: int = steps) -> float:
            return pld([step(rate, sigma, steps)])

        def coarse(rate: float = rate, sigma: float = sigma, steps: int = steps) -> float:
            return pld([step(rate, sigma, steps)], interval=1e-3)

        def other(rate: float = rate, sigma: float = sigma, steps: int = steps) -> float:
            return pld([step(rate, sigma, steps)], replace=True)

        def rdp(rate: float = rate, sigma: float = sigma, steps: int = steps) -> float:
            from dp_accounting.rdp import RdpAccountant

            return float(RdpAccountant().compose(step(rate, sigma, steps)).get_epsilon(DELTA))

        def opacus(rate: float = rate, sigma: float = sigma, steps: int = steps) -> float:
            from opacus.accountants import RDPAccountant

            accountant = RDPAccountant()
            accountant.history = [(sigma, rate, steps)]
            return float(accountant.get_epsilon(DELTA))

        rows += [
            Row(said, "dp_accounting PLD, default", "100", plain, default, 8),
            Row(said, "dp_accounting PLD, 1e-3 grid", "25", plain, coarse, 8),
            Row(f"{said}, replace-one", "dp_accounting PLD, default", "10", replaced, other, 8),
            Row(said, "dp_accounting RDP", "1", plain, rdp, 8),
            Row(said, "opacus RDP", "1", plain, opacus, 8),
        ]
    return rows


def drawn(n: int) -> list[tuple[float, float]]:
    """Rates and σ's of n different sampled steps."""
    rng = random.Random(7)
    return [(round(rng.uniform(0.001, 0.05), 5), round(rng.uniform(0.8, 3), 4)) for _ in range(n)]


def distinct_rows() -> list[Row]:
    """Different single steps, different Laplaces, and both with Gaussians."""
    import dp_accounting as dp

    rows = []
    for n in (2, 10, 100):
        steps = drawn(n)

        def ours(steps: list[tuple[float, float]] = steps) -> b.Report:
            parts = (b.PoissonSampled(b.Gaussian(s), q) for q, s in steps)
            return b.account(sum(parts, b.Composition()), delta=DELTA)

        def theirs(steps: list[tuple[float, float]] = steps) -> float:
            return pld([step(q, s) for q, s in steps])

        rows.append(Row(f"{n} different sampled steps", "dp_accounting PLD, default", "10", ours, theirs, 2))
    scales = [20.0 + i for i in range(200)]
    rows.append(
        Row(
            "200 different Laplaces, scales 20 to 219",
            "dp_accounting PLD, default",
            "10",
            lambda: b.account(sum((b.Laplace(scale) for scale in scales), b.Composition()), delta=DELTA),
            lambda: pld([dp.LaplaceDpEvent(scale) for scale in scales]),
            3,
        )
    )
    both = [10.0 + i for i in range(100)]
    rows.append(
        Row(
            "100 Gaussians, σ 10 to 109, and 100 Laplaces, scales 20 to 119",
            "dp_accounting PLD, default",
            "10",
            lambda: b.account(
                sum((b.Gaussian(s) for s in both), b.Composition())
                + sum((b.Laplace(s + 10) for s in both), b.Composition()),
                delta=DELTA,
            ),
            lambda: pld([dp.GaussianDpEvent(s) for s in both] + [dp.LaplaceDpEvent(s + 10) for s in both]),
            3,
        )
    )
    return rows


def scheme_rows() -> list[Row]:
    """Mixtures of Gaussians and truncated batches, which dp_accounting composes too."""
    import dp_accounting as dp

    shifts, weights = [0.0, 1.0, 2.0], [0.81, 0.18, 0.01]
    many = dp.SelfComposedDpEvent(dp.dp_event.MixtureOfGaussiansDpEvent(1.0, shifts, weights), 100)
    cut = dp.dp_event.TruncatedSubsampledGaussianDpEvent(10_000, 0.01, 120, 1.0)
    return [
        Row(
            "100 mixtures of Gaussians, shifts 0, 1, 2, weights .81, .18, .01, σ 1",
            "dp_accounting PLD, default",
            "20",
            lambda: b.account(b.GaussianMixture(1, shifts=shifts, weights=weights) * 100, delta=DELTA),
            lambda: pld([many]),
            1,
        ),
        Row(
            "1000 truncated batches of at most 120 of 10 000, rate .01, σ 1",
            "dp_accounting PLD, default",
            "20",
            lambda: b.account(
                b.TruncatedPoisson(b.Gaussian(1), "0.01", most=120, population=10_000) * 1000, delta=DELTA
            ),
            lambda: pld([dp.SelfComposedDpEvent(cut, 1000)]),
            2,
        ),
    ]


def mixed(n: int) -> tuple[b.Composition, Callable[[], float]]:
    """n different mechanisms, a third of them sampled Gaussians, the others Gaussians and Laplaces."""
    import dp_accounting as dp

    rng = random.Random(11)
    parts: list[b.Mechanism] = []
    events: list[object] = []
    for i in range(n):
        noise = round(rng.uniform(30, 90) * (n / 1000) ** 0.5, 5)
        if i % 3 == 0:
            sigma, rate = round(rng.uniform(0.8, 3), 5), round(rng.uniform(0.0005, 0.005), 6)
            parts.append(b.PoissonSampled(b.Gaussian(sigma), rate))
            events.append(step(rate, sigma))
        elif i % 3 == 1:
            parts.append(b.Gaussian(noise))
            events.append(dp.GaussianDpEvent(noise))
        else:
            parts.append(b.Laplace(noise))
            events.append(dp.LaplaceDpEvent(noise))
    return sum(parts, b.Composition()), lambda: pld(events)


def off_road() -> list[str]:
    """The table of ratios; a peer that is not installed is said to be missing."""
    rows = [
        "| what | ε, certified | peer | peer's ε | account | peer's time | ratio | asked |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in [*training_rows(), *distinct_rows(), *scheme_rows()]:
        bound = row.ours().epsilon
        mine = processor_time(row.ours, row.repeats)
        found = f"| {row.what} | [{bound.lower:.9g}, {bound.upper:.9g}] | {row.peer} |"
        try:
            value = row.theirs()
            other = processor_time(row.theirs, 2)
        except ImportError as missing:
            rows.append(f"{found} not installed: {missing.name} | {1e3 * mine:.1f} ms | | | {row.asked}× |")
            continue
        rows.append(
            f"{found} {value:.6f} | {1e3 * mine:.1f} ms | {1e3 * other:.0f} ms | {other / mine:.0f}× | {row.asked}× |"
        )
    return rows


def counted(n: int, repeats: int) -> tuple[b.Report, float]:
    """An account of n different mechanisms at width 1e-4, and its least processor time. They are made anew for each
    run, since what they remember would make the next one quicker.
    """
    times = []
    for _ in range(repeats):
        what = mixed(n)[0]
        start = time.process_time()
        report = b.account(what, delta=DELTA, width=1e-4)
        times.append(time.process_time() - start)
    return report, min(times)


def many_kinds() -> list[str]:
    """A thousand different mechanisms of mixed kinds, and ten thousand, at width 1e-4."""
    rows = ["| what | ε, certified | account | against | asked |", "|---|---|---|---|---|"]
    theirs = mixed(1000)[1]
    report, mine = counted(1000, 4)
    bound = report.epsilon
    start = time.process_time()
    value = theirs()
    other = time.process_time() - start
    cells = f"[{bound.lower:.7g}, {bound.upper:.7g}] | {1e3 * mine:.0f} ms"
    said = f"dp_accounting PLD, default: {value:.6f} in {other:.1f} s, {other / mine:.0f}×"
    rows.append(f"| 1000 different mechanisms, a third sampled | {cells} | {said} | 20× |")
    report, took = counted(10_000, 2)
    bound = report.epsilon
    cells = f"[{bound.lower:.7g}, {bound.upper:.7g}] | {1e3 * took:.0f} ms"
    rows.append(f"| 10 000 of them | {cells} | {took / mine:.1f} times the thousand | at most 12 |")
    return rows


SECTIONS: dict[str, Callable[[], list[str]]] = {
    "Off the main road, δ = 1e-6, processor time": off_road,
    "Many different mechanisms": many_kinds,
}
