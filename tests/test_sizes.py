"""Sizes that keep the house livable: short files, short functions, tests that lie where their source does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
SRC = TESTS.parent / "src" / "bursar"
LINES, FUNCTION = 250, 50
LONGER = {"ledger/ledger.py": 300}
"""The one file with every verb of the ledger."""


def lengths(source: str) -> Iterator[tuple[str, int]]:
    """Each function of a file with how many lines it has from ``def`` to its end, its docstring apart."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            said = (first.end_lineno or 0) - first.lineno + 1 if text else 0
            yield f"{node.name}:{node.lineno}", (node.end_lineno or 0) - node.lineno + 1 - said


def long_files(sources: dict[str, str]) -> list[str]:
    """Files with more lines than they may have."""
    counted = {name: len(text.splitlines()) for name, text in sources.items()}
    return [f"{name}: {lines}" for name, lines in counted.items() if lines > LONGER.get(name, LINES)]


def long_functions(sources: dict[str, str]) -> list[str]:
    """Functions with more lines than they may have."""
    return [
        f"{name}:{function}: {lines}"
        for name, text in sources.items()
        for function, lines in lengths(text)
        if lines > FUNCTION
    ]


def everything() -> dict[str, str]:
    """Every source file, by its path."""
    return {str(path.relative_to(SRC)): path.read_text(encoding="utf-8") for path in sorted(SRC.rglob("*.py"))}


def test_files_are_short() -> None:
    """No source file has more than 250 lines; the ledger with all its verbs may have 300."""
    assert long_files(everything()) == []


def test_functions_are_short() -> None:
    """No function has more than 50 lines, its docstring apart."""
    assert long_functions(everything()) == []


def test_the_rule_counts_lines() -> None:
    """Files and functions at the limit pass, one line more does not, and docstrings do not count."""
    body = "    x = 1\n" * (FUNCTION - 1)
    fine = {"a.py": "x = 1\n" * LINES, "b.py": f'def f():\n    """Says.\n\n    More.\n    """\n{body}'}
    assert (long_files(fine), long_functions(fine)) == ([], [])
    wrong = {"a.py": "x = 1\n" * (LINES + 1), "b.py": f"def f():\n{body}    y = 2\n"}
    assert (long_files(wrong), long_functions(wrong)) == (["a.py: 251"], ["b.py:f:1: 51"])


def test_the_tests_mirror_the_source() -> None:
    """Every test lies in the folder of what it tests, or at the top if it is about the whole house."""
    elsewhere = {"mutants", "findings"}  # which are about the tests themselves, and about what was before
    astray = [
        str(path.relative_to(TESTS))
        for path in sorted(TESTS.rglob("test_*.py"))
        if path.parent != TESTS
        and path.parent.name not in elsewhere
        and not (SRC / path.parent.relative_to(TESTS) / "__init__.py").is_file()
    ]
    assert astray == []


def test_no_test_imports_a_test() -> None:
    """What tests share is in tests/support; a test module is imported by nobody."""
    found = [
        f"{path.relative_to(TESTS)}: {name}"
        for path in sorted(TESTS.rglob("*.py"))
        for name in imported(path.read_text(encoding="utf-8"))
        if any(part.startswith("test_") or part == "conftest" for part in name.split("."))
    ]
    assert found == []


def imported(source: str) -> Iterator[str]:
    """Every module that a file imports, anywhere in it, with what it imports from it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module or ''}.{alias.name}" for alias in node.names)


def test_the_rule_sees_imports() -> None:
    """All forms of importing are seen, inside functions too."""
    source = "import test_a\nfrom test_b import x\ndef f():\n    from tests.ledger import test_c\n"
    assert list(imported(source)) == ["test_a", "test_b.x", "tests.ledger.test_c"]


def test_no_two_test_files_have_one_name() -> None:
    """The runner imports them by their names alone, and would take one for the other."""
    names = [path.name for path in TESTS.rglob("test_*.py")]
    assert sorted(set(names)) == sorted(names)
