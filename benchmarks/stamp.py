"""Which run a figure is of: when it began, on which state of the source, on which machine.

`make bench` asks once and gives all of its parts the same answer, in BENCH_RUN; a part that runs alone has its own.
"""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

TOP = Path(__file__).parents[1]


def run() -> str:
    """The run that this process is a part of."""
    return os.environ.get("BENCH_RUN") or fresh()


def fresh() -> str:
    """A run that begins now."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC, {source()}, {machine()}, Python {platform.python_version()}"


def source() -> str:
    """The commit, and whether what is measured differs from it; figures that a run writes down are no difference."""
    commit = _git("rev-parse", "--short=10", "HEAD")
    changed = _git("status", "--porcelain", "--", "src", "benchmarks/*.py")
    return f"commit {commit}{' with changes' if changed else ''}" if commit else "no checkout"


def machine() -> str:
    """The processor's name, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def _git(*words: str) -> str:
    try:
        return subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


if __name__ == "__main__":
    print(fresh())
