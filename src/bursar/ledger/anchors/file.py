"""Anchors: the ends of the chains, written outside the database.

A backup that is restored in place of the ledger would refund what was spent since. The anchor file knows better: each
commit appends (root, seq, hash) to it, after the commit is durable, so a sound ledger is never behind its anchor. The
claim is exactly this: tampering and rollback are evident to whoever holds an anchor that the attacker could not write.

Processes share the file. Each reads what the others append and asks its own chain for it, so two copies of a database
that share an anchor stop each other. A file that has grown to twice what is worth keeping is written anew: whoever
appends holds the file's lock together with others, whoever writes it anew holds it alone, so that no line falls between
reading and replacing.
"""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections.abc import Mapping
from contextlib import suppress

from bursar.errors import LedgerHalted, storage_trouble
from bursar.ledger.anchors.evidence import END, Anchored, Known, check, line_of, parsed
from bursar.ledger.journal.rows import Head
from bursar.ledger.stores._base import Reader
from bursar.ledger.stores.file_locks import alone, together, unlock

_PATIENCE = 0.05  # seconds
_LONGEST = 1 << 20  # bytes, before the file is written anew with the last anchors only
_LATER = 1 << 16  # bytes, until the next attempt
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_MARK = END.encode()

Place = tuple[int, int]
_NOWHERE = (-1, -1)


class AnchorFile:
    """A text file with one line for each anchor: seq, hash, root, and a mark that a torn line lacks."""

    def __init__(self, path: str) -> None:
        # the file itself, not a link to it, which would be replaced by a file of its own
        self.path = os.path.realpath(path)
        self.long = False
        """Whether it is time to write it anew."""
        self.renewed = False
        """Whether it is another file than before, or was shortened, so that it may have forgotten something."""
        self._file, self._place, self._read_to = -1, _NOWHERE, 0
        self._last: dict[str, Anchored] = {}
        self._mine = 0
        self._own: set[tuple[str, Anchored]] = set()
        """What this one has appended since it last read: how many bytes, and which lines."""
        self._news = Known()
        """Lines of others, not yet asked for."""
        self._limit = _LONGEST
        self._look_again = 0.0
        self._lock = threading.RLock()

    def read(self) -> Known:
        """Every line, and the last anchor of each root."""
        return self._whole()[0]

    def learn(self) -> Known:
        """The same, for whoever asks the chain for it now: only what comes later is news."""
        with self._lock:
            self._close()
            known, place, read_to = self._whole()
            with suppress(OSError):  # it may be there for reading only
                self._file = os.open(self.path, _FLAGS & ~os.O_CREAT)
                if _place(os.fstat(self._file)) == place:  # kept open: a closed file's number may be given to another
                    self._place, self._read_to = place, read_to
            self._last, self._news = dict(known), Known()
            self._limit = _limit(known)
            return known

    def _whole(self) -> tuple[Known, Place, int]:
        try:
            with open(self.path, "rb") as file:
                content, place = file.read(), _place(os.fstat(file.fileno()))
            return parsed(content.decode(), self.path), place, content.rfind(_MARK) + len(_MARK)
        except (FileNotFoundError, NotADirectoryError):
            return Known(), _NOWHERE, 0
        except (OSError, UnicodeDecodeError) as problem:
            raise LedgerHalted(f"the anchor cannot be read: {problem}") from problem

    def ready(self) -> None:
        """Make sure that the next anchor can be written, before anything is charged, and see what others wrote."""
        with self._lock:
            try:
                now = time.monotonic()
                if now >= self._look_again or not self._at(self._file):  # others may have written the file anew
                    self._open()
                    self._look_again = now + _PATIENCE
                size = self._listen()
            except OSError as problem:
                raise storage_trouble("the anchor cannot be written, nothing was charged", problem) from problem
            self.long = size > self._limit

    def compare(self, reader: Reader) -> None:
        """Ask the chain for what others have written: it must be there by now, for they wrote after their commits."""
        if self._news:
            with self._lock:
                news, self._news = self._news, Known()
            try:
                check(reader, news)
            except LedgerHalted:
                self._news.join(news)
                raise

    def lacks(self, heads: Mapping[str, Head]) -> dict[str, Head]:
        """Those of these ends of chains that the file does not know yet, as far as it was read."""
        with self._lock:
            known = {root: anchored.seq for root, anchored in self._last.items()}
            for root, anchored in self._own:
                known[root] = max(anchored.seq, known.get(root, 0))
            return {root: head for root, head in heads.items() if head.seq > known.get(root, 0)}

    def append(self, heads: Mapping[str, Head]) -> None:
        """Write the new ends of chains, after a commit."""
        with self._lock:
            lines = {root: Anchored(head.seq, head.hash) for root, head in heads.items()}
            try:
                self._write("".join([line_of(root, anchored) for root, anchored in lines.items()]))
            except OSError as problem:
                self._close()
                raise storage_trouble("charged, but the anchor could not be written", problem) from problem
            self._own.update(lines.items())

    def _write(self, text: str) -> None:
        content = text.encode()
        while self._file < 0 or not self._written(content):  # not where the file was written anew meanwhile
            self._open()

    def _written(self, content: bytes) -> bool:
        file = self._file
        try:
            together(file)
            if not self._named():
                return False
            if os.write(file, content) != len(content):
                raise OSError(errno.ENOSPC, "only a part was written")
            self._mine += len(content)
        finally:
            unlock(file)
        return True

    def _named(self) -> bool:
        """Whether the open file is the one of that name."""
        return self._at(self.path) and self._at(self._file)

    def _at(self, where: str | int) -> bool:
        """Whether a name or number is the file's: an interrupt may have left a number that another file has by now."""
        try:
            return _place(os.stat(where)) == self._place
        except OSError:
            return False

    def _open(self) -> None:
        """The file of that name; what others have left in the one before is not lost."""
        if self._file >= 0:
            if self._named():
                return
            if self._at(self._file):
                self._listen()
            self._close()
            self._limit = max(_LONGEST, 2 * os.stat(self.path).st_size) if os.path.exists(self.path) else _LONGEST
        self._file = os.open(self.path, _FLAGS, 0o644)
        self._place = _place(os.fstat(self._file))
        self._forget()

    def _forget(self) -> None:
        """Know no more than what is read from now on."""
        self.renewed = True
        self._read_to = self._mine = 0
        self._last.clear()
        self._own.clear()

    def _listen(self) -> int:
        """Read what others have appended; how long the file is."""
        size = os.fstat(self._file).st_size
        if size < self._read_to:
            self._forget()
        if size == self._read_to + self._mine:  # nobody else has
            self._read_to = size
            for root, anchored in self._own:
                self._met(root, anchored)
        else:
            self._read_to += self._take(self._bytes(self._read_to, size))
        self._mine = 0
        self._own.clear()
        return size

    def _bytes(self, start: int, end: int) -> bytes:
        os.lseek(self._file, start, os.SEEK_SET)  # appending goes to the end all the same
        return os.read(self._file, end - start)

    def _take(self, content: bytes) -> int:
        """Note whole lines that are new here; how many bytes they were."""
        whole = content.rfind(_MARK) + len(_MARK)
        if whole < len(_MARK):
            return 0
        for root, lines in parsed(content[:whole].decode(errors="replace"), self.path).histories[0].items():
            for anchored in lines:
                if self._last.get(root) != anchored and (root, anchored) not in self._own:
                    self._news.add(root, anchored)
                self._met(root, anchored)
        return whole

    def _met(self, root: str, anchored: Anchored) -> None:
        if root not in self._last or anchored.seq >= self._last[root].seq:
            self._last[root] = anchored

    def shorten(self, reader: Reader) -> None:
        """Write the file anew if it is twice as long as what is worth keeping: the last anchor of each root. Every line
        that goes was found in the chain first, or halts the ledger and stays.
        """
        with self._lock, suppress(OSError):  # it is only tidying; whoever cannot append is told so
            self.long, self._limit = False, self._limit + _LATER
            try:
                if not alone(self._file) or not self._named():
                    return
                size = self._listen()
                self.compare(reader)
                known = self.read()
                self._limit = _limit(known)
                if size > self._limit:
                    self._replace(known)
            finally:
                unlock(self._file)
            self._open()

    def _replace(self, known: Known) -> None:
        fresh = f"{self.path}.{os.getpid()}"
        try:
            with open(fresh, "wb") as file:
                file.write("".join(line_of(root, anchored) for root, anchored in known.items()).encode())
                file.flush()
                shutil.copymode(self.path, fresh)
                os.fsync(file.fileno())
            os.replace(fresh, self.path)
        except OSError:  # on some systems nobody may have it open
            with suppress(OSError):
                os.unlink(fresh)
            raise

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        ours, file, self._file = self._at(self._file), self._file, -1  # first: an interrupt may come at any moment
        if ours:
            os.close(file)
        self._place, self._look_again = _NOWHERE, 0.0
        self._read_to = self._mine = 0
        self._own.clear()


def _place(found: os.stat_result) -> Place:
    return found.st_dev, found.st_ino


def _limit(known: Known) -> int:
    """How long a file may become before it is written anew."""
    return max(_LONGEST, 2 * sum(len(line_of(root, anchored).encode()) for root, anchored in known.items()))
