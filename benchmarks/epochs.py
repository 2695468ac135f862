"""Benchmarks of whole epochs: random allocation, its time over the number of steps and of epochs."""

from __future__ import annotations

import time

import bursar as b
from bursar.losses.allocation.sides import forget

_STEPS = (100, 1_000, 10_000, 100_000)
_EPOCHS = (1, 10, 100)


def epochs() -> list[str]:
    """ε of each number of steps and epochs, the first time they are asked and once the law is known."""
    rows = ["| steps, epochs | ε, certified | relative width | first time | again |", "|---|---|---|---|---|"]
    for steps in _STEPS:
        for count in _EPOCHS:
            what = b.Allocated(b.Gaussian(sigma=1), steps=steps) * count
            times = []
            forget()
            for _ in range(2):
                start = time.process_time()
                bound = b.account(what, delta=1e-6).epsilon
                times.append(time.process_time() - start)
            width = (bound.upper - bound.lower) / bound.upper
            cells = f"[{bound.lower:.8g}, {bound.upper:.8g}] | {width:.0e} | {times[0]:.2f} s | {times[1]:.2f} s"
            rows.append(f"| {steps}, {count} | {cells} |")
    return rows
