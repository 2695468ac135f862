"""Processes that spend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def spender() -> Iterator[Callable[..., Any]]:
    """Starts processes that spend, and ends them."""
    from support.copies import Spender

    started: list[Spender] = []

    def start(path: Path, anchor: Path | None = None) -> Spender:
        started.append(Spender(path, anchor))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.communicate()
