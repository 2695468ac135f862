"""The house rules: no circle of imports and nothing written twice in the source, no limit in seconds in the tests."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.duplicates import shared, shared_in
from support.imports import circles, graph, modules
from support.where import SOURCE

TESTS = Path(__file__).parent
CLOCKS = re.compile(r"\b(?:monotonic|perf_counter|time\.time|time_ns|monotonic_ns|ITIMER_REAL|signal\.alarm|SIGALRM)\b")
LOOKS_AT_A_CLOCK = {
    "test_house.py": "names what it refuses",
    "service/test_turns.py": "sets the clock by hand",
    "ledger/verbs/test_misuse.py": "compares the order of two times",
    "support/clients.py": "chooses the moment of an interrupt",
    "ledger/commit/test_concurrency.py": "sets the times that the lock itself keeps, far beyond any test",
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


def test_no_imports_run_in_circles() -> None:
    """No module imports itself by way of others, not even inside a function."""
    sources = {name: file.read_text(encoding="utf-8") for name, file in modules(SOURCE).items()}
    assert len(sources) > 200
    assert circles(graph(sources)) == []


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        ({"p": "", "p.a": "from p import b", "p.b": "import p.a"}, [["p.a", "p.b"]]),
        (
            {"p.a": "from p.b import x", "p.b": "def f():\n    from p.c import y", "p.c": "import p.a"},
            [["p.a", "p.b", "p.c"]],
        ),
        ({"p": "from p.a import x", "p.a": "from p import x"}, [["p", "p.a"]]),
        ({"p": "", "p.a": "from . import b", "p.b": "from .a import x"}, [["p.a", "p.b"]]),
        ({"p": "from p.a import x", "p.a": "from p.b import x", "p.b": ""}, []),
        ({"p.a": "from p.b import x", "p.b": "if TYPE_CHECKING:\n    from p.a import X"}, []),
        ({"p.a": "from p.b import x", "p.b": "if TYPE_CHECKING:\n    pass\nelse:\n    import p.a"}, [["p.a", "p.b"]]),
    ],
)
def test_the_rule_sees_circles(sources: dict[str, str], found: list[list[str]]) -> None:
    """Of two modules and of three, through packages and functions; imports for the type checker are none."""
    assert circles(graph(sources)) == found


def test_nothing_is_written_twice() -> None:
    """No two places of the source share ten lines, names and constants blanked."""
    assert [str(pair) for pair in shared_in(SOURCE)] == []


BODY = """\
    total = 0
    for {item} in things:
        if {item} > {limit}:
            total += {item} * 2
        elif not {item}:
            continue
        else:
            total -= {item}
    result = min(total, {limit})
    return max(result, 0)
"""


def test_the_rule_sees_what_is_written_twice() -> None:
    """Other names, constants, comments, signatures and docstrings hide nothing; nine lines are not ten."""
    one = "def f(things):\n" + BODY.format(item="x", limit=3)
    comment = BODY.format(item="thing", limit="LIMIT").replace("    result", "    # a reason\n\n    result")
    other = 'import os\n\n\ndef g(things, more=1):\n    """Says something else."""\n' + comment
    (found,) = shared([("a.py", one), ("b.py", other)])
    assert (found.first.number, found.second.number, found.length) == (2, 6, 10)
    assert "a.py:2 and b.py:6 share 10 lines" in str(found)
    assert shared([("a.py", one), ("b.py", other.replace("    result = min(total, LIMIT)\n", ""))]) == []
    assert shared([("a.py", one), ("b.py", other.replace("continue", "break"))]) == []
    assert len(shared([("a.py", one + "\n\n" + one.replace("f(", "h("))])) == 1


def test_tables_and_declarations_are_not_code() -> None:
    """Rows of constants, fields of a class and imports may look alike."""
    rows = "TABLE = {\n" + "".join(f'    "{i}": ("a", {i}),\n' for i in range(20)) + "}\n"
    fields = "class A:\n" + "".join(f"    f{i}: int = {i}\n" for i in range(20))
    imports = "".join(f"from m{i} import x{i}\n" for i in range(20))
    for text in (rows, fields, imports):
        assert shared([("a.py", text), ("b.py", text)]) == []
