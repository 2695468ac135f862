"""Each script of this folder on a source: whether the finding is there, and what was measured."""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TABLE = HERE / "RESULTS.md"
SECTIONS = {
    "under": "Undercharging",
    "numbers": "Numbers",
    "available": "Availability",
    "forks": "Forks and copies",
    "doors": "Doors",
}
NET = 300.0  # seconds: no measure of speed, only so that a script which never ends cannot hold up those behind it
_MEASURED = re.compile(r"^measured: (.*)$", re.MULTILINE)
_INHERITED = re.compile(r"PYTEST_|BURSAR_|COV_")


class Outcome(NamedTuple):
    """What became of one script."""

    status: str
    """``mended``, ``present``, or why it could not be tried."""
    measured: str = ""
    output: str = ""

    def __str__(self) -> str:
        return f"{self.status}: {self.measured}" if self.measured else self.status


def scripts() -> list[Path]:
    """All of them, in the order of the sections."""
    return [script for section in SECTIONS for script in sorted(HERE.glob(f"{section}_*.py"))]


def finding(script: Path) -> str:
    """What it is about: its docstring, on one line."""
    return " ".join((ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "").split())


def tried(script: Path, source: Path) -> Outcome:
    """The script on a source, in a folder of its own, which is gone afterwards with all that was started in it."""
    kept = {name: value for name, value in os.environ.items() if not _INHERITED.match(name)}
    environment = {**kept, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    where = [sys.executable, "-c", "import bursar; print(bursar.__file__)"]
    found = subprocess.run(where, env=environment, capture_output=True, text=True, check=False).stdout
    if not found.startswith(str(source)):  # else another copy would be tried, and nothing be shown
        return Outcome(f"could not be tried: bursar would be imported from {found.strip() or 'nowhere'}")
    with tempfile.TemporaryDirectory(prefix="finding-") as folder:
        process = subprocess.Popen(
            [sys.executable, str(script)],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=NET)
        except BaseException as problem:  # whatever ends the wait ends the script, and what it has started
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if not isinstance(problem, subprocess.TimeoutExpired):
                raise
            return Outcome(f"could not be tried: no end within {NET:.0f} s")
    said = _MEASURED.findall(output)
    if process.returncode in (0, 1) and said:
        return Outcome("mended" if process.returncode == 0 else "present", said[-1], output)
    return Outcome(f"could not be tried: exit code {process.returncode}", output=output)
