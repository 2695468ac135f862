"""Services to ask: over a real socket, and as a command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bursar.service.server import listening
from bursar.service.tokens import Tokens
from support.offices import Command
from support.patience import NET
from support.services import memory, one_nursery

__all__ = ["command", "memory", "one_nursery"]


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Callable[..., Command]]:
    """Start `bursar serve` on the ledger of this test, again and again if asked."""
    started: list[Command] = []
    tokens = Tokens(str(tmp_path / "tokens.db"))
    _, secret = tokens.add("ada", "owner")
    tokens.close()

    def start(**settings: Any) -> Command:
        bound = listening("127.0.0.1", 0)
        port = bound.getsockname()[1]
        bound.close()
        config = tmp_path / "bursar.toml"
        values = {
            "ledger": f"sqlite:///{tmp_path}/budget.db",
            "tokens": f"{tmp_path}/tokens.db",
            "port": port,
            **settings,
        }
        rows = [f"{name} = {value!r}".replace("'", '"') for name, value in values.items()]
        config.write_text("\n".join(rows), encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-m", "bursar", "serve", "--config", str(config)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={name: value for name, value in os.environ.items() if not name.startswith("BURSAR_")},
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "bursar serves" in line, line
        found = Command(process, f"http://127.0.0.1:{port}", secret)
        started.append(found)
        return found

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
        one.process.wait(NET)
        assert one.process.stdout is not None
        one.process.stdout.close()
