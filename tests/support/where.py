"""Where things lie that tests read."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parents[1]
TOP = TESTS.parent
SOURCE = TOP / "src" / "bursar"
GOLDEN = TESTS / "golden"
DATA = TESTS / "data"
CLIENTS = TESTS / "support" / "clients.py"
"""A program that spends, to be started as a process of its own."""
