"""What tests of copies share: processes that spend when told, and ways for a backup to come into a ledger's place."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from bursar.ledger.ledger import Ledger
from support.where import CLIENTS

PARTS = 99


class Spender:
    """A process that has the ledger open and spends when told."""

    def __init__(self, path: Path, anchor: Path | None = None) -> None:
        command = [sys.executable, str(CLIENTS), "obey", f"sqlite:///{path}"]
        self.process = subprocess.Popen(
            [*command, str(anchor or ""), str(PARTS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._answer() == "ready"

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def spend(self, most: int) -> tuple[int, str]:
        """How many of so many charges were admitted, and what stopped it."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{most}\n")
        self.process.stdin.flush()
        admitted, said = self._answer().split()
        return int(admitted), said


def made(path: Path) -> Path:
    """An empty ledger and a backup of it."""
    copy = path.with_name("copy.db")
    with Ledger(path, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.backup(str(copy))
    return copy


def put(copy: Path, path: Path, how: str) -> None:
    """A backup comes into the place of a file that is open."""
    if "without the log" in how:
        for file in path.parent.glob(f"{path.name}-[ws]*"):
            file.unlink()
    if "moved" in how:
        os.replace(copy, path)
    else:
        shutil.copyfile(copy, path)  # the same file, with another content
