"""The privacy-loss distribution of a composition, drawn from samples: a picture, never a bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bursar.composition import Composition, as_composition
from bursar.jobs.account import account
from bursar.losses import Loss
from bursar.mechanisms import Mechanism
from bursar.plot._style import STYLES, framed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SAMPLES = 40_000
_DRAWN = 200  # of one term; more copies than this add up to nearly a normal law


def loss_figure(what: Composition | Mechanism, *, delta: float = 1e-6, seed: int = 1) -> Figure:
    """A histogram of the total loss, with ε at δ; `LossUnknown` where a release shows no losses."""
    composition = as_composition(what)
    rng = np.random.default_rng(seed)
    total = np.zeros(_SAMPLES)
    for mechanism, count in composition.terms:
        total += _drawn(mechanism.losses().remove, count, rng)
    finite = total[np.isfinite(total)]
    figure, axes = framed(
        f"How is the privacy loss of {len(composition)} releases distributed?", "privacy loss", "share of the outcomes"
    )
    axes.hist(finite, bins=120, weights=np.full(len(finite), 1 / _SAMPLES), color="#56B4E9")
    upper = account(composition, delta=delta).epsilon.upper
    if upper < float("inf"):
        axes.axvline(upper, color=STYLES[0][0], linestyle="--", label=f"ε at δ = {delta}: {upper:.4g}")
    axes.axvline(float(finite.mean()), color=STYLES[1][0], linestyle=":", label=f"mean {float(finite.mean()):.4g}")
    axes.legend(frameon=False)
    return figure


def _drawn(loss: Loss, count: int, rng: np.random.Generator) -> Any:
    """The sum of so many losses: drawn one by one, or, of very many, nearly normal."""
    if count <= _DRAWN:
        return sum((loss.sample(rng, _SAMPLES) for _ in range(count)), np.zeros(_SAMPLES))
    mean, variance = float(loss.mean()), float(loss.variance())
    return rng.normal(count * mean, np.sqrt(count * variance), _SAMPLES)
