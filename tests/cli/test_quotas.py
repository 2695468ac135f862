"""The script that opens a quota for each month, as its page shows it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import bursar as b
from bursar.ledger.ledger import Ledger
from support.patience import NET
from support.where import TOP

CLOCK = """#!/bin/sh
# the same day of another month
for word do case "$word" in *month) last=yes ;; *-15) day=yes ;; esac; done
if [ "${last:-}" ]; then echo "$LAST"; elif [ "${day:-}" ]; then echo "$MONTH-15"; else echo "$MONTH"; fi
"""


def test_each_month_has_a_quota_of_its_own(tmp_path: Path) -> None:
    """Run twice in November and then in December: one quota is open at a time, and the root counts what both spent."""
    page = (TOP / "docs" / "howto" / "quotas.md").read_text(encoding="utf-8")
    found = re.search(r"```shell\n(.*?)```", page, re.DOTALL)
    assert found is not None
    for name, text in (("monthly.sh", found[1]), ("date", CLOCK)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    ledger = f"sqlite:///{tmp_path}/budget.db"
    with Ledger(ledger, alert=None) as made:
        made.open("census", epsilon=1, delta="1e-6")
    path = os.pathsep.join([str(tmp_path), str(Path(sys.executable).parent), os.environ["PATH"]])

    def run(month: str, last: str) -> str:
        settings = {**os.environ, "PATH": path, "MONTH": month, "LAST": last}
        command = ["sh", str(tmp_path / "monthly.sh"), ledger, "census", "1/12", "1e-7"]
        return subprocess.run(
            command, env=settings, check=True, capture_output=True, text=True, timeout=NET
        ).stdout.strip()

    for month, last in (("2026-11", "2026-10"), ("2026-11", "2026-10"), ("2026-12", "2026-11")):
        name = run(month, last)
        assert name == f"census/{month}"
        with Ledger(ledger, alert=None) as made:
            made.spend(name, b.Laplace(scale=100))
    with Ledger(ledger, alert=None) as made:
        assert {scope.name: scope.row.status for scope in made.scopes()} == {
            "census": "open",
            "census/2026-11": "closed",
            "census/2026-12": "open",
        }
        assert made.released("census") == [("laplace(scale=100)", 3)]
        assert made.verify(reprice=True)
