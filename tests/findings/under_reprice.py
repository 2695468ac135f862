"""Charges of homonyms that already stand in a journal were not all named by `verify --reprice`: one that had paid more
than the catalogue's price passed for a catalogue's release, and in the process that charged it so did a cheaper one.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

from shared import bursar, judged

import bursar as b

CHANGES = {"k1": ("laplace(scale=100)", "laplace(scale=1)"), "k2": ("laplace(scale=0.5)", "laplace(scale=1)")}
"""What paid, and what its class called itself: 0.01 for a price of 1, and 2 for it."""


def doctored() -> None:
    """The journal that such a class has left: every hash and balance is right, only the text is another's."""
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("data", epsilon=9)
        for key, (paid, _) in CHANGES.items():
            ledger.spend("data", paid, key=key)
    Path("budget.db-anchor").unlink()
    hand = sqlite3.connect("budget.db", isolation_level=None)
    hand.execute("DROP TRIGGER journal_keeps_its_entries")
    before = ""
    rows = hand.execute("SELECT root, seq, at, kind, key, actor, body, prev FROM journal ORDER BY seq").fetchall()
    for root, seq, at, kind, key, actor, text, link in rows:
        body, prev = text.replace(*CHANGES.get(key, ("", ""))), before or link
        head = ",".join(json.dumps(part) for part in (root, seq, at, kind, key, actor))
        before = hashlib.sha256(f'[{head},{body},"{prev}"]'.encode()).hexdigest()
        hand.execute("UPDATE journal SET body = ?, prev = ?, hash = ? WHERE seq = ?", (body, prev, before, seq))
    hand.execute("DELETE FROM released")
    hand.execute("INSERT INTO released VALUES ('data', 'laplace(scale=1)', 2)")
    hand.close()


def main() -> tuple[bool, str]:
    """Verified as it is, then with prices."""
    doctored()
    whole = bursar("ledger", "verify")
    assert whole.returncode == 0, whole.stdout + whole.stderr
    priced = bursar("ledger", "verify", "--reprice")
    said = " ".join((priced.stdout + priced.stderr).split())
    named = [f"entry {seq}" in said for seq in (2, 3)]
    words = {True: "named", False: "not named"}
    return all(named), f"a homonym that paid 0.01 for 1 is {words[named[0]]}, one that paid 2 is {words[named[1]]}"


if __name__ == "__main__":
    judged(main)
