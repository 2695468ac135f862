"""The house rules of the tests themselves: no limit in seconds of the clock on the wall."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CLOCKS = re.compile(r"\b(?:monotonic|perf_counter|time\.time|time_ns|monotonic_ns|ITIMER_REAL|signal\.alarm|SIGALRM)\b")
LOOKS_AT_A_CLOCK = {
    "test_house.py": "names what it refuses",
    "ledger/test_misuse.py": "chooses the moment of an interrupt, and compares the order of two times",
    "ledger/test_concurrency.py": "sets the times that the lock itself keeps, far beyond any test",
}
EVIDENCE = "findings/[!t]*.py"
"""What shows the findings of an attack measures how long others had to wait; it is run by hand and by `make soak`."""
WAITING = ("wait", "join", "communicate", "wait_for", "result", "acquire", "settimeout", "set_default_timeout")
LIMITS = ("timeout", "deadline")


def files() -> list[Path]:
    """All of the tests."""
    return sorted(set(TESTS.rglob("*.py")) - set(TESTS.glob(EVIDENCE)))


def limits(source: str) -> Iterator[tuple[int, str]]:
    """Each place where something must happen within a number of seconds: its line and what it says."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        for given in node.keywords:
            if given.arg in LIMITS and _number(given.value):
                yield node.lineno, ast.unparse(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in WAITING and any(_number(given) for given in node.args[-1:]):
            yield node.lineno, ast.unparse(node)


def _number(node: ast.expr) -> bool:
    """Whether an expression is made of numbers only."""
    parts = [part for part in ast.walk(node) if isinstance(part, (ast.Constant, ast.Name, ast.Attribute, ast.Call))]
    return bool(parts) and all(
        isinstance(part, ast.Constant) and isinstance(part.value, (int, float)) and not isinstance(part.value, bool)
        for part in parts
    )


def test_no_test_has_a_limit_in_seconds() -> None:
    """Nothing that is waited for has to come within a number of seconds: `patience.NET` is the only one there is."""
    found = [
        f"{path.relative_to(TESTS)}:{line}: {text}"
        for path in files()
        for line, text in limits(path.read_text(encoding="utf-8"))
    ]
    assert found == [], "use patience.NET, patience.within or patience.until"


def test_no_test_looks_at_the_clock() -> None:
    """Not even in the text of a program that it runs; whoever must is named above, with the reason."""
    found = {
        str(path.relative_to(TESTS)): sorted(set(CLOCKS.findall(text)))
        for path in files()
        if CLOCKS.search(text := path.read_text(encoding="utf-8"))
    }
    assert found.keys() == LOOKS_AT_A_CLOCK.keys(), "count processor time (patience.within), work or events"


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ("process.communicate('x', timeout=60)", True),
        ("subprocess.run(command, timeout=2 * 30)", True),
        ("thread.join(30)", True),
        ("event.wait(0.5)", True),
        ("settings(deadline=200)", True),
        ("page.wait_for_selector('h1', timeout=60_000)", True),
        ("page.set_default_timeout(5000)", True),
        ("thread.join()", False),
        ("thread.join(NET)", False),
        ("settings(deadline=None)", False),
        ("process.communicate(timeout=NET)", False),
        ("', '.join(words)", False),
        ("ledger.reserve('data', what, ttl=1000)", False),
    ],
)
def test_the_rule_tells_limits_from_other_numbers(source: str, refused: bool) -> None:
    """Limits in seconds are seen, in whatever call; other numbers and waiting without a limit are not."""
    assert bool(list(limits(source))) is refused
