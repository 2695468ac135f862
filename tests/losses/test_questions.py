"""Questions whose answer is known: one line each in `questions.jsonl`, with who computed it.

    ask, delta or epsilon   what is released, and what is asked about it
    least, most             the true ε, or δ, lies between them, both included
    width                   the answer's interval is at most this wide, relative to its upper end
    by                      who computed it: enumeration of all outcomes; quadrature at thirty digits; a closed form; a
                            contour in balls; another library; the lattice engine. Those marked `before` are bursar's
                            own earlier answers: they must meet, and prove nothing.

A hole that somebody finds becomes a line; no new file, no new test.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import bursar as b
from bursar.theorems import Bound

FILE = Path(__file__).with_name("questions.jsonl")
KNOWN: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
METHODS = sorted({known["by"] for known in KNOWN})
BEFORE = "before"


def exact(number: float | str) -> Fraction | float:
    """A number, or infinity, for exact comparisons."""
    return math.inf if float(number) == math.inf else Fraction(number)


def wrong(known: dict[str, Any]) -> str | None:
    """What is wrong with today's answer; None where it is right and narrow."""
    asked = {name: known[name] for name in ("delta", "epsilon") if name in known}
    found = b.account(known["ask"], **asked).bound
    if exact(found.lower) > exact(known["most"]) or exact(found.upper) < exact(known["least"]):
        return f"{known}: [{found.lower!r}, {found.upper!r}] does not meet it"
    if found.upper == math.inf > exact(known["most"]) and known["width"] is not None:
        return f"{known}: [{found.lower!r}, inf] has lost its upper end"
    promised = math.inf if known["width"] is None else known["width"]
    if found.lower < found.upper < math.inf and found.upper - found.lower > promised * found.upper:
        return f"{known}: [{found.lower!r}, {found.upper!r}] is wider than promised"
    return None


def test_every_line_is_a_question() -> None:
    """Each line asks one thing, of a composition that can be read, once, and its ends are in order."""
    seen = set()
    for known in KNOWN:
        (asked,) = known.keys() & {"delta", "epsilon"}
        assert known.keys() == {"ask", asked, "least", "most", "width", "by"}, known
        assert 0 <= exact(known["least"]) <= exact(known["most"]), known
        seen.add((known["ask"], asked, known[asked]))
    assert len(seen) == len(KNOWN) > 4500


@pytest.mark.parametrize("ends", [(0.0, math.inf), (0.0, 1.0), (5.0, 6.0), (4.8, 4.9), (0.0, 0.0)])
def test_what_is_wrong_is_seen(ends: tuple[float, float], monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost upper end, an end on the wrong side, and an interval that is too wide."""
    monkeypatch.setattr(b, "account", lambda *_, **__: SimpleNamespace(bound=Bound(*ends, "")))
    question = {"ask": "gaussian(sigma=1)", "delta": "1e-6", "least": "4.88655", "most": "4.88656", "by": "closed form"}
    assert wrong({**question, "width": 1e-6}) is not None


@pytest.mark.parametrize("by", METHODS)
def test_the_truth_is_inside(by: str) -> None:
    """The interval meets the one that is known, and is as narrow as it has been: every other question whose answer is
    proved, and some of those that bursar answered before.
    """
    asked = [known for known in KNOWN if known["by"] == by][:: 60 if by == BEFORE else 2]
    assert [said for known in asked if (said := wrong(known))] == []


@pytest.mark.soak
@pytest.mark.parametrize("by", METHODS)
@pytest.mark.parametrize("part", range(10))
def test_every_truth_is_inside(by: str, part: int) -> None:
    """The same for all questions."""
    asked = [known for known in KNOWN if known["by"] == by][part::10]
    assert [said for known in asked if (said := wrong(known))] == []
