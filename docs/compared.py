"""The page of the comparison, written from benchmarks/comparison.json, which one run of `make bench` leaves behind."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

FILE = Path(__file__).parents[1] / "benchmarks" / "comparison.json"
SAME = 1e-6
"""What differs by less than this part of itself is called the same."""
HEAD = """# Comparison

The same questions to every accountant that could be installed, on one core of one machine. `make bench` asks them and
writes down what each said; this page is made of that. Peers whose packages do not get along with ours live in
environments of their own, which `make peers` makes.

How to read the tables:

- The line under each heading is printed from the parameters that ran. *noise* is divided by the norm of one record.
- **bursar** is asked `account(composition, delta=δ)` (`profile` for curves, `plan` for targets): all theorems, both
  ends. Its interval is proved, so the others are held against it. *Above* is safe and costs utility; **below** claims
  more privacy than there is.
- *time* is the processor's for an equal question asked again, when everything is loaded (for the first, if that took
  more than ten seconds). *memory* is the largest that the process had, packages included.
- Who does not offer a question is named under its table. Who fails is in it, with the error.
"""
TAIL = """## Budgets, services and people

No accountant above keeps a budget that outlives its process. OpenDP has filters and odometers in memory, diffprivlib a
budget accountant in memory, Opacus and riskcal save the state of one training run. What bursar's ledger does in a
second, alone, with eight processes, over HTTP and beside clients that mean harm, is measured under
[benchmarks](benchmarks.md); there is no peer to set beside it. For budgets of single people (cohorts) the same holds:
Tumult's and PipelineDP's sessions bound what each person contributes, and remember nobody afterwards.

## What others do that bursar does not

- **dp_accounting** accounts for tree aggregation and repeated selection, and exists in C++, Java and Go. bursar refuses
  these events by name.
- **jax-privacy** has matrix mechanisms for training (banded and others) with their sensitivities, and Monte Carlo
  accounting for batches that nobody can account for exactly.
- **gdpnum** finds the one μ that describes a whole run, with a measure of how well it does.
- **OpenDP, Tumult, PipelineDP, diffprivlib** run queries: they clip, count and draw the noise. bursar draws none.
- **riskcal** calibrates to the advantage or the error rates of an attacker directly; bursar reads them off the curve.
- **Rényi accountants** are simple, and enough where a few per cent do not matter; they are never below the truth.

## Notes on single rows

- *dp_accounting on responses*: its PLD accountant (0.6.0) ignores the count of a randomized response. Composed a
  hundred times, one at a time, it answers 4.782, on the safe side.
- *gdpnum, by its μ*: the ε or δ that this μ alone promises. The μ is read off where both error rates are above 1e-10,
  so at small δ it may lie below the truth; the package reports a regret beside it, which no row here can show.
- *opacus GDP* is an approximation by the central limit theorem, and its authors say so.
- *jax-privacy* accounts for training alone, by dp_accounting's accountants; its noise for a target is sought to 0.01,
  which is its default. In three phases its PLD answer is high because a schedule of batch sizes is computed in single
  precision, and so is all that follows; the same phases given to dp_accounting as ordinary floats cost 4.3378379.
- *autodp characteristic functions*: asked for both directions, the larger is shown. It needs scipy before 1.14, which
  its environment has. For sampled Gaussians more than a minute, tried once, was not enough. Its negative answers are
  what it returns.
- *PLD-accounting* is asked for an interval as narrow as it likes.

## What to watch for when numbers differ

Accountants disagree for four reasons: a relation that was not said, a noise multiplier that means something else
([conventions](howto/coming_from.md)), a sampling scheme that was assumed and not used ([training](howto/training.md)),
or a bound that is not one. The last is the rarest, and the reason for intervals.
"""


def comparison() -> str:
    """The whole page."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    parts = [HEAD, *_wrapped(f"{found['machine']}; {versions}."), "", *_summary(found)]
    for place, (name, said) in enumerate(found["works"].items()):
        answers = {peer: given[place] for peer, given in found["answers"].items()}
        parts += [f"## {name[0].upper()}{name[1:]}", "", f"{said}.", "", *_section(answers, said), ""]
    return "\n".join([*parts, TAIL])


def _section(answers: dict[str, Any], said: str) -> list[str]:
    """One question: its table, who is ahead, who does not offer it."""
    absent = [peer for peer, answer in answers.items() if answer.get("failed") == "not offered"]
    asked = {peer: answer for peer, answer in answers.items() if peer not in absent}
    curve = isinstance(answers["bursar"].get("value"), dict)
    lines = _curves(asked) if curve else _table(asked, more_is_worse="how many" in said)
    ahead = _ahead(asked)
    notes = [f"Faster than bursar here: {'; '.join(ahead)}."] if ahead else []
    notes += [f"Not offered: {'; '.join(absent)}."] if absent else []
    return [*lines, "", *_wrapped(" ".join(notes))]


def _wrapped(text: str, width: int = 118) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _table(answers: dict[str, Any], *, more_is_worse: bool) -> list[str]:
    truth = _ends(answers["bursar"]["value"])
    rows = ["| | answer | side | relative width | time | memory |", "|---|---|---|---|---|---|"]
    for peer, answer in answers.items():
        if "failed" in answer:
            rows.append(f"| {peer} | {answer['failed']} | | | | |")
            continue
        ends = _ends(answer["value"])
        two = isinstance(answer["value"], list)
        shown = f"[{ends[0]:.8g}, {ends[1]:.8g}]" if two else f"{ends[1]:.8g}"
        width = f"{(ends[1] - ends[0]) / ends[1]:.0e}" if two else ""
        if peer == "bursar":
            side = ""
        elif more_is_worse:
            side = "the same" if ends[1] == truth[1] else "fewer" if ends[1] < truth[1] else "**more than fit**"
        else:
            side = _side(ends, truth, two=two)
        rows.append(f"| {peer} | {shown} | {side} | {width} | {_cost(answer)} |")
    return rows


def _curves(answers: dict[str, Any]) -> list[str]:
    """δ at many ε's: how many are below, and how far above the others are."""
    low, high = (answers["bursar"]["value"][end] for end in ("low", "high"))
    rows = ["| | below | above, in the median | at most | time | memory |", "|---|---|---|---|---|---|"]
    for peer, answer in answers.items():
        if "failed" in answer:
            rows.append(f"| {peer} | {answer['failed']} | | | | |")
            continue
        given = [float(delta) for delta in answer["value"]["high"]]
        below = sum(delta < least * (1 - SAME) for delta, least in zip(given, low, strict=True))
        over = [max(delta / most - 1, 0.0) for delta, most in zip(given, high, strict=True)]
        if peer == "bursar":
            widest = max((most - least) / most for least, most in zip(low, high, strict=True))
            rows.append(f"| bursar | proved | width at most {widest:.0e} | | {_cost(answer)} |")
            continue
        under = f"**{below}** of {len(given)}" if below else "none"
        rows.append(f"| {peer} | {under} | {100 * median(over):.2g} % | {100 * max(over):.2g} % | {_cost(answer)} |")
    return rows


def _cost(answer: dict[str, Any]) -> str:
    return f"{1e3 * answer['seconds']:.1f} ms | {answer['megabytes']} MB"


def _ends(value: Any) -> tuple[float, float]:
    low, high = value if isinstance(value, list) else (value, value)
    return float(low), float(high)


def _side(ends: tuple[float, float], truth: tuple[float, float], *, two: bool) -> str:
    """Where an answer lies."""
    if ends[1] < truth[0] * (1 - SAME):
        return f"**below** by {100 * (1 - ends[1] / truth[0]):.2g} %"
    if two:
        return "contains it" if ends[0] <= truth[1] * (1 + SAME) else "**above**, excludes it"
    over = ends[1] / truth[1] - 1
    return "the same" if abs(over) < SAME else "infinite" if over == float("inf") else f"above by {100 * over:.2g} %"


def _ahead(answers: dict[str, Any]) -> list[str]:
    """Who was faster."""
    others = {peer: answer for peer, answer in answers.items() if peer != "bursar" and "failed" not in answer}
    return [peer for peer, answer in others.items() if answer["seconds"] < answers["bursar"]["seconds"]]


def _summary(found: dict[str, Any]) -> list[str]:
    """For each peer: how often it answered, was below, failed, and was faster."""
    mine = found["answers"]["bursar"]
    rows = [
        "## In one table",
        "",
        f"{len(found['works'])} questions; each has a section below.",
        "",
        "| | answers | below the truth | fails | does not offer | faster than bursar |",
        "|---|---|---|---|---|---|",
    ]
    for peer, given in found["answers"].items():
        absent = sum(answer.get("failed") == "not offered" for answer in given)
        fails = sum("failed" in answer for answer in given) - absent
        good = [(one, other) for one, other in zip(given, mine, strict=True) if "failed" not in one]
        faster = sum(one["seconds"] < other["seconds"] for one, other in good)
        below = sum(_is_below(one["value"], other["value"]) for one, other in good)
        tail = "" if peer == "bursar" else faster
        rows.append(f"| {peer} | {len(good)} | {below or ''} | {fails or ''} | {absent or ''} | {tail or ''} |")
    return [*rows, ""]


def _is_below(value: Any, truth: Any) -> bool:
    """Whether an answer claims more privacy than there is; of steps, which are whole numbers, more than fit."""
    if isinstance(truth, dict):
        pairs = zip(value["high"], truth["low"], strict=True)
        return any(float(delta) < least * (1 - SAME) for delta, least in pairs)
    if isinstance(truth, int):
        return float(value) > truth
    return _ends(value)[1] < _ends(truth)[0] * (1 - SAME)
