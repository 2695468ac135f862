"""Verifying: the chain, the fold and the anchors, against what the store says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bursar.errors import BursarError, LedgerHalted
from bursar.ledger.anchors.evidence import Known, behind
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.counters import wrong_counters
from bursar.ledger.inspection.reprice import Pricer, repriced
from bursar.ledger.journal.body import body_in
from bursar.ledger.journal.entry import FIRST, Chain, Entry
from bursar.ledger.journal.fold import Books
from bursar.ledger.journal.rows import Balance
from bursar.ledger.stores._base import Reader
from bursar.presented import Presented


@dataclass(frozen=True, repr=False)
class Verification(Presented):
    """What was checked, and everything that is wrong."""

    entries: int
    roots: int
    problems: tuple[str, ...]
    anchored: int = 0
    """How many of the roots an anchor vouches for: for the others a rollback would not be seen."""
    notices: tuple[str, ...] = ()
    """What is no fault: charges above today's price, and what only a deep verification compares."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def to_dict(self) -> dict[str, Any]:
        """The outcome as JSON has it."""
        return {
            "ok": self.ok,
            "entries": self.entries,
            "roots": self.roots,
            "anchored": self.anchored,
            "problems": list(self.problems),
            "notices": list(self.notices),
        }

    def __str__(self) -> str:
        return "; ".join([self._verdict(), *(f"note: {notice}" for notice in self.notices)])

    def _verdict(self) -> str:
        head = f"{self.entries} entries of {self.roots} root{'' if self.roots == 1 else 's'}: "
        if not self.ok:
            return head + "; ".join(self.problems)
        if self.anchored == self.roots:
            return head + "the chain, the balances and the anchors agree"
        return head + (
            f"the chain and the balances agree; only {self.anchored} of the roots have an anchor, so an older copy in "
            "this one's place would not be seen"
        )


def verify(reader: Reader, chain: Chain, anchors: Known | None, reprice: Pricer | None = None) -> Verification:
    """Refold and rehash every root; with a way to find prices, compute every price anew too."""
    problems: list[str] = reader.damage()
    notices: list[str] = []
    keys: dict[str, tuple[str, int]] = {}
    count = 0
    heads = reader.heads()
    rows = {row.root for row in reader.scopes()}
    problems += [f"scopes of {root} have no journal" for root in sorted(rows - set(heads))]
    problems += [_stray(what, whose) for what, whose in reader.strays()]
    for root in heads:
        books, before = Books(keys), len(problems)
        count += _fold(reader, chain, root, books, problems)
        problems += [f"{root}: {problem}" for problem in books.problems]
        try:
            _compare(reader, root, books, problems)
            if reprice is not None and len(problems) == before:  # of what is not in order nobody knows the state
                found = repriced(reader, root, reprice)
                problems += found.problems
                notices += found.notices
        except DAMAGE as problem:
            problems.append(f"{root}: it cannot be read: {problem!r}")
    _compare_keys(reader, keys, problems)
    if anchors is not None:
        problems += behind(reader, anchors).values()
    known = sum(root in heads for root in anchors or ())
    return Verification(count, len(heads), tuple(problems), known, tuple(notices))


def _stray(what: str, whose: str) -> str:
    if what == "count of changes":
        return f"{whose}: changes are counted with it, which only a root has"
    return f"{what} of {whose}, which does not exist"


def _fold(reader: Reader, chain: Chain, root: str, books: Books, problems: list[str]) -> int:
    """Follow the chain; stop where it breaks."""
    prev, seq, at, count = FIRST, 0, 0, 0
    for entry, digest in reader.entries(root):
        if not _typed(entry):
            problems.append(f"{root}: the entry after {seq} is damaged")
            return count
        gap = entry.kind == "restore" and entry.seq > seq
        if (entry.seq != seq + 1 and not gap) or entry.prev != prev or entry.at < at:
            problems.append(f"{root}: entry {entry.seq} does not follow entry {seq}")
            return count
        if chain.hash(entry) != digest:
            problems.append(f"{root}: entry {entry.seq} was changed: its hash does not match")
            return count
        try:
            books.apply(root, entry.seq, entry.kind, entry.key, body_in(entry.body))
        except DAMAGE as problem:
            problems.append(f"{root}: entry {entry.seq} cannot be read: {problem!r}")
            return count
        prev, seq, at, count = digest, entry.seq, entry.at, count + 1
    head = reader.head(root)
    if head is None or (head.seq, head.hash, head.at) != (seq, prev, at):
        problems.append(f"{root}: the journal ends at entry {seq}, its head says otherwise")
    elif root in books.scopes and head.epoch != books.epoch:
        problems.append(f"{root}: its scopes were changed {books.epoch} times, {head.epoch} are counted")
    return count


def _typed(entry: Entry) -> bool:
    """Whether each column has the type it was written with; a damaged file may hold anything."""
    return tuple(map(type, entry)) == _TYPES


DAMAGE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError, BursarError)
"""What reading somebody's edits may raise: they may have written anything anywhere."""
_TYPES = (str, int, int, str, str, str, str, str)


def _compare(reader: Reader, root: str, books: Books, problems: list[str]) -> None:
    """The tables of a root against the fold."""
    rows = {row.name: row for row in reader.scopes(root)}
    if rows != books.scopes:
        problems.append(f"{root}: the scopes are not what the journal says")
    lines: dict[tuple[str, str], Balance] = {}
    released = {}
    for name in rows:
        try:
            lines |= {(name, line): balance for line, balance in reader.balances(name).items()}
        except LedgerHalted as halted:
            problems.append(f"{root}: {halted}")
        for what, count in reader.released(name):
            released[name, what] = count
    for place in sorted(set(lines) | set(books.lines)):
        if lines.get(place) != books.lines.get(place):
            problems.append(f"{root}: the balance of {'.'.join(place)} is not what the journal says")
    if released != books.released:
        problems.append(f"{root}: the list of releases is not what the journal says")
    _compare_cohort(reader, root, books, problems)
    if {row.id: row for row in reader.reservations(root)} != books.reservations:
        problems.append(f"{root}: the reservations are not what the journal says")


def _compare_cohort(reader: Reader, root: str, books: Books, problems: list[str]) -> None:
    """The counters of blocks, and the list of files of a cohort, against the fold."""
    if reader.deltas(root) != books.deltas:
        problems.append(f"{root}: the list of deltas is not what the journal says")
    row = books.scopes.get(root)
    if row is None:
        return
    scope = Scope(row)
    if scope.cohort is not None and scope.cohort["keeps"] == "blocks":
        spent = {line: balance.spent for (name, line), balance in books.lines.items() if name == root}
        problems += [f"{root}: {problem}" for problem in wrong_counters(reader, scope, books.charges, spent)]


def _compare_keys(reader: Reader, keys: dict[str, tuple[str, int]], problems: list[str]) -> None:
    for key, root, seq in reader.every_key():
        expected = keys.pop(key, None)
        if expected is None:
            problems.append(f"key {key!r} is not in the journal")
        elif expected != (root, seq) and not _part(reader, key, root, seq):
            problems.append(f"key {key!r} points to another entry")
    problems += [f"key {key!r} of the journal is missing" for key in sorted(keys)[:10]]


def _part(reader: Reader, key: str, root: str, seq: int) -> bool:
    """Whether the entry is another root's part of the same charge."""
    chained = reader.entry(root, seq)
    return chained is not None and chained.entry.key == key
