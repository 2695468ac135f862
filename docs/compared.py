"""The page of the comparison, written from what one run of `make bench` leaves behind: benchmarks/comparison.json, and
benchmarks/RESULTS.md for what has no peer.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

from keepers import budgets, floors, wrapped
from remarks import notes, others

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


def comparison() -> str:
    """The whole page."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    run, apart = runs(found)
    marked = {**found}
    for part in ("answers", "budgets"):
        marked[part] = {f"{name} †" if name in apart else name: given for name, given in found.get(part, {}).items()}
    parts = [HEAD, *wrapped(said_of(run, apart)), "", *wrapped(f"Versions: {_versions(found)}."), "", *_summary(marked)]
    for place, (name, said) in enumerate(found["works"].items()):
        answers = {peer: given[place] for peer, given in marked["answers"].items()}
        parts += [f"## {name[0].upper()}{name[1:]}", "", f"{said}.", "", *_section(answers, said), ""]
    parts += [*budgets(marked), *floors(run), *others(found, is_below), *notes(found, is_below)]
    return "\n".join(parts)


def runs(found: dict[str, Any]) -> tuple[str | None, dict[str, str | None]]:
    """The run in which bursar was asked, and who was asked in another one, with its name."""
    known = found.get("runs", {})
    run = known.get("bursar")
    names = [*found["answers"], *found.get("budgets", {})]
    return run, {name: known.get(name) for name in names if known.get(name) != run}


def said_of(run: str | None, apart: dict[str, str | None]) -> str:
    """Whether all of this was asked in one run."""
    unnamed = "a run whose name was not kept"
    if not apart:
        return (
            f"Everybody was asked in one run: {run}." if run else "The answers are of runs whose names were not kept."
        )
    others = [
        f"{other or unnamed} ({'; '.join(name for name in apart if apart[name] == other)})"
        for other in dict.fromkeys(apart.values())
    ]
    return (
        f"Not all of one run. Asked with bursar: {run or unnamed}. Asked apart from it, and marked †: "
        f"{'; '.join(others)}. The times of one run may not be set beside those of another."
    )


def _versions(found: dict[str, Any]) -> str:
    return ", ".join(f"{name} {number}" for name, number in found["versions"].items())


def _section(answers: dict[str, Any], said: str) -> list[str]:
    """One question: its table, who is ahead, who does not offer it."""
    absent = [peer for peer, answer in answers.items() if answer.get("failed") == "not offered"]
    asked = {peer: answer for peer, answer in answers.items() if peer not in absent}
    curve = isinstance(answers["bursar"].get("value"), dict)
    lines = _curves(asked) if curve else _table(asked, more_is_worse="how many" in said)
    ahead = _ahead(asked)
    notes = [f"Faster than bursar here: {'; '.join(ahead)}."] if ahead else []
    notes += [f"Not offered: {'; '.join(absent)}."] if absent else []
    return [*lines, "", *wrapped(" ".join(notes))]


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
        rows.append(f"| {peer} | {under} | {_percent(median(over))} | {_percent(max(over))} | {_cost(answer)} |")
    return rows


def _cost(answer: dict[str, Any]) -> str:
    took = answer["seconds"]
    shown = f"{1e6 * took:.0f} µs" if took < 1e-4 else f"{1e3 * took:.1f} ms" if took < 10 else f"{took:.0f} s"
    return f"{shown} | {answer['megabytes']} MB".replace(" ", "\u00a0").replace("\u00a0|\u00a0", " | ")


def _percent(part: float) -> str:
    """A share in words that need no powers of ten."""
    return f"{100 * part:.2g} %" if part < 1 else f"{100 * part:.0f} %"


def _ends(value: Any) -> tuple[float, float]:
    low, high = value if isinstance(value, list) else (value, value)
    return float(low), float(high)


def _side(ends: tuple[float, float], truth: tuple[float, float], *, two: bool) -> str:
    """Where an answer lies."""
    if ends[1] < truth[0] * (1 - SAME):
        return f"**below** by {_percent(1 - ends[1] / truth[0])}"
    if two:
        return "contains it" if ends[0] <= truth[1] * (1 + SAME) else "**above**, excludes it"
    over = ends[1] / truth[1] - 1
    return "the same" if abs(over) < SAME else "infinite" if over == float("inf") else f"above by {_percent(over)}"


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
        below = sum(is_below(one["value"], other["value"]) for one, other in good)
        tail = "" if peer == "bursar" else faster
        rows.append(f"| {peer} | {len(good)} | {below or ''} | {fails or ''} | {absent or ''} | {tail or ''} |")
    return [*rows, ""]


def is_below(value: Any, truth: Any) -> bool:
    """Whether an answer claims more privacy than there is; of steps, which are whole numbers, more than fit."""
    if isinstance(truth, dict):
        pairs = zip(value["high"], truth["low"], strict=True)
        return any(float(delta) < least * (1 - SAME) for delta, least in pairs)
    if isinstance(truth, int):
        return float(value) > truth
    return _ends(value)[1] < _ends(truth)[0] * (1 - SAME)
