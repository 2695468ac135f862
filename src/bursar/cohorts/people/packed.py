"""Charges whose three numbers fit into 64 bits, dealt and decided as one number each.

    key = spread person | query | charge

Sorted, such keys are in the order of persons, then of queries, so that nothing else has to be brought along; people
of one bucket have neighbouring keys. How many bits each number gets is known before the first charge is read, from the
least and the largest of each. Where 64 bits are not enough, or a person is no number, `dealing` does the same column
by column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bursar.cohorts.people.dealing import WANTED, read_into, refuse_gaps, written_to
from bursar.cohorts.people.fold import MIXER, Marks, Room, admitted_of, changes, numbers_in, totals_of
from bursar.cohorts.people.pages import Column, coded
from bursar.errors import InputError

RUN = 1 << 21  # keys that are sorted and written at once
_CELL = 1 << 18  # charges in a cell, at most, if they are spread evenly
_MOST_CELLS = 4096
_BUCKET = 1 << 21  # charges in a bucket, at most, if they are spread evenly
_MOST_BUCKETS = 4096
_HALF = 32
_WORD = 64
Numbers = tuple[Any, Any, Any]
"""Columns of whole numbers without gaps: query, person and charge."""
Run = tuple[str, npt.NDArray[np.int64]]
"""The file of a run, and where its cells begin there, and the end, counted in keys."""


class Layout(NamedTuple):
    """Where a key has which number, each counted from the least one."""

    query: int
    """The least query, and how many bits queries have."""
    query_bits: int
    person: int
    person_bits: int
    charge_bits: int

    @property
    def spread(self) -> int:
        """Odd, so that products differ where persons do: neighbours come into different buckets."""
        return int(MIXER) >> (_WORD - self.person_bits) | 1

    @property
    def shift(self) -> int:
        """How many bits of a key are below its person."""
        return self.query_bits + self.charge_bits

    @property
    def few(self) -> np.dtype[Any]:
        """What its numbers are counted in, before they become a key."""
        return np.dtype(np.uint32 if max(self.person_bits, self.shift) <= _HALF else np.uint64)

    def pack(self, numbers: Numbers, keys: Marks, room: Room) -> None:
        """The keys of some charges, whose numbers are counted from the least ones."""
        for column, bits in zip(numbers, (self.query_bits, self.person_bits, self.charge_bits), strict=True):
            if int(np.bitwise_or.reduce(column)) >> bits:
                raise InputError("charges: the list changed while it was read", argument="charges")
        query, person, charge = numbers
        one = query.dtype.type
        low = np.left_shift(query, one(self.charge_bits), out=room.array("low", len(query), one))
        low |= charge
        np.multiply(person, _word(self.spread << self.shift), out=keys)
        keys &= _mask(self.person_bits + self.shift)  # what is beyond the person's bits is beyond the key's
        keys |= low

    def counted(self, batch: Any, room: Room) -> Numbers:
        """The numbers of a batch of charges (query, person, charge), counted from the least ones; gaps are refused."""
        refuse_gaps(batch)
        query, person, charge = map(_plain, batch.columns)
        return (
            np.subtract(query, _word(self.query), out=room.array("query", len(query), np.uint64)),
            np.subtract(person, _word(self.person), out=room.array("person", len(person), np.uint64)),
            charge,
        )

    def persons(self, spread: Marks) -> Any:
        """Who they are, from the first part of their keys."""
        back = spread * _word(pow(self.spread, -1, 1 << self.person_bits)) & _mask(self.person_bits)
        return (back + _word(self.person)).view(np.int64)


def layout_of(query: tuple[int, int], person: tuple[int, int], charge: tuple[int, int]) -> Layout | None:
    """The layout for numbers between these, if 64 bits are enough."""
    if charge[0] < 0:
        raise InputError(WANTED, argument="charges")
    bits = [max(1, int(most - least).bit_length()) for least, most in (query, person, (0, charge[1]))]
    return Layout(query[0], bits[0], person[0], bits[1], bits[2]) if sum(bits) <= _WORD else None


def buckets_for(count: int) -> int:
    """Into how many buckets so many charges are dealt."""
    return min(_MOST_BUCKETS, 1 << (count // _BUCKET).bit_length())


def cells_for(count: int, layout: Layout) -> int:
    """How many cells so many charges need, so that one stays near the processor, and half a key tells its people apart
    if that takes few more.
    """
    near = 1 << (count // _CELL).bit_length()
    half = 1 << max(0, layout.person_bits + layout.shift - _HALF)
    return min(_MOST_CELLS, max(near, half) if half <= 4 * near else near)


class Packed:
    """Sorted runs of keys in files, and where their cells begin. Where the keys of a cell differ in their last 32 bits
    only, these are what is kept.
    """

    def __init__(self, layout: Layout, kind: str, buckets: int, cells: int) -> None:
        """Buckets are cut into so many cells each, of which one is in memory at once."""
        self.layout, self._kind = layout, kind
        self.buckets, self._cells = buckets, cells
        people, all_cells = 1 << layout.person_bits, buckets * cells
        self._firsts = [number * people // all_cells for number in range(all_cells)]
        """The first person of each cell, as keys have them."""
        widest = -(-people // all_cells) << layout.shift
        self._few = np.dtype(np.uint32 if widest <= 1 << _HALF else np.uint64)
        self.runs: list[Run] = []

    def deal(self, path: Path, parts: Iterable[Numbers]) -> None:
        """Write charges (query, person, charge), each counted from the least one, into a new file."""
        room, keys, count = Room(), np.empty(RUN, np.uint64), 0
        with open(path, "wb", buffering=0) as file:
            for whole in parts:
                for start in range(0, len(whole[0]), RUN):
                    query, person, charge = (column[start : start + RUN] for column in whole)
                    if count + len(query) > RUN:
                        self._write(file, keys[:count])
                        count = 0
                    self.layout.pack((query, person, charge), keys[count : count + len(query)], room)
                    count += len(query)
            self._write(file, keys[:count])

    def _write(self, file: Any, keys: Marks) -> None:
        """One run."""
        keys.sort()
        edges = np.array([first << self.layout.shift for first in self._firsts], np.uint64)
        start = file.tell() // self._few.itemsize
        ends = np.append(np.searchsorted(keys, edges), len(keys))
        self.runs.append((str(file.name), start + ends))
        written_to(file, keys.astype(self._few, copy=False))

    def decided(self, bucket: int, limit: int, rule: str, room: Room) -> Iterator[list[Column]]:
        """A bucket, cell by cell: one row for each query and person, with what it charges in all, and whether a filter
        admits it. A cell lives in the room until the next one is computed.
        """
        with ExitStack() as opened:
            files = {path: opened.enter_context(open(path, "rb", buffering=0)) for path, _ in self.runs}
            for number in range(bucket * self._cells, (bucket + 1) * self._cells):
                parts = [(files[path].fileno(), *bounds[number : number + 2].tolist()) for path, bounds in self.runs]
                keys = self._cell(parts, self._firsts[number], room)
                if len(keys):
                    yield self._decided(keys, self._firsts[number], limit, rule, room)

    def _decided(self, keys: Any, first: int, limit: int, rule: str, room: Room) -> list[Column]:
        one = self._few.type
        pairs = np.right_shift(keys, one(self.layout.charge_bits), out=room.array("pairs", len(keys), self._few))
        fresh = changes(pairs, room.array("fresh", len(keys), np.bool_))
        firsts = np.flatnonzero(fresh)
        keys &= one((1 << self.layout.charge_bits) - 1)
        totals = totals_of(firsts, fresh, keys, room)
        pairs = room.taken("queries", pairs, firsts)
        who = np.right_shift(pairs, one(self.layout.query_bits), out=room.array("who", len(pairs), self._few))
        begins = changes(who, room.array("begins", len(pairs), np.bool_))
        pairs &= one((1 << self.layout.query_bits) - 1)
        starts = np.flatnonzero(begins)
        spread = who[starts].astype(np.uint64) + np.uint64(first)
        return [
            coded("query", pairs, self.layout.query, "int64"),
            Column("person", self._kind, self.layout.persons(spread), _numbered(begins, len(starts), room)),
            coded("charge", totals, 0, "int64"),
            Column("admitted", "bool", admitted_of(starts, totals, limit, rule, room)),
        ]

    def _cell(self, parts: Sequence[tuple[int, int, int]], least: int, room: Room) -> Any:
        """The keys of a cell, in order, counted from the first that it could have; of each run the file, where its part
        begins there and where it ends.
        """
        keys, end = room.array("keys", sum(last - first for _, first, last in parts), self._few), 0
        for file, first, last in parts:
            read_into(file, keys[end : end + last - first], first * self._few.itemsize)
            end += last - first
        least <<= self.layout.shift
        keys -= self._few.type(least & (1 << 8 * self._few.itemsize) - 1)  # goes round where only half was kept
        keys.sort()
        return keys


def _numbered(begins: Any, people: int, room: Room) -> Any:
    """Which person a row belongs to: 0, 1, 2 and so on."""
    few = np.uint16 if people < 1 << 16 else np.uint32
    codes = np.cumsum(begins, out=room.array("codes", len(begins), few))
    codes -= few(1)
    return codes


def _plain(column: Any) -> Marks:
    """The whole numbers of an Arrow column, modulo 2⁶⁴."""
    if column.type.bit_width < _WORD:
        column = column.cast(pa.int64())
    return numbers_in(column).view(np.uint64)


def _word(number: int) -> np.uint64:
    return np.uint64(number % (1 << _WORD))


def _mask(bits: int) -> np.uint64:
    return np.uint64((1 << bits) - 1)
