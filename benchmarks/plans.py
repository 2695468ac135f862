"""Plans of private training: one against a peer's calibration, and ten thousand against those made one by one. All
ratios are of one run, in processor time, and the parameters printed are those that ran.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import numpy as np
from curves import processor_time

import bursar as b

TARGETS = [(0.01, 10_000, 1.0), (0.004, 14_040, 3.0), (0.02, 5_000, 2.0)]
DELTA = 1e-6
RATES = [float(f"{rate:.4g}") for rate in np.geomspace(0.005, 0.05, 100)]
STEPS = [round(float(steps)) for steps in np.geomspace(1_000, 50_000, 100)]
EPSILON = 2.0
ALONE = 200


def made(sigma: float, setting: tuple[float, int]) -> b.Composition:
    """DP-SGD: so many steps at a rate."""
    return b.PoissonSampled(b.Gaussian(sigma), setting[0]) * setting[1]


def planned(setting: tuple[float, int], epsilon: float) -> b.Plan:
    """The least σ, by a plan of its own."""
    return b.plan(lambda sigma: made(sigma, setting), epsilon=epsilon, delta=DELTA)


def calibration(rate: float, steps: int, epsilon: float) -> float:
    """The σ of dp_accounting's calibration, with its PLD accountant at its default."""
    import dp_accounting as dp

    def event(sigma: float) -> object:
        return dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(rate, dp.GaussianDpEvent(sigma)), steps)

    return float(dp.calibrate_dp_mechanism(dp.pld.PLDAccountant, event, epsilon, DELTA))


def planning() -> list[str]:
    """One plan at a time, against the peer's calibration."""
    rows = [
        "| rate, steps, ε | σ | its neighbour, which fails | peer's σ | plan | peer | ratio | asked |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for rate, steps, epsilon in TARGETS:
        found = planned((rate, steps), epsilon)
        mine = processor_time(lambda q=rate, n=steps, e=epsilon: planned((q, n), e), 30)
        theirs = calibration(rate, steps, epsilon)
        other = processor_time(lambda q=rate, n=steps, e=epsilon: calibration(q, n, e), 1)
        cells = f"{found.value:.9f} | {found.neighbour:.9f} | {theirs:.6f} | {1e3 * mine:.1f} ms | {1e3 * other:.0f} ms"
        rows.append(f"| {rate}, {steps}, {epsilon:g} | {cells} | {other / mine:.0f}× | 100× |")
    return rows


def sweeping() -> list[str]:
    """Ten thousand plans at once, against some of them one by one; and a grid of plain Gaussians."""
    settings = [(rate, steps) for rate in RATES for steps in STEPS]
    start = time.process_time()
    cells = b.sweep(made, epsilons=[EPSILON], deltas=[DELTA], settings=settings)
    whole = time.process_time() - start
    some = random.Random(1).sample(cells, ALONE)
    start = time.process_time()
    alone = [planned(cell.setting, EPSILON) for cell in some]
    each = (time.process_time() - start) / ALONE
    apart = max(abs(cell.value / plan.value - 1) for cell, plan in zip(some, alone, strict=True))
    grid = f"rates {RATES[0]:g} to {RATES[-1]:g}, steps {STEPS[0]} to {STEPS[-1]}, ε = {EPSILON:g}"
    rows = ["| what | time | each | ratio | asked |", "|---|---|---|---|---|"]
    rows.append(f"| {ALONE} of them, one by one | {each * ALONE:.1f} s | {1e3 * each:.2f} ms | | |")
    ratio = each * len(cells) / whole
    size = f"{1e3 * whole / len(cells):.2f} ms"
    rows.append(f"| {len(cells)} plans of training, {grid} | {whole:.1f} s | {size} | {ratio:.1f}× | 10× |")
    epsilons, deltas = [0.1 + i / 25 for i in range(100)], [10.0**-k for k in range(4, 14)]
    start = time.process_time()
    plain = len(b.sweep(lambda sigma: b.Gaussian(sigma) * 100, epsilons=epsilons, deltas=deltas))
    took = time.process_time() - start
    rows.append(f"| {plain} plans of 100 Gaussians | {took:.1f} s | {1e3 * took / plain:.1f} ms | | |")
    return [*rows, "", f"The values of the two ways differ by at most {apart:.0e} of themselves."]


SECTIONS: dict[str, Callable[[], list[str]]] = {
    "Planning: σ of private training against dp_accounting's calibration, δ = 1e-6, processor time": planning,
    "Sweeps, δ = 1e-6, processor time": sweeping,
}
