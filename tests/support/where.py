"""Where things lie that tests read."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import bursar

TESTS = Path(__file__).parents[1]
TOP = TESTS.parent
SOURCE = TOP / "src" / "bursar"
PATHS = os.pathsep.join((str(Path(bursar.__file__).parents[1]), str(TESTS)))
"""Where a process of its own finds the bursar that is tested, a mutant perhaps, and what tests share."""
GOLDEN = TESTS / "golden"
DATA = TESTS / "data"
CLIENTS = TESTS / "support" / "clients.py"
"""A program that spends, to be started as a process of its own."""
BLOCK_CLIENTS = TESTS / "support" / "block_clients.py"
"""One that charges blocks."""
PEOPLE_CLIENTS = TESTS / "support" / "people_clients.py"
"""One that admits people."""
SPARK_CLUSTER = TESTS / "support" / "spark_cluster.py"
"""One that admits people on a Spark cluster of its own."""
SPARK_CLIENTS = TESTS / "support" / "spark_clients.py"
"""One that admits people with a Spark of its own."""


def needs(program: str, package: str | None = None) -> str:
    """Where a program of the system is; without it the test is skipped, with what to install."""
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed: apt-get install {package or program}")
    return found
