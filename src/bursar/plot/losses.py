"""The privacy-loss distribution of a composition in both directions: densities as they are, atoms as stems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bursar.errors import InputError
from bursar.jobs.account import account
from bursar.jobs.spec import Releases, releases
from bursar.losses import Loss
from bursar.numerics.shown import shown
from bursar.plot._law import TotalLaw, total
from bursar.plot._style import BLACK, BLUE, QUIET, RED, framed, short

if TYPE_CHECKING:
    from bursar.plot._picture import Picture

_FAINT = 1e-3  # of the highest stem: lower ones are not seen


def loss_figure(what: Releases, *, delta: float = 1e-6) -> Picture:
    """The density of the total loss, a record removed and added, with its atoms as stems, its mean, and ε at δ.
    `LossUnknown` where a release shows no losses.
    """
    composition = releases(what)
    pairs = [(mechanism.losses(), count) for mechanism, count in composition.terms]
    if not pairs:
        raise InputError("nothing is released: there is no loss to draw", argument="composition")
    noun = "release" if composition.count == 1 else "releases"
    figure, axes = framed(
        f"How is the privacy loss of {composition.count} {noun} distributed?\n{short(composition.text())}",
        "privacy loss",
        "density",
    )
    same = all(pair.same for pair, _ in pairs)
    sides: list[tuple[str, list[tuple[Loss, int]], str]] = [
        ("both directions" if same else "a record removed", [(pair.remove, count) for pair, count in pairs], BLUE)
    ]
    if not same:
        sides.append(("a record added", [(pair.add, count) for pair, count in pairs], RED))
    beside, said = None, []
    for name, laws, colour in sides:
        if not all(law.drawable for law, _ in laws):
            raise InputError(
                f"the law of {short(composition.text(), 40)} takes too long to draw: account() answers about it",
                argument="composition",
            )
        law = total(laws)
        beside = _draw(axes, beside, law, name, colour)
        leak = f", infinite with probability {law.infinite:.3g}" if law.infinite > 0 else ""
        said.append(f"{name}: mean {law.mean:.4g}{leak}")
    upper = account(composition, delta=delta).epsilon.upper
    if upper < float("inf"):
        where = f"ε at δ = {delta}: {shown(upper, up=True, digits=4)}"
        axes.axvline(upper, color=BLACK, linestyle="--", linewidth=1, label=where)
        said.append(where)
    _finish(figure, axes, beside)
    figure.alt = f"The privacy loss of {composition.count} {noun}. {'; '.join(said)}."
    return figure


def _draw(axes: Any, beside: Any, law: TotalLaw, name: str, colour: str) -> Any:
    """One direction: its density on the left axis, its atoms on the right one where there are both."""
    label = name + (f" (infinite with probability {law.infinite:.2g})" if law.infinite > 0 else "")
    if len(law.x):
        axes.fill_between(law.x, law.density, color=colour, alpha=0.18, linewidth=0)
        axes.plot(law.x, law.density, color=colour, linewidth=1.4, label=label)
        axes.axvline(law.mean, color=colour, linestyle=":", linewidth=1, label=f"mean {law.mean:.4g}")
        _look(axes, law)
        label = "_"
    if len(law.places):
        if beside is None:
            beside = axes.twinx() if len(law.x) else axes
        shown_ones = law.masses >= _FAINT * law.masses.max()
        places, masses = law.places[shown_ones], law.masses[shown_ones]
        beside.vlines(places, 0, masses, color=colour, linewidth=1.6, alpha=0.9, label=label)
        beside.plot(places, masses, "o", color=colour, markersize=3.5)
        beside.set_ylim(bottom=0)
        beside.set_ylabel("probability (stems)" if beside is not axes else "probability")
    return beside


def _look(axes: Any, law: TotalLaw) -> None:
    """Show where the density is, not where it is too low to be seen."""
    seen = law.x[law.density > 1e-4 * law.density.max()]
    low, high = axes.dataLim.x0 if axes.get_autoscalex_on() else axes.get_xlim()[0], axes.get_xlim()[1]
    first = axes.get_autoscalex_on()
    axes.set_xlim(seen[0] if first else min(low, seen[0]), seen[-1] if first else max(high, seen[-1]))


def _finish(figure: Picture, axes: Any, beside: Any) -> None:
    axes.set_ylim(bottom=0)
    lines = [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == "--"]
    low, high = axes.get_xlim()
    span = max(high, *lines) - low if lines else high - low
    axes.set_xlim(low - 0.03 * span, (max(high, *lines) if lines else high) + 0.05 * span)
    if beside is not None and beside is not axes:
        beside.spines["top"].set_visible(False)
        beside.tick_params(colors=QUIET)
        beside.yaxis.label.set_color(QUIET)
    axes.legend(frameon=False, fontsize="small")
