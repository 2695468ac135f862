"""`verify` did not name changes to a scope's count of changes (`epoch`), nor rows of scopes that do not exist."""

from __future__ import annotations

import shutil
import sqlite3

from shared import bursar, judged

import bursar as b

EDITS = {
    "an epoch": "UPDATE scopes SET epoch = 7 WHERE name = 'team'",
    "a root's epoch": "UPDATE scopes SET epoch = epoch + 1 WHERE name = 'data'",
    "a line": "INSERT INTO lines VALUES ('ghost', 'epsilon', 9, 0, 0, 0, 0)",
    "a list of releases": "INSERT INTO released VALUES ('ghost', 'laplace(scale=1)', 1)",
    "a reservation": "INSERT INTO reservations VALUES ('r9', 'ghost', 'open', 1, '{}')",
    "a scope": "INSERT INTO scopes VALUES ('lost', 'ghost', '', 'quota', 'pure', '{}', 'open', 0)",
    "a key": "INSERT INTO keys VALUES ('stolen', 'ghost', 2)",
}


def main() -> tuple[bool, str]:
    """One edit by hand at a time."""
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.open("team", parent="data", epsilon=1)
        ledger.spend("team", "laplace(scale=10)")
        ledger.freeze("team", reason="a question")
    assert bursar("ledger", "verify").returncode == 0
    unseen = []
    for number, (name, edit) in enumerate(EDITS.items()):
        shutil.copyfile("budget.db", f"{number}.db")
        hand = sqlite3.connect(f"{number}.db", isolation_level=None)
        hand.execute(edit)
        hand.close()
        if bursar("ledger", "verify", "--ledger", f"{number}.db").returncode == 0:
            unseen.append(name)
    return not unseen, f"{len(unseen)} of {len(EDITS)} edits were not seen{': ' if unseen else ''}{', '.join(unseen)}"


if __name__ == "__main__":
    judged(main)
