"""The fold: what a journal adds up to, computed from its entries alone.

Used by whoever verifies; stores keep the same results in tables. Each entry must start from the state that the ones
before it left, and no line may ever exceed its limit.
"""

from __future__ import annotations

from typing import Any

from bursar.ledger.budget.currencies import Balance
from bursar.ledger.journal.entry import read
from bursar.ledger.stores._base import ReservationRow, ScopeRow

_NOTHING = Balance(0, 0, 0, False)


class Books:
    """Scopes, lines, reservations, keys and releases of one root."""

    def __init__(self, keys: dict[str, tuple[str, int]] | None = None) -> None:
        self.scopes: dict[str, ScopeRow] = {}
        self.lines: dict[tuple[str, str], tuple[int, int, int, int, int]] = {}
        self.reservations: dict[str, ReservationRow] = {}
        self.keys: dict[str, tuple[str, int]] = {} if keys is None else keys
        """Shared by all roots: the first entry of a key answers for it."""
        self.released: dict[tuple[str, str], int] = {}
        self.problems: list[str] = []
        self.epoch = 0

    def apply(self, root: str, seq: int, kind: str, key: str, body: str) -> None:
        """One entry."""
        content = read(body)
        lines = self.lines
        names = []
        for row in content["effect"]:
            scope, line, limit0, spent0, held0, dead0, window0, limit, spent, held, dead, window = row
            names.append(scope)
            before = lines.get((scope, line))
            if before != (limit0, spent0, held0, dead0, window0) and not (
                before is not None
                and before[4] < window0
                and (limit0, spent0, held0, dead0) == (before[0], 0, before[2], 0)
            ):
                self._check_opening(seq, scope, line, before, row)
            if spent < 0 or held < 0 or spent + held > limit:
                self.problems.append(f"entry {seq} takes {scope}.{line} beyond its limit")
            lines[scope, line] = (limit, spent, held, dead, window)
        self._count(content, kind, names)
        if kind == "restore" and "scopes" in content:
            self.epoch = seq
        else:  # the first ledgers restored without marking their scopes
            self.epoch += "scopes" in content or kind == "restore"
        if "scopes" in content:
            for given in content["scopes"]:
                self.scopes[given[0]] = ScopeRow(*given)
        changed = [content["reservation"]] if "reservation" in content else []
        for id, status, expires, detail in changed + content.get("reservations", []):
            self.reservations[id] = ReservationRow(id, root, status, int(expires), detail)
        if key:
            self.keys.setdefault(key, (root, seq))

    def _check_opening(self, seq: int, scope: str, line: str, before: Any, row: list[Any]) -> None:
        if before is None and tuple(row[2:7]) == (0, 0, 0, 0, 0):
            return
        self.problems.append(f"entry {seq} does not start from what {scope}.{line} was")

    def _count(self, content: dict[str, Any], kind: str, names: list[str]) -> None:
        """What was released where."""
        scopes = dict.fromkeys(names)
        if "released" in content:
            plain = content["released"]
            for scope in scopes:
                self.released[scope, plain] = self.released.get((scope, plain), 0) + 1
            return
        whats = content.get("imported") or content.get("opening") or []
        pairs = [(what, 1) for what in whats] + [tuple(pair) for pair in content.get("inherited", ())]
        for scope in scopes if pairs else ():
            for what, count in pairs:
                self.released[scope, what] = self.released.get((scope, what), 0) + count
