"""What both examples share: the noise that T steps need under three ways of accounting, and noise by OpenDP.

A step releases a vector that one person moves by at most ``norm``, with Gaussian noise of σ·norm. Under one budget:

    basic       each step gets (ε/T, δ/T), and the T steps add up
    strong      each step gets the (ε₀, δ₀) whose T-fold strong composition is (ε, δ)
    numerical   the T Gaussians are composed as what they are
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import opendp.prelude as dp

import bursar as b
from bursar.plot._style import STYLES, framed
from bursar.presented import columns

dp.enable_features("contrib")
WAYS = ("basic", "strong", "numerical")


def noise(way: str, steps: int, epsilon: float, delta: float) -> float:
    """The σ of one step."""
    if way == "numerical":
        return float(b.plan(f"gaussian(sigma=?)*{steps}", epsilon=epsilon, delta=delta).value)
    if way == "basic":
        each, small = epsilon / steps, delta / steps
    else:
        small = delta / (2 * steps)
        each = _strong_share(steps, epsilon, delta, small)
    return float(b.plan("gaussian(sigma=?)", epsilon=each, delta=small).value)


def _strong_share(steps: int, epsilon: float, delta: float, small: float) -> float:
    """The largest ε₀ whose strong composition stays within the target, by halving."""
    low, high = epsilon / steps, epsilon
    for _ in range(40):
        middle = (low + high) / 2
        part = b.Declared(b.ApproxDP(middle, small)) * steps
        asked = ["strong", "basic"] if steps > 1 else ["basic"]
        fits = b.account(part, delta=delta, theorems=asked).epsilon.upper <= epsilon
        low, high = (middle, high) if fits else (low, middle)
    return low


def noisy(vector: Sequence[float], sigma: float, norm: float) -> list[float]:
    """The vector with OpenDP's Gaussian noise."""
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=len(vector)), dp.l2_distance(T=float)
    measurement = dp.m.make_gaussian(*space, scale=sigma * norm)
    return list(measurement(list(map(float, vector))))


@dataclass
class Budget:
    """A ledger's scope that pays for the steps of one run."""

    ledger: b.Ledger
    scope: str
    sigma: float
    norm: float
    taken: int = 0

    def step(self, vector: Sequence[float]) -> list[float]:
        """Charge the step, durably, then release the vector."""
        key = f"{self.scope}/{self.taken}"
        self.taken += 1
        return self.ledger.run(
            self.scope, b.Gaussian(sigma=self.sigma), lambda: noisy(vector, self.sigma, self.norm), key=key
        )


def budget(ledger: b.Ledger, name: str, way: str, steps: int, *, epsilon: float, delta: float, norm: float) -> Budget:
    """A scope of (ε, δ) and the noise of its steps; a little δ is kept for the ledger's own certificates."""
    # nothing but Gaussians is charged here: all of δ is for them
    ledger.open(name, epsilon=epsilon, delta=delta, leak=delta / 1000, splits=[("0", "1")])
    return Budget(ledger, name, noise(way, steps, epsilon, delta * 0.998), norm)


def table(run: Callable[[str, int], float], counts: Sequence[int]) -> dict[str, list[float]]:
    """A score for each way and number of steps."""
    return {way: [run(way, steps) for steps in counts] for way in WAYS}


def draw(scores: dict[str, list[float]], counts: Sequence[int], title: str, score: str, path: str) -> None:
    """The picture: what composition buys, in the colours of every other picture."""
    figure, axes = framed(title, "steps, under one budget", score)
    for way in WAYS:
        axes.plot(counts, scores[way], label=f"{way} accounting", **STYLES[way].drawn())
    axes.set_xscale("log", base=2)
    axes.legend(frameon=False)
    figure.alt = f"{title} {score} against steps, by three ways of accounting."
    figure.savefig(path)


def tell(scores: dict[str, list[float]], counts: Sequence[int], score: str, path: str) -> None:
    """The table, and which file was written."""
    print(f"{score} after so many steps under one budget, by how the steps are accounted\n")
    rows = [[way, *(f"{value:.4f}" for value in row)] for way, row in scores.items()]
    print(columns(["accounting", *(f"{count} steps" if count > 1 else "1 step" for count in counts)], rows))
    print(f"\nwrote {path}")
