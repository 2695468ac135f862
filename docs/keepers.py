"""The part of the comparison about budgets: who keeps one, and what bursar's takes beside what the machine can do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "benchmarks" / "RESULTS.md"
QUOTED = ("Ledger: one charge per commit", "Ledger: eight processes", "Ledger: batches", "Service: ", "Cohorts: ")
"""The sections of the results that stand on the page of the comparison, by how their titles begin."""
HEAD = """## Budgets

None of the accountants above keeps a budget. Of those who do, all but bursar keep it in the memory of one process
(Opacus and riskcal save the state of one training run), so the questions are what they can answer too: releases one
after another, and which of them pass. With a δ, OpenDP's filter is asked for ρ, by which it admits more than by sums;
diffprivlib's formulas are for a number of releases that is fixed in advance, and nobody has proved them for a budget.
The time of a charge is the processor's, the opening of the budget counted in.
"""
FLOORS = """## Ledger, service and people

No peer has a ledger on a disk, a service, or budgets of single people: Tumult's and PipelineDP's sessions bound what
each person contributes, and remember nobody afterwards. What stands beside bursar's figures is therefore the least
that the machine takes: the same bytes written and synced, the same statements in SQLite alone, an empty handler of the
same server, the same files decoded. *CPU* is the processor's time. More is under [benchmarks](benchmarks.md).
"""


def budgets(found: dict[str, Any]) -> list[str]:
    """Who keeps a budget, on the same questions."""
    if not found.get("budgets"):
        return [HEAD, "Nobody has been asked yet.", ""]
    questions = found["questions"]
    heads = [f"a charge, {one}" if one.endswith("in a row") else one for one in questions]
    lines = [HEAD, f"| | {' | '.join(heads)} | memory |", "|---" * (len(heads) + 2) + "|"]
    for keeper, given in found["budgets"].items():
        cells = [_cell(question, answer) for question, answer in zip(questions, given, strict=True)]
        memory = max((answer.get("megabytes", 0) for answer in given), default=0)
        lines.append(f"| {keeper} | {' | '.join(cells)} | {memory} MB |")
    return [*lines, "", *wrapped(_ahead(found)), ""]


def _cell(question: str, answer: dict[str, Any]) -> str:
    if "failed" in answer:
        return str(answer["failed"])
    return f"{1e6 * _each(question, answer):.0f} µs" if question.endswith("in a row") else str(answer["value"])


def _each(question: str, answer: dict[str, Any]) -> float:
    """The processor's time of one charge, the opening of the budget counted in."""
    return float(answer["seconds"]) / int(question.split(maxsplit=1)[0])


def _ahead(found: dict[str, Any]) -> str:
    """Who is faster than a charge that is on the disk, and what that one has to show for it."""
    parts = []
    for place, question in enumerate(found["questions"]):
        if question.endswith("in a row"):
            times = {
                name: _each(question, given[place])
                for name, given in found["budgets"].items()
                if "failed" not in given[place]
            }
            ours = max((times[name] for name in times if name.startswith("bursar, SQLite")), default=0.0)
            faster = [name for name in times if not name.startswith("bursar") and times[name] < ours]
            parts.append(f"{question}, {', '.join(faster) or 'nobody'}")
    durable = "Faster than bursar's ledger on a disk, where a charge is synced before it is answered"
    return f"{durable}: {'; '.join(parts)}."


def floors(run: str | None) -> list[str]:
    """The figures of the ledger, the service and the cohorts, and whether they are of this run."""
    text = FILE.read_text(encoding="utf-8")
    theirs = run_of(text)
    of = "the same run as the answers above" if theirs and theirs == run else theirs or "a run whose name was not kept"
    lines = [FLOORS, *wrapped(f"The figures are of {of}."), ""]
    told = sections(text)
    for start in QUOTED:
        titles = [title for title in told if title.startswith(start)]
        for title in titles:
            lines += [f"### {title}", ""]
            for line in told[title]:
                lines += [line] if line.startswith("|") else wrapped(line)
            lines.append("")
        lines += [] if titles else [f"Not measured in that run: {start.strip(': ').lower()}.", ""]
    return lines


def sections(text: str) -> dict[str, list[str]]:
    """What stands under each heading of the results."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return {title: body.strip().splitlines() for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def run_of(text: str) -> str | None:
    """The run that the results are of."""
    found = re.search(r"^Run: (.+)\.$", text, re.MULTILINE)
    return found[1] if found else None


def wrapped(text: str, width: int = 118) -> list[str]:
    """Prose in lines."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines
