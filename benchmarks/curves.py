"""What a whole curve costs beside a single answer, in processor time."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import bursar as b

POINTS = 200
CASES = {
    "poisson(gaussian(sigma=1), rate=0.01)*10000": 4.0,
    "poisson(gaussian(sigma=0.8), rate=0.001)*100000": 2.0,
    "gaussian(sigma=20)*100": 1.5,
    "gaussian(sigma=20)*100 + laplace(scale=100)*5": 1.5,
    "poisson(laplace(scale=2), rate=0.01)*1000": 1.0,
    "poisson(gaussian(sigma=1), rate=0.01)*1000 + poisson(gaussian(sigma=2), rate=0.02)*1000": 1.0,
}


def processor_time(run: Callable[[], object], repeats: int = 12) -> float:
    """The least processor time of a call."""
    run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def curves() -> list[str]:
    """δ at 200 ε's, from 0 to where it is 1e-12, against δ at one of them, everything made anew each time."""
    rows = [
        f"| composition | δ at one ε | δ at {POINTS} ε's | single answers' worth | widest, relative |",
        "|---|---|---|---|---|",
    ]
    for text, epsilon in CASES.items():
        grid = np.linspace(0.0, b.account(b.parse(text), delta="1e-12").epsilon.upper, POINTS)
        single = processor_time(lambda text=text, epsilon=epsilon: b.account(b.parse(text), epsilon=epsilon))
        whole = processor_time(lambda text=text, grid=grid: b.profile(b.parse(text), grid))
        found = b.profile(b.parse(text), grid)
        width = float(np.max((found.upper - found.lower) / found.upper))
        rows.append(f"| `{text}` | {1e3 * single:.1f} ms | {1e3 * whole:.1f} ms | {whole / single:.1f} | {width:.0e} |")
    return rows
