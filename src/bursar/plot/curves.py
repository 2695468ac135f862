"""The curves of a composition: ε against δ, the profile, and what it means to an attacker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bursar.composition import Composition
from bursar.jobs.account import account
from bursar.jobs.curve import Curve, profile
from bursar.jobs.report import Report
from bursar.jobs.spec import Releases, releases
from bursar.numerics.arrays import Array
from bursar.numerics.shown import shown
from bursar.numerics.validate import listed, probability
from bursar.plot._style import NAMES, PINK, QUIET, STYLES, closeness, framed, label, panels, short

if TYPE_CHECKING:
    from bursar.plot._picture import Picture

_TEXTBOOK = ("drv10", "zcdp")
_FLOOR = 1e-12


def epsilon_figure(what: Releases, *, smallest: float = 1e-12) -> Picture:
    """ε against δ with both certified ends, and beside it what a textbook's bound gives."""
    composition = releases(what)
    deltas = np.geomspace(smallest, 0.1, 25)
    reports = [account(composition, delta=delta) for delta in deltas.tolist()]
    bounds = [report.epsilon for report in reports]
    figure, axes = framed(f"Which (ε, δ) does {short(composition.text())} meet?", "δ", "ε", xscale="log")
    lower, upper = (np.array([getattr(bound, end) for bound in bounds]) for end in ("lower", "upper"))
    _band(axes, deltas, upper, lower, f"ε, {closeness(lower, upper)}")
    beside = _textbook(axes, deltas, reports, composition)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    first, last = (shown(float(upper[place]), up=True, digits=4) for place in (0, -1))
    ends = f"from {last} at δ = 0.1 to {first} at δ = {smallest:g}"
    figure.alt = f"ε against δ for {short(composition.text())}: {ends}{beside}."
    return figure


def _band(axes: Any, x: Array, safe: Array, other: Array, name: str) -> None:
    """Both proved ends with what lies between them; the safe one is the broader line."""
    style = STYLES["proved"]
    axes.fill_between(x, safe, other, color=style.colour, alpha=0.25, linewidth=0)
    axes.plot(x, other, color=style.colour, linewidth=0.8)
    axes.plot(x, safe, color=style.colour, linewidth=style.width, label=name)


def _textbook(axes: Any, deltas: Array, reports: Sequence[Report], composition: Composition) -> str:
    """The first of the textbooks' bounds that applies; what it says for the words beside the picture."""
    for theorem in _TEXTBOOK:
        rows = [row for row in account(composition, delta=1e-6, theorems=[theorem]).rows if row.bound is not None]
        if rows:
            found = [
                account(composition, delta=report.asked[1], theorems=[theorem]).epsilon.upper for report in reports
            ]
            drawn = STYLES[theorem].drawn() | {"marker": ""}
            axes.plot(deltas, found, label=NAMES[theorem], **drawn)
            return f"; {NAMES[theorem]} gives up to {shown(max(found), up=True, digits=4)}"
    return ""


def profile_figure(what: Releases, *, measured: Sequence[tuple[float, float]] = ()) -> Picture:
    """Left the profile δ(ε); right the trade-off between an attacker's errors, with the reading at one percent.

    ``measured`` are false-positive and true-positive rates of a real attack: they stand beside what is proved.
    """
    composition = releases(what)
    curve = profile(composition)
    question = f"What does {short(composition.text())} reveal, and what can an attacker do with it?"
    figure, (left, right) = panels(question, 2)
    lower, upper = np.maximum(curve.lower, _FLOOR), np.maximum(curve.upper, _FLOOR)
    _band(left, curve.epsilons, upper, lower, f"δ, {closeness(curve.lower, curve.upper)}")
    label(left, "ε", "δ(ε)", yscale="log")
    left.set_ylim(_FLOOR, 2)
    left.legend(frameon=False, fontsize="small")
    caught = _attack(right, curve)
    if measured:
        rates = [tuple(float(probability(measured=x)) for x in listed(measured=pair)) for pair in measured]
        right.plot([a for a, _ in rates], [1 - t for _, t in rates], "D", color=PINK, markersize=5, label="measured")
    right.legend(frameon=False, loc="upper right", fontsize="small")
    figure.alt = (
        f"Left δ as a function of ε for {short(composition.text())}; right the least false-negative rate at each "
        f"false-positive rate. At 1 % false alarms at most {caught} are found out."
    )
    return figure


def _attack(axes: Any, curve: Curve) -> str:
    """The trade-off with its band, blind guessing, and the reading at one percent."""
    rates = np.linspace(0.0, 1.0, 101)
    band = curve.trade_off(rates.tolist())
    lower, upper = np.asarray(band.lower), np.asarray(band.upper)
    _band(axes, rates, lower, upper, "least false-negative rate of any attack")
    axes.plot(rates, 1 - rates, color=QUIET, linestyle=":", label="blind guessing")
    found = float(curve.true_positive_rate(0.01).upper)
    caught = f"{shown(100 * found, up=True, digits=3)} %"
    axes.annotate(
        f"at 1 % false alarms\nat most {caught} are found out",
        (0.01, 1 - found),
        (0.55, 0.62),
        arrowprops={"arrowstyle": "->", "color": QUIET},
        fontsize="small",
    )
    label(axes, "false-positive rate", "false-negative rate")
    axes.set_xlim(-0.01, 1)
    axes.set_ylim(0, 1.02)
    return caught
