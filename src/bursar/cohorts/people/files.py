"""The files of a person filter: written whole, synced, hashed, and looked at before they are believed.

A delta has one row for each person that a query charged, among rows of random persons that are charged nothing: two of
them at least, 256 random bits, so that its hash confirms no guess, and as many as make the number of rows a power of
two. Rows have one length, so that sizes say no more than that.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bursar.errors import StorageFailed, storage_trouble
from bursar.ledger.journal.rows import DeltaRow

OPTIONS = {"compression": "NONE", "use_dictionary": False, "write_statistics": False}
"""Of a file whose size follows the number of its rows alone."""
FILE = 1 << 22
"""Rows of a file, at most: a worker has all of it in memory where it compares it with its hash."""
_LEAST = 1024  # rows
_FILLERS = 2  # of 128 bits each
_GRAIN = 2_000_000_000  # nanoseconds that two changes may be apart and have one date, on the coarsest file systems


def padded(rows: int) -> int:
    """How many rows a file with this many gets."""
    return max(_LEAST, 1 << (rows + _FILLERS - 1).bit_length())


def parts_of(batches: Iterable[Any]) -> Iterator[tuple[str, Iterator[Any]]]:
    """Batches file by file: the name of each, and what goes into it, to be taken before the next file is asked for."""
    left = iter(batches)
    for number, first in enumerate(left):
        yield f"part-{number:05}.parquet", _some(first, left)


def _some(first: Any, others: Iterator[Any]) -> Iterator[Any]:
    """A batch, and those after it that still fit into its file."""
    yield first
    rows = len(first)
    while rows < FILE and (batch := next(others, None)) is not None:
        rows += len(batch)
        yield batch


class Folder:
    """Where the files of one filter lie: on a disk."""

    filesystem: Any = None
    """What engines read the files by, where it is not the disk."""

    def __init__(self, path: str) -> None:
        self.path, self.name = Path(path), path
        self._known: dict[str, tuple[Any, str]] = {}
        """What files looked like when they were hashed, and their hash."""

    def fresh(self) -> str:
        """A new place for a delta or a snapshot, below the folder."""
        return f"log/{uuid.uuid4().hex}"

    def parts(self, place: str) -> list[str]:
        """The files of a delta, in order."""
        return sorted(map(str, (self.path / place).glob("*.parquet")))

    def write(self, place: str, schema: Any, batches: Iterable[Any]) -> None:
        """Write Arrow batches, in files that a worker can hold."""
        import pyarrow.parquet as pq

        target = self.path / place
        try:
            target.mkdir(parents=True)
            for name, part in parts_of(batches):
                with pq.ParquetWriter(target / name, schema, **OPTIONS) as writer:
                    for batch in part:
                        writer.write_batch(batch)
        except OSError as problem:
            self.drop(place)
            raise storage_trouble("a delta could not be written, nothing was charged", problem) from None

    def settle(self, place: str) -> str:
        """Make a delta durable, names too, and give its hash."""
        target = self.path / place
        if not self.parts(place):
            raise StorageFailed(
                f"a delta was written, and {self.path} has none of it: do all workers see this folder? "
                "Nothing was charged"
            )
        try:
            for path in (*map(Path, self.parts(place)), target, target.parent, self.path):
                _sync(path)
            if os.access(self.path.parent, os.R_OK):  # the folder may be as new as what is in it
                _sync(self.path.parent)
        except OSError as problem:
            self.drop(place)
            raise storage_trouble("a delta could not be made durable, nothing was charged", problem) from None
        return self.digest(self.parts(place))

    def digest(self, parts: Sequence[str]) -> str:
        """The hash over the names and contents of a delta's files; those that have not changed are not read again."""
        whole = hashlib.sha256()
        for part in parts:
            look, known = self._look(part), self._known.get(part)
            if known is None or known[0] != look:
                known = self._known[part] = (look, self._hash(part))
            whole.update(f"{part.rpartition('/')[2]} {known[1]}\n".encode())
        return whole.hexdigest()

    def hashes(self, parts: Sequence[str]) -> list[tuple[str, str]]:
        """Files that were looked at, each with its hash."""
        return [(part, self._known[part][1]) for part in parts]

    def _look(self, part: str) -> Any:
        """What changes when a file does; anything of a young one, since two changes at once have one date."""
        now, found = time.time_ns(), os.stat(part)
        if now - found.st_ctime_ns <= _GRAIN:
            return object()
        return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)  # ctime cannot be set back

    def _hash(self, part: str) -> str:
        with open(part, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def forget(self) -> None:
        """Read every file again when it is looked at next."""
        self._known = {}

    def checked(self, rows: Sequence[DeltaRow]) -> list[str]:
        """The files of these deltas; `StorageFailed` where one is missing or not what the journal says."""
        found: list[str] = []
        for row in rows:
            problem = self.wrong(row, found)
            if problem is not None:
                raise StorageFailed(f"{problem}: nothing was decided, nothing was charged")
        return found

    def wrong(self, row: DeltaRow, found: list[str] | None = None) -> str | None:
        """What is wrong with a delta that the journal knows. Its files go into ``found`` as they were looked at: in
        another listing one could be missing, and those in it would have spent less.
        """
        try:
            parts = self.parts(row.path)
            if not parts:
                return f"{row.kind} {row.path} of entry {row.seq} is missing from {self.name}"
            if self.digest(parts) != row.digest:
                return f"{row.kind} {row.path} of entry {row.seq} in {self.name} is not what was committed"
            if found is not None:
                found += parts
        except OSError as problem:
            return f"{row.kind} {row.path} of entry {row.seq} cannot be read ({problem.strerror})"
        return None

    def orphans(self, rows: Sequence[DeltaRow]) -> list[str]:
        """Places that no entry knows: of admissions that were interrupted, or are under way."""
        known = {row.path for row in rows}
        return [place for place in self._places() if place not in known]

    def _places(self) -> list[str]:
        """Every place that there is."""
        log = self.path / "log"
        try:
            return sorted(f"log/{path.name}" for path in log.iterdir()) if log.is_dir() else []
        except OSError as problem:
            raise storage_trouble("the folder cannot be listed", problem) from None

    def spark_target(self, place: str) -> str:
        """Where Spark writes a delta, in a folder that is there."""
        target = (self.path / place).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        return f"file:{target}"

    def drop(self, place: str) -> None:
        """Remove what was written and does not count."""
        shutil.rmtree(self.path / place, ignore_errors=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
