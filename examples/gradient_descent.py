"""Private gradient descent: how well does a classifier do after T noisy steps under one budget?

Each step releases the sum of the examples' gradients, each clipped to norm 1. Run it:
``python examples/gradient_descent.py descent.svg``.
"""

from __future__ import annotations

import sys

import numpy as np
from private_steps import budget, draw, table, tell

import bursar as b

COUNTS = (1, 2, 4, 8, 16, 32, 64)


def examples(number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features, and labels ±1 that a hidden direction decides, nearly."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(number, 10))
    hidden = np.array([2.0, -1.5, 1.0, -0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    return features, np.sign(features @ hidden + rng.normal(0, 0.5, number))


def descent(
    way: str, steps: int, *, number: int = 2000, epsilon: float = 1.0, delta: float = 1e-6, seed: int = 0
) -> float:
    """The share of fresh examples that the private classifier gets right."""
    features, labels = examples(number, seed)
    weights = np.zeros(features.shape[1])
    with b.Ledger("memory://", alert=None) as ledger:
        paid = budget(ledger, f"descent-{way}", way, steps, epsilon=epsilon, delta=delta, norm=1.0)
        for _ in range(steps):
            share = 1 / (1 + np.exp(labels * (features @ weights)))
            gradients = (labels * share)[:, None] * features
            gradients /= np.maximum(np.linalg.norm(gradients, axis=1, keepdims=True), 1)
            weights = weights + 4 / np.sqrt(steps) * np.array(paid.step(gradients.sum(axis=0))) / number
    fresh, truth = examples(4000, seed + 1000)
    return float(np.mean(np.sign(fresh @ weights) == truth))


def main(path: str) -> dict[str, list[float]]:
    """The table and the picture."""
    scores = table(lambda way, steps: float(np.mean([descent(way, steps, seed=seed) for seed in range(5)])), COUNTS)
    draw(scores, COUNTS, "Private gradient descent at (1, 1e-6): what does composition buy?", "accuracy", path)
    return scores


if __name__ == "__main__":
    to = sys.argv[1] if len(sys.argv) > 1 else "descent.svg"
    tell(main(to), COUNTS, "accuracy on fresh examples (larger is better)", to)
