"""Private k-means (Lloyd's algorithm): how good do the centres get in T noisy steps under one budget?

Each step releases, for every cluster, how many points it has and their sum. A point of norm at most 1 moves one count
by 1 and one sum by at most 1: the whole vector by at most √2. Run it: ``python examples/kmeans.py kmeans.svg``.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from private_steps import budget, draw, table, tell

import bursar as b

CENTRES = np.array([[0.6, 0.1], [-0.5, 0.5], [-0.1, -0.7]])
COUNTS = (1, 2, 4, 8, 16, 32)
NORM = math.sqrt(2)


def points(number: int, seed: int) -> np.ndarray:
    """Three clouds in the unit disc."""
    rng = np.random.default_rng(seed)
    cloud = CENTRES[rng.integers(3, size=number)] + rng.normal(0, 0.12, (number, 2))
    return cloud / np.maximum(np.linalg.norm(cloud, axis=1, keepdims=True), 1)


def lloyd(
    way: str, steps: int, *, number: int = 3000, epsilon: float = 1.0, delta: float = 1e-6, seed: int = 0
) -> float:
    """The mean squared distance of the points to the centres that T private steps find."""
    data = points(number, seed)
    centres = np.array([[0.3, -0.3], [0.2, 0.4], [-0.4, 0.0]])
    with b.Ledger("memory://", alert=None) as ledger:
        paid = budget(ledger, f"kmeans-{way}", way, steps, epsilon=epsilon, delta=delta, norm=NORM)
        for _ in range(steps):
            nearest = np.argmin(((data[:, None] - centres) ** 2).sum(axis=2), axis=1)
            whole = np.concatenate([[(nearest == j).sum(), *data[nearest == j].sum(axis=0)] for j in range(3)])
            found = np.array(paid.step(whole)).reshape(3, 3)
            moved = found[:, 1:] / np.maximum(found[:, :1], 1)
            centres = np.where(found[:, :1] > 1, np.clip(moved, -1, 1), centres)
    return float(((data[:, None] - centres) ** 2).sum(axis=2).min(axis=1).mean())


def main(path: str) -> dict[str, list[float]]:
    """The table and the picture."""
    scores = table(lambda way, steps: float(np.mean([lloyd(way, steps, seed=seed) for seed in range(5)])), COUNTS)
    draw(scores, COUNTS, "Private k-means at (1, 1e-6): what does composition buy?", "mean squared distance", path)
    return scores


if __name__ == "__main__":
    to = sys.argv[1] if len(sys.argv) > 1 else "kmeans.svg"
    tell(main(to), COUNTS, "mean squared distance (smaller is better)", to)
