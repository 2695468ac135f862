"""What the README shows is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bursar.theorems import THEOREMS

TOP = Path(__file__).parent.parent
README = (TOP / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SHELL = re.findall(r"```text\n\$ bursar (.*?)\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("snippet", PYTHON, ids=range(len(PYTHON)))
def test_snippets_run(snippet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python snippet of the README runs, and what it says of numbers is true."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(snippet, names)
    for line in snippet.splitlines():
        code = line.partition("#")[0].strip()
        if " == " in code:
            assert eval(code, names), code
        if code.endswith(".fits"):
            with names["b"].Ledger("sqlite:///budget.db") as ledger:  # type: ignore[attr-defined]
                assert eval(code, {**names, "ledger": ledger}) == int(line.partition("#")[2].split(":")[0])


NUMBERS = [
    (snippet, code.strip(), float(number[0]))
    for snippet in PYTHON
    for code, _, said in (line.partition("#") for line in snippet.splitlines())
    if code.strip().endswith((".upper", ".value")) and (number := re.search(r"\d+(?:\.\d+)?", said))
]


@pytest.mark.parametrize(("snippet", "code", "shown"), NUMBERS, ids=[shown for _, _, shown in NUMBERS])
def test_numbers_are_on_the_safe_side(snippet: str, code: str, shown: float) -> None:
    """What is written beside a line is what it gives, rounded up and not by much."""
    names: dict[str, object] = {}
    exec(snippet, names)
    assert 0 <= shown - eval(code, names) < 1e-5 * shown


def test_counts_are_those_of_today() -> None:
    """How many theorems are asked, and how many numbers are held to what lines give."""
    assert f"every theorem that it knows ({len(THEOREMS)})" in README
    assert len(NUMBERS) == 4


@pytest.mark.parametrize(("arguments", "shown"), SHELL)
def test_commands_show_what_they_show(arguments: str, shown: str) -> None:
    """Every shown command prints the lines that are shown, up to line breaks."""
    words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", arguments)]
    run = subprocess.run(
        [sys.executable, "-m", "bursar", *words], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    printed = " ".join(run.stdout.split())
    for line in shown.splitlines():
        if line.strip() and "…" not in line:
            assert " ".join(line.split()) in printed, line
