"""The curves of a composition: ε against δ, the profile, and what it means to an attacker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bursar.composition import Composition, as_composition
from bursar.jobs.account import account
from bursar.jobs.curve import profile
from bursar.mechanisms import Mechanism
from bursar.plot._style import QUIET, STYLES, framed, label, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def epsilon_figure(what: Composition | Mechanism, *, smallest: float = 1e-12) -> Figure:
    """ε against δ, with both certified ends."""
    composition = as_composition(what)
    deltas = np.geomspace(smallest, 0.1, 25).tolist()
    bounds = [account(composition, delta=delta).epsilon for delta in deltas]
    figure, axes = framed(f"Which (ε, δ) does {_short(composition)} meet?", "δ", "ε", xscale="log")
    upper = [bound.upper for bound in bounds]
    axes.fill_between(deltas, [bound.lower for bound in bounds], upper, color="#56B4E9", alpha=0.4)
    axes.plot(deltas, upper, color=STYLES[0][0], label="certified upper end; the shade reaches to the lower end")
    axes.legend(frameon=False)
    return figure


def profile_figure(what: Composition | Mechanism) -> Figure:
    """Left the profile δ(ε); right the trade-off between an attacker's errors, with the reading at one percent."""
    composition = as_composition(what)
    curve = profile(composition)
    figure, (left, right) = panels(f"What does {_short(composition)} reveal, and what can an attacker do with it?", 2)
    floor = 1e-12
    left.plot(curve.epsilons, np.maximum(curve.upper, floor), color=STYLES[0][0], label="δ, upper end")
    left.plot(curve.epsilons, np.maximum(curve.lower, floor), color=STYLES[1][0], linestyle="--", label="δ, lower end")
    label(left, "ε", "δ(ε)", yscale="log")
    left.legend(frameon=False)
    rates = np.linspace(0.0, 1.0, 101)
    band = curve.trade_off(rates.tolist())
    right.fill_between(rates, band.lower, band.upper, color="#56B4E9", alpha=0.5)
    right.plot(rates, band.lower, color=STYLES[0][0], label="least false-negative rate of any attack")
    right.plot(rates, 1 - rates, color=QUIET, linestyle=":", label="blind guessing")
    caught = curve.true_positive_rate(0.01)
    right.annotate(
        f"at 1 % false alarms at most {100 * float(caught.upper):.3g} % are found out",
        (0.01, 1 - float(caught.upper)),
        (0.22, 0.82),
        arrowprops={"arrowstyle": "->", "color": STYLES[4][0]},
        color=STYLES[4][0],
    )
    label(right, "false-positive rate", "false-negative rate")
    right.legend(frameon=False, loc="upper right")
    return figure


def _short(composition: Composition) -> str:
    text = composition.text()
    return text if len(text) <= 60 else f"{text[:57]}…"
