"""Anchors: the ends of the chains, written outside the database.

A backup that is restored in place of the ledger would refund what was spent since. The anchor file knows better: each
commit appends (root, seq, hash) to it, after the commit is durable, so a sound ledger is never behind its anchor. The
claim is exactly this: tampering and rollback are evident to whoever holds an anchor that the attacker could not write.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from typing import NamedTuple

from bursar.errors import LedgerHalted, storage_trouble
from bursar.ledger.stores._base import Head, Reader

_END = " ;"  # no name has it
_PATIENCE = 0.05  # seconds
_LONGEST = 1 << 20  # bytes, before the file is written anew with the last anchors only


class Anchored(NamedTuple):
    """The last known end of a chain."""

    seq: int
    hash: str


class AnchorFile:
    """A text file with one line for each anchor: seq, hash, root, and a mark that a torn line lacks."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = -1
        self._look_again = 0.0
        self._lock = threading.Lock()

    def read(self) -> dict[str, Anchored]:
        """The last anchor of each root; a line that a crash cut off is left out."""
        try:
            with open(self.path, encoding="utf-8") as file:
                text = file.read()
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (OSError, UnicodeDecodeError) as problem:
            raise LedgerHalted(f"the anchor cannot be read: {problem}") from problem
        anchors: dict[str, Anchored] = {}
        for line in text.splitlines():
            if line and not line[0].isdigit():
                raise LedgerHalted(f"{self.path} is no anchor file: {line[:40]!r}")
            if line.endswith(_END):
                seq, hash, root = line.removesuffix(_END).split(" ", 2)
                # processes may append in another order than they committed
                if root not in anchors or int(seq) >= anchors[root].seq:
                    anchors[root] = Anchored(int(seq), hash)
        return anchors

    def ready(self) -> None:
        """Make sure that the next anchor can be written, before anything is charged."""
        with self._lock:
            now = time.monotonic()
            if now >= self._look_again:  # another process may have written the file anew
                try:
                    if self._opened() > _LONGEST:
                        self._rewrite()
                        self._opened()
                except OSError as problem:
                    raise storage_trouble("the anchor cannot be written, nothing was charged", problem) from problem
                self._look_again = now + _PATIENCE

    def append(self, heads: Mapping[str, Head]) -> None:
        """After a commit."""
        # the line break comes first: it also ends whatever a crash has left of another line
        text = "".join(f"\n{head.seq} {head.hash} {root}{_END}" for root, head in heads.items())
        self.ready()
        try:
            os.write(self._file, text.encode())
        except OSError as problem:
            self.close()
            raise storage_trouble("charged, but the anchor could not be written", problem) from problem

    def _opened(self) -> int:
        """Make sure that the file is the one of that name, and say how long it is."""
        try:
            named = os.stat(self.path)
        except FileNotFoundError:
            named = None
        if self._file >= 0 and named is not None:
            mine = os.fstat(self._file)
            if (mine.st_ino, mine.st_dev) == (named.st_ino, named.st_dev):
                return mine.st_size
        self.close()
        self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o644)
        return os.fstat(self._file).st_size

    def _rewrite(self) -> None:
        anchors = self.read()
        fresh = f"{self.path}.{os.getpid()}"
        with open(fresh, "w", encoding="utf-8") as file:
            file.writelines(f"\n{seq} {hash} {root}{_END}" for root, (seq, hash) in anchors.items())
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self.path)

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file, self._look_again = -1, 0.0


def behind(reader: Reader, anchors: Mapping[str, Anchored]) -> dict[str, str]:
    """The roots whose chains do not contain their anchor, and how so."""
    found = {}
    for root, (seq, hash) in anchors.items():
        head = reader.head(root)
        if head is None or head.seq < seq:
            end = 0 if head is None else head.seq
            found[root] = (
                f"{root} ends at entry {end}, its anchor knows entry {seq}: an older copy was put in its place"
            )
            continue
        chained = reader.entry(root, seq)
        if chained is None or chained.hash != hash:
            found[root] = f"{root} has another entry {seq} than its anchor: this is a different copy, or it was changed"
    return found


def check(reader: Reader, anchors: Mapping[str, Anchored]) -> None:
    """Halt a ledger that is behind its anchor."""
    problems = behind(reader, anchors)
    if problems:
        rest = (
            "What was spent since is not known here: find the right file, or accept the loss with `bursar ledger "
            "restore --assume-spent`, which counts all that was left as spent"
        )
        roots = "a root is" if len(problems) == 1 else f"{len(problems)} roots are"
        raise LedgerHalted(
            f"{'; '.join(problems.values())}. {rest}",
            public=f"{roots} behind the anchor: an older or a different copy was put in the ledger's place. {rest}",
        )
