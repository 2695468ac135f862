"""Environments of their own, for packages that do not get along with ours: one for each file of `apart/peers/`."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
APART = ROOT / "benchmarks" / "apart"
PLACE = ROOT / ".peers"


def constants(file: Path) -> dict[str, list[str]]:
    """REQUIRES, TESTS and OPTIONS of a peer, read without importing it."""
    found = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = ast.literal_eval(node.value)
    return found


def run(command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    """A command on one thread, with what it says."""
    own = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1") | {
        "PYTHONPATH": str(APART)
    }
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **own}, capture_output=True, text=True, check=False)


def installed(name: str, requires: list[str]) -> tuple[Path, str | None]:
    """The python of the peer's environment, and why it is not there."""
    python = PLACE / name / "bin" / "python"
    made = run([sys.executable, "-m", "venv", PLACE / name])
    if made.returncode == 0:
        made = run([python, "-m", "pip", "install", "--quiet", *requires, "pytest", "hypothesis", ROOT])
    if made.returncode == 0:
        return python, None
    said = [line for line in made.stderr.splitlines() if line.startswith("ERROR")] or made.stderr.splitlines()[-1:]
    return python, (said or ["no reason given"])[0].removeprefix("ERROR: ").replace(str(ROOT), "…")[:140]


def home(name: str) -> tuple[Path, str | None]:
    """The same, made only where it is missing."""
    python = PLACE / name / "bin" / "python"
    return (python, None) if python.exists() else installed(name, constants(APART / "peers" / f"{name}.py")["REQUIRES"])
