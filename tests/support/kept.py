"""Writes a ledger with an entry of every kind, by the bursar that is imported, and what that bursar says of it.

    python tests/support/kept.py FOLDER NAME

makes NAME.db, NAME.db-anchor and NAME.json in a folder. Later versions must read such a file, verify it, and go on.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import bursar as b
from bursar.ledger.ledger import Ledger

LONG = 10**8  # seconds
TARGET = {"epsilon": "1", "delta": "1e-6"}
TERMS: dict[str, dict[str, Any]] = {
    "pure": {"epsilon": "1"},
    "sums": TARGET,
    "advanced": TARGET,
    "concentrated": TARGET,
    "residue": TARGET,
    "zcdp": {"rho": "1/50", "delta": "1e-9"},
    "renyi": {"order": "32", **TARGET},
    "gdp": {"mu": "0.3"},
}
PAST = "what,count,delta\nlaplace(scale=200),2,\ngaussian(sigma=90),1,1e-8\n"


class Clock:
    """It stands still unless it is moved: how often somebody looks at it does not matter."""

    now = 1_790_000_000_000_000

    def __call__(self) -> int:
        """Microseconds since 1970."""
        return self.now


def every_currency(ledger: Ledger) -> None:
    """A root of each, with charges and a refusal."""
    for name, terms in TERMS.items():
        ledger.open(name, currency=name, **terms, key=f"open {name}")
        what = "gaussian(sigma=50)" if name in ("gdp", "zcdp", "renyi") else "laplace(scale=50)"
        ledger.spend(name, what, key=f"spend {name}")
        ledger.spend(name, f"{what}*3", key=f"more {name}")
        try:
            ledger.spend(name, "gaussian(sigma=1)" if name == "gdp" else "laplace(scale=1/2)", key=f"refused {name}")
        except b.BudgetExceeded:
            continue
    ledger.spend(["pure", "sums"], "laplace(scale=40)", key="two roots")


def every_verb(ledger: Ledger, clock: Clock) -> dict[str, str]:
    """Blocks, quotas, windows, reservations in every state, corrections, limits; gives the reservations left open."""
    two = {"second_person": True}
    ledger.open("data", epsilon=2, alerts=["1/2"], unit="person", spent=["laplace(scale=100)"], **two, key="o1")
    ledger.open("data/team", parent="data", epsilon=1, key="o2")
    ledger.open("data/week", parent="data", kind="window", epsilon="1/2", period=604800, key="o3")
    ledger.spend("data/week", "laplace(scale=20)", key="w1")
    shared = ledger.reserve("data", "laplace(scale=30)*3 + laplace(scale=60)*2", ttl=LONG, key="shared")
    ledger.open("data/north", parent="data", kind="block", key="o4")
    ledger.open("data/south", parent="data", kind="block", key="o5")
    first = ledger.spend("data/north", "laplace(scale=25)", key="north")
    ledger.draw(shared, "laplace(scale=30) + laplace(scale=60)", key="drawn")
    done = ledger.reserve("data/team", "laplace(scale=50)*4", ttl=LONG, key="done")
    ledger.draw(done, "laplace(scale=50)*2", key="half")
    ledger.close(done, key="closed")
    ledger.reserve("data/team", "laplace(scale=50)", ttl=1, key="gone")
    clock.now += 10_000_000
    ledger.spend("data/team", "laplace(scale=80)", key="after")
    plan = ledger.reserve("residue", "randomized_response(epsilon=0.01)*5", ttl=LONG, key="plan")
    ledger.draw(plan, "randomized_response(epsilon=0.01)*2", key="some")
    ledger.correct(first, "laplace(scale=100)", reason="it ran twice", key="correct")
    wrong, more = ("pure", 2), {"reason": "too much", "key": "beyond"}
    try:
        ledger.correct(wrong, "laplace(scale=1/4)", **more)
    except b.BursarError as need:
        ledger.correct(wrong, "laplace(scale=1/4)", **more, consent=need.consent)  # type: ignore[attr-defined]
    ledger.bring_in("sums", PAST, key="import")
    ledger.limit("data/team", epsilon="3/2", reason="more", key="limit")
    ledger.limit("data", epsilon=9, reason="both", by="bob", approved_by="eve", key="both")
    ledger.limit("pure", epsilon=9, reason="pays", key="pays")
    ledger.freeze("advanced", reason="stop", key="s1")
    ledger.thaw("advanced", reason="go", key="s2")
    ledger.retire("concentrated", reason="end", key="s3")
    return {"shared": shared.id, "plan": plan.id}


def told(ledger: Ledger) -> dict[str, Any]:
    """What a ledger says of itself."""
    found: dict[str, Any] = {"heads": {}, "scopes": {}, "fits": {}}
    for scope in ledger.scopes():
        found["scopes"][scope.name] = ledger.show(scope.name).to_dict()
        if scope.kind == "root":
            last = ledger.entries(scope.name)[-1]
            found["heads"][scope.name] = [last.entry.seq, last.hash]
        try:
            found["fits"][scope.name] = ledger.quote(scope.name, "laplace(scale=500)").fits
        except b.BursarError as refusal:
            found["fits"][scope.name] = type(refusal).__name__
    return {**found, "jsonl": ledger.export("jsonl"), "csv": ledger.export("csv")}


def main(folder: Path, name: str) -> None:
    """Write it, lose a part of it, restore it."""
    path, older, clock = folder / f"{name}.db", folder / "older.db", Clock()

    def opened() -> Ledger:
        return Ledger(f"sqlite:///{path}", alert=None, clock=clock, actor="ann")

    with opened() as ledger:
        every_currency(ledger)
        left_open = every_verb(ledger, clock)
        ledger.open("lost", epsilon=1, key="o6")
        ledger.spend("lost", "laplace(scale=10)", key="l1")
        ledger.reserve("lost", "laplace(scale=10)", ttl=LONG, key="l2")
        ledger.backup(str(older))
        ledger.spend("lost", "laplace(scale=10)", key="l3")
    for file in folder.glob(f"{name}.db*"):
        if file.name != f"{name}.db-anchor":
            file.unlink()
    shutil.move(older, path)
    with opened() as ledger:
        ledger.restore(assume_spent=True, reason="the disk died", by="bob")
    with opened() as ledger:
        said = {**told(ledger), "open": left_open}
    text = json.dumps(said, indent=1, sort_keys=True, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
