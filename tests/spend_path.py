"""Prints the files of the ledger that one warm charge on SQLite enters, in the order in which it enters them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from types import FrameType

import bursar as b

PACKAGE = Path(b.__file__).parent


def entered() -> list[str]:
    """The files, each where it is entered first."""
    found: dict[str, None] = {}

    def watch(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE / "ledger"):
            found.setdefault(str(path.relative_to(PACKAGE)))

    with tempfile.TemporaryDirectory() as folder, b.Ledger(f"sqlite:///{folder}/budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.spend("data", b.Laplace(scale=100), key="warm")
        sys.setprofile(watch)
        try:
            ledger.spend("data", b.Laplace(scale=100), key="k")
        finally:
            sys.setprofile(None)
    return list(found)


if __name__ == "__main__":
    print(*entered(), sep="\n")
