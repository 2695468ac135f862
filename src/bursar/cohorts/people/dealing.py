"""Charges dealt into buckets on disk, everybody whole in one of them, in two passes that never hold more than a part.

One file: each batch of charges is sorted by bucket and written column by column, and where what begins is all that is
remembered. A bucket is then read as one slice of every batch, so that its charges are
in the order in which they came.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bursar.cohorts.people.fold import MIXER, Marks, Room, Whole, column_of, numbers_in
from bursar.errors import InputError

COLUMNS = ("query", "person", "charge")
BATCH = 1 << 20  # charges in memory at once, while they are dealt
WANTED = "query and charge must be there, and no charge below 0"
_HALF = np.uint64(32)


class _Numbers:
    """A column of whole numbers: each batch in as few bytes as its numbers need above the least of them."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._parts: list[tuple[int, int, np.dtype[Any]]] = []
        """Of each batch: where it begins in the file, the least number, and what the others are counted in."""

    def write(self, file: Any, column: Any, order: Whole) -> None:
        """One batch, in this order."""
        numbers = numbers_in(column.cast(pa.int64(), safe=False))
        least, most = int(numbers.min()), int(numbers.max())
        few = np.min_scalar_type(most - least)
        self._parts.append((file.tell(), least, few))
        written_to(file, (numbers - least).astype(few)[order])  # numbers of 64 bits go round, and back again

    def read(self, file: int, slices: Sequence[tuple[int, int]], room: Room) -> Any:
        """These rows of each batch, as one column."""
        whole, end = room.array(f"column {id(self)}", sum(count for _, count in slices)), 0
        for (start, least, few), (first, count) in zip(self._parts, slices, strict=True):
            part = room.array("part", count, few)
            read_into(file, part, start + first * few.itemsize)
            np.add(part.astype(np.int64), least, out=whole[end : end + count])
            end += count
        return column_of(whole).cast(self._kind, safe=False)


class _Texts:
    """A column of texts or bytes: for each batch where each begins, and all of them in a row."""

    def __init__(self, kind: Any) -> None:
        large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
        self._kind, self._offset = kind, np.dtype(np.int64 if large else np.int32)
        self._parts: list[tuple[int, int]] = []

    def write(self, file: Any, column: Any, order: Whole) -> None:
        """One batch, in this order."""
        _, offsets, letters = pc.take(column, column_of(order), boundscheck=False).buffers()
        self._parts.append((file.tell(), file.tell() + len(offsets)))
        written_to(file, offsets)
        written_to(file, letters)

    def read(self, file: int, slices: Sequence[tuple[int, int]], room: Room) -> Any:
        """These rows of each batch, as one column."""
        found = [pa.array([], self._kind)]
        for (start, texts), (first, count) in zip(self._parts, slices, strict=True):
            offsets: Any = np.empty(count + 1, self._offset)
            read_into(file, offsets, start + self._offset.itemsize * first)
            letters: Any = np.empty(int(offsets[-1] - offsets[0]), np.uint8)
            read_into(file, letters, texts + int(offsets[0]))
            buffers = [None, pa.py_buffer(offsets - offsets[0]), pa.py_buffer(letters)]
            found.append(pa.Array.from_buffers(self._kind, count, buffers))
        return pa.concat_arrays(found)


class Dealt:
    """A file of charges, and where its buckets are."""

    def __init__(self, path: Path, buckets: int) -> None:
        self._path, self.buckets = path, buckets
        self._columns: list[_Numbers | _Texts] = []
        self._bounds: list[Whole] = []
        """For each batch where the buckets begin, and the end."""

    def deal(self, schema: Any, batches: Iterable[Any]) -> None:
        """Write charges (query, person, charge); one more column, ``mark``, says for persons that are no numbers where
        they go.
        """
        kinds = [schema.field(name).type for name in COLUMNS]
        self._columns = [_Numbers(kind) if pa.types.is_integer(kind) else _Texts(kind) for kind in kinds]
        with open(self._path, "wb", buffering=0) as file:
            for batch in filter(len, batches):
                refuse_gaps(batch)
                if numbers_in(batch.column("charge")).min() < 0:
                    raise InputError(WANTED, argument="charges")
                places = _places(batch, self.buckets)
                ends = np.cumsum(np.bincount(places, minlength=self.buckets))
                self._bounds.append(np.concatenate([np.zeros(1, np.int64), ends]))
                order = np.argsort(places, kind="stable")
                for name, column in zip(COLUMNS, self._columns, strict=True):
                    column.write(file, batch.column(name), order)

    def bucket(self, number: int, room: Room) -> Any:
        """The charges of a bucket, as an Arrow table that lives in the room until the next one is read."""
        slices = [(int(bounds[number]), int(bounds[number + 1] - bounds[number])) for bounds in self._bounds]
        with open(self._path, "rb", buffering=0) as file:
            columns = [column.read(file.fileno(), slices, room) for column in self._columns]
        return pa.Table.from_arrays(columns, list(COLUMNS))


def written_to(file: Any, buffer: Any) -> None:
    """All of a buffer: a write may be short."""
    left = memoryview(buffer).cast("B")
    while left:
        left = left[file.write(left) :]


def read_into(file: int, into: Any, start: int) -> None:
    """As many bytes as there is room for, from there on."""
    left = memoryview(into).cast("B")
    while left:
        count = os.preadv(file, [left], start)
        if not count:
            raise OSError(errno.EIO, "the charges that were dealt ended early")
        left, start = left[count:], start + count


def refuse_gaps(batch: Any) -> None:
    """Queries and charges must be there."""
    query, _, charge, *_ = batch.columns
    if query.null_count or charge.null_count:
        raise InputError(WANTED, argument="charges")


def _places(batch: Any, buckets: int) -> npt.NDArray[Any]:
    """The bucket of each row, in as few bytes as hold its number: these are sorted in linear time."""
    persons: Any = batch.column("person")
    if pa.types.is_integer(persons.type):
        marks: Marks = numbers_in(persons.cast(pa.int64(), safe=False)).view(np.uint64) * MIXER
    else:
        marks = numbers_in(batch.column("mark")).view(np.uint64)
    return (((marks >> _HALF) * np.uint64(buckets)) >> _HALF).astype(np.uint8 if buckets <= 256 else np.uint16)
