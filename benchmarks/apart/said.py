"""What a peer's file says: rows of questions that both answer, printed as JSON for the table of `run.py`."""

from __future__ import annotations

import importlib
import json
import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType, ModuleType

from bursar.theorems import Bound

PATIENCE = 100
"""Seconds that a peer has for one answer."""


@dataclass(frozen=True)
class Row:
    """One question: our interval and the peer's answer, with the processor time of both."""

    question: str
    ours: str
    theirs: str
    account: float
    peer: float | None


def asked(question: str, ours: Callable[[], Bound], theirs: Callable[[], str] | str) -> Row:
    """Both answers and their times; what goes wrong on the other side is its answer, or that it has none is said."""
    begun = time.process_time()
    bound = ours()
    account = time.process_time() - begun
    answer, taken = theirs, None
    if not isinstance(theirs, str):
        answer, taken = _patiently(theirs)
    return Row(question, f"[{bound.lower:.8g}, {bound.upper:.8g}]", str(answer), account, taken)


def ran(question: str, ours: str, recipe: Callable[[], str]) -> Row:
    """What a recipe with both in it gave, with its processor time; one that fails is said by `run.py`."""
    begun = time.process_time()
    answer = recipe()
    return Row(question, ours, answer, time.process_time() - begun, None)


def example(name: str) -> ModuleType:
    """A program of `examples/` as a module."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
    return importlib.import_module(name)


def _patiently(theirs: Callable[[], str]) -> tuple[str, float | None]:
    begun = time.process_time()
    signal.signal(signal.SIGALRM, _enough)
    signal.alarm(PATIENCE)
    try:
        return theirs(), time.process_time() - begun
    except TimeoutError:
        return f"no answer in {PATIENCE} s", None
    except Exception as problem:
        said = f"{type(problem).__name__}: {problem}".splitlines()[0]
        return said.replace(sys.prefix, "…")[:100], None
    finally:
        signal.alarm(0)


def _enough(number: int, frame: FrameType | None) -> None:
    raise TimeoutError


def say(rows: Iterable[Row]) -> None:
    """Print each row as soon as it is known."""
    for row in rows:
        print(json.dumps(asdict(row)), flush=True)
