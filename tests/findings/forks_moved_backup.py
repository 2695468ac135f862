"""A backup moved over the file of a running process: both it and a newcomer went on, 198 charges where 99 fit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

from shared import judged

import bursar as b

CHARGE = "laplace(scale=99)"
SPENDER = f"""
import sys
import bursar as b
ledger = b.Ledger("sqlite:///budget.db", alert=None)
print("ready", flush=True)
for line in sys.stdin:
    try:
        ledger.spend("data", "{CHARGE}")
        print("charged", flush=True)
    except b.BursarError as refused:
        print(getattr(refused, "code", None) or type(refused).__name__, flush=True)
"""


class Spender:
    """A process that has the ledger open and charges when told."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([sys.executable, "-c", SPENDER], stdin=pipe, stdout=pipe, text=True)
        assert self.answer() == "ready"

    def answer(self) -> str:
        """A line of it."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def charge(self) -> str:
        """What became of one charge."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.answer()


def main() -> tuple[bool, str]:
    """They charge by turns, up to 120 times each."""
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.backup("copy.db")
    first = Spender()
    for extra in ("budget.db-wal", "budget.db-shm"):
        if os.path.exists(extra):
            os.remove(extra)
    os.replace("copy.db", "budget.db")
    both = (first, Spender())
    said = [Counter(one.charge() for _ in range(120)) for one in both]
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        verified = "content" if ledger.verify() else "not content"
    for one in both:
        one.process.kill()
        one.process.communicate()
    admitted = said[0]["charged"] + said[1]["charged"]
    rest = [", ".join(word for word in one if word != "charged") for one in said]
    return admitted <= 99, (
        f"{admitted} charges admitted where 99 fit; the first process ends with: {rest[0]}, the newcomer with: "
        f"{rest[1]}; verify is {verified}"
    )


if __name__ == "__main__":
    judged(main)
