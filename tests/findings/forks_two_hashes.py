"""An anchor file held two hashes for the same numbers, and both opening and `verify` were content: only the last line
of a root was looked at.
"""

from __future__ import annotations

from pathlib import Path

from shared import bursar, judged

import bursar as b


def spent(path: str, times: int) -> list[str]:
    """Charge on a copy with an anchor of its own; the lines that it wrote."""
    with b.Ledger(f"sqlite:///{path}", anchor=f"{path}-own", alert=None) as ledger:
        for number in range(times):
            ledger.spend("data", "laplace(scale=10)", key=f"{path}-{number}")
    return [line for line in Path(f"{path}-own").read_text(encoding="utf-8").splitlines() if line]


def main() -> tuple[bool, str]:
    """Two copies have gone on, and both have appended to one anchor; the one that is ahead is opened."""
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.backup("copy.db")
    start = Path("budget.db-anchor").read_text(encoding="utf-8")
    for name in ("budget.db", "copy.db"):
        Path(f"{name}-own").write_text(start, encoding="utf-8")
    lines = [*start.split("\n"), *spent("copy.db", 2)[1:], *spent("budget.db", 3)[1:]]
    Path("budget.db-anchor").write_text("\n".join(["", *filter(None, lines)]), encoding="utf-8")
    verified = bursar("ledger", "verify")
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        try:
            ledger.spend("data", "laplace(scale=10)")
            charge = "admitted"
        except b.BursarError as refused:
            charge = type(refused).__name__
    content = verified.returncode == 0
    return not content and charge == "LedgerHalted", (
        f"two hashes for entries 2 and 3: verify is {'content' if content else 'not content'}, a charge: {charge}"
    )


if __name__ == "__main__":
    judged(main)
