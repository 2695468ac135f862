"""The files of a person filter in an object store, named by a web address: s3://bucket/visits, gs://…, abfs://….

What makes a delta safe to count is the store's own promise: an object is there as a whole when its upload is closed,
not before, and then it stays. So a delta is uploaded and closed, read back and hashed, and only then committed. Stores
that do not promise this are refused by name. File systems are fsspec's.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from bursar.cohorts.people.files import OPTIONS, Folder, parts_of
from bursar.errors import BursarError, InputError, StorageFailed
from bursar.extras import needs

WHOLE = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "memory")
"""Stores whose uploads are whole or not there."""
_PIECE = 1 << 22  # bytes that are hashed at once


def folder_of(given: str) -> Folder:
    """A folder on a disk, or in an object store where an address says so."""
    scheme, mark, rest = given.partition("://")
    if not mark:
        return Folder(given)
    if not rest.strip("/"):
        raise InputError(f"folder {scheme}:// names no place below the store", argument="folder")
    if scheme == "file":
        return Folder(rest)
    if scheme not in WHOLE:
        raise InputError(
            f"folder {scheme}://… is no store that puts a file as a whole or not at all: give a path, or one of "
            f"{', '.join(f'{one}://' for one in WHOLE)}",
            argument="folder",
        )
    try:
        parts = urlsplit(given)
    except ValueError as problem:
        raise InputError(f"folder is no address: {problem}", argument="folder") from None
    if parts.password or parts.query or parts.fragment:
        raise InputError(
            "folder is an address without a password or options, since the ledger keeps it: the store's own "
            "configuration says who you are",
            argument="folder",
        )
    return ObjectFolder(given)


def settled(given: str) -> str:
    """A folder as a ledger keeps it: the same place, wherever a later program runs."""
    scheme, mark, rest = given.partition("://")
    if not mark:
        return os.path.abspath(given)
    return f"file://{os.path.abspath(rest)}" if scheme == "file" else given


class ObjectFolder(Folder):
    """Below an address of an object store."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        with needs("objects", f"a folder at {address.partition(':')[0]}://"):
            import fsspec

            self.filesystem, self._root = fsspec.core.url_to_fs(address)
        self.name = self.address = address.rstrip("/")

    def parts(self, place: str) -> list[str]:
        """The objects of a delta, in order, by their whole addresses."""
        self.filesystem.invalidate_cache()  # what others wrote is seen, and what they removed
        try:
            found = self.filesystem.ls(f"{self._root}/{place}", detail=False)
        except FileNotFoundError:
            return []
        names = (str(name).rpartition("/")[2] for name in found)
        return sorted(f"{self.address}/{place}/{name}" for name in names if name.endswith(".parquet"))

    def write(self, place: str, schema: Any, batches: Iterable[Any]) -> None:
        """Upload Arrow batches, in objects that a worker can hold."""
        import pyarrow.parquet as pq

        try:
            with _told("a delta could not be written, nothing was charged"):
                for name, part in parts_of(batches):
                    with (
                        self.filesystem.open(f"{self._root}/{place}/{name}", "wb") as file,
                        pq.ParquetWriter(file, schema, **OPTIONS) as writer,
                    ):
                        for batch in part:
                            writer.write_batch(batch)
        except BaseException:
            self.drop(place)
            raise

    def settle(self, place: str) -> str:
        """An object that is closed is durable: what the store has of it is hashed."""
        with _told("a delta could not be read back, nothing was charged"):
            parts = self.parts(place)
            if not parts:
                raise StorageFailed("the store lost a delta that was written, nothing was charged")
            return self.digest(parts)

    def seen_by_all(self) -> Any:
        """The file system, for workers of other processes."""
        if self.address.startswith("memory:"):
            raise InputError(
                "Spark's workers do not see the memory of this process: give another folder", argument="folder"
            )
        return self.filesystem

    def gather(self, place: str, job: Callable[[str], Sequence[tuple[str, str]]]) -> None:
        """Make a delta of the objects that a job wrote at a place of its own, by the names that it gives: an attempt
        that was given up may write there as late as it likes. Their hashes say whether the store has all of it.
        """
        stage = f"{self._root}/{self.fresh()}"
        try:
            written = job(stage)
            with _told("a delta could not be written, nothing was charged"):
                names = [f"part-{number:05}.parquet" for number in range(len(written))]
                for (there, _), name in zip(written, names, strict=True):
                    self.filesystem.cp_file(f"{stage}/{there}", f"{self._root}/{place}/{name}")
                parts = self.parts(place)
                self.digest(parts)
                found = [(part.rpartition("/")[2], digest) for part, digest in self.hashes(parts)]
            if found != [(name, digest) for name, (_, digest) in zip(names, written, strict=True)]:
                raise StorageFailed("the store has not kept a delta as it was written, nothing was charged")
        except BaseException:
            self.drop(place)
            raise
        finally:
            self._remove(stage)

    def drop(self, place: str) -> None:
        """Remove what was written and does not count, as far as the store lets us."""
        self._remove(f"{self._root}/{place}")

    def _remove(self, inside: str) -> None:
        try:
            self.filesystem.invalidate_cache()
            self.filesystem.rm(inside, recursive=True)
        except Exception:  # it counts for nothing, and `verify` tells of it
            return

    def wrong(self, row: Any, found: list[str] | None = None) -> str | None:
        """What is wrong with a delta that the journal knows; a store that does not answer says it of every one."""
        try:
            with _told("the store does not answer"):
                return super().wrong(row, found)
        except StorageFailed as problem:
            return f"{row.kind} {row.path} of entry {row.seq} cannot be read ({problem})"

    def _look(self, part: str) -> Any:
        """What changes when an object does: its mark, date and size, as the store says them."""
        return self.filesystem.ukey(self._inside(part))

    def _hash(self, part: str) -> str:
        whole = hashlib.sha256()
        with self.filesystem.open(self._inside(part), "rb") as file:
            while piece := file.read(_PIECE):
                whole.update(piece)
        return whole.hexdigest()

    def _places(self) -> list[str]:
        self.filesystem.invalidate_cache()
        with _told("the store does not answer"):
            try:
                found = self.filesystem.ls(f"{self._root}/log", detail=False)
            except FileNotFoundError:
                return []
        return sorted(f"log/{str(name).rstrip('/').rpartition('/')[2]}" for name in found)

    def _inside(self, part: str) -> str:
        return f"{self._root}{part.removeprefix(self.address)}"


@contextmanager
def _told(message: str) -> Iterator[None]:
    """Stores fail in ways of their own, and may quote addresses and headers: only the kind is told."""
    try:
        yield
    except BursarError:
        raise
    except Exception as problem:
        raise StorageFailed(f"{message} ({type(problem).__name__})") from None
