"""The words of the comparison that depend on what was answered: each is there only while the answers bear it out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keepers import wrapped

JAX = "jax-privacy PLD"
OTHERS = """## What others do that bursar does not

- **dp_accounting** accounts for tree aggregation and repeated selection, and exists in C++, Java and Go. bursar refuses
  these events by name.
- **jax-privacy** has matrix mechanisms for training (banded and others) with their sensitivities, and Monte Carlo
  accounting for batches that nobody can account for exactly.
- **gdpnum** finds the one μ that describes a whole run, with a measure of how well it does.
- **OpenDP, Tumult, PipelineDP, diffprivlib** run queries: they clip, count and draw the noise. bursar draws none.
- **riskcal** calibrates to the advantage or the error rates of an attacker directly; bursar reads them off the
  curve."""
ALWAYS = """- *gdpnum, by its μ*: the ε or δ that this μ alone promises. The μ is read off where both error rates are
  above 1e-10, so at small δ it may lie below the truth; the package reports a regret beside it, which no row here can
  show.
- *opacus GDP* is an approximation by the central limit theorem, and its authors say so.
- *jax-privacy* accounts for training alone, by dp_accounting's accountants; its noise for a target is sought to 0.01,
  which is its default.
- *autodp characteristic functions*: asked for both directions, the larger is shown. It needs scipy before 1.14, which
  its environment has.
- *PLD-accounting* is asked for an interval as narrow as it likes."""
LAST = """## What to watch for when numbers differ

Accountants disagree for four reasons: a relation that was not said, a noise multiplier that means something else
([conventions](howto/coming_from.md)), a sampling scheme that was assumed and not used ([training](howto/training.md)),
or a bound that is not one. The last is the rarest, and the reason for intervals.
"""


def others(found: dict[str, Any], is_below: Callable[[Any, Any], bool]) -> list[str]:
    """What peers have that bursar lacks, and whether a Rényi accountant was ever on the wrong side."""
    below = [
        f"{peer} in “{work}”"
        for peer, given in found["answers"].items()
        if "RDP" in peer
        for work, one, truth in zip(found["works"], given, found["answers"]["bursar"], strict=True)
        if "value" in one and is_below(one["value"], truth["value"])
    ]
    side = f"below the truth here: {'; '.join(below)}" if below else "no row here is below the truth"
    renyi = f"**Rényi accountants** are simple, and enough where a few per cent do not matter; {side}."
    return [OTHERS, *item(renyi), ""]


def notes(found: dict[str, Any], is_below: Callable[[Any, Any], bool]) -> list[str]:
    """Why some rows are what they are."""

    def said(peer: str, work: str) -> Any:
        if peer not in found["answers"] or work not in found["works"]:
            return None
        return found["answers"][peer][list(found["works"]).index(work)].get("value")

    lines = ["## Notes on single rows", "", ALWAYS]
    grid, truth = said("dp_accounting PLD, default", "responses"), said("bursar", "responses")
    if grid is not None and is_below(grid, truth):
        which = found["versions"]["dp-accounting"]
        lines += item(
            f"*dp_accounting on responses*: its PLD accountant ({which}) ignores the count of a randomized response "
            "and answers for one of them. Composed one at a time, they are counted."
        )
    phases, floats = (said(peer, "training in three phases") for peer in (JAX, "dp_accounting PLD, default"))
    if phases is not None and floats is not None and float(phases) > 1.01 * float(floats):
        lines += item(
            f"*{JAX} in three phases* says {float(phases):.8g}, because a schedule of batch sizes is computed in "
            f"single precision, and so is all that follows; as ordinary floats: dp_accounting's {float(floats):.8g}."
        )
    if any(_negative(one.get("value")) for given in found["answers"].values() for one in given):
        lines += item("Negative answers are what was returned.")
    return [*lines, "", LAST]


def item(text: str) -> list[str]:
    """A point of a list, in lines."""
    first, *more = wrapped(f"- {text}", 116)
    return [first, *(f"  {line}" for line in more)]


def _negative(value: Any) -> bool:
    return isinstance(value, int | float) and value < 0
