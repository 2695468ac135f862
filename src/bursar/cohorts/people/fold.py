"""The decisions of a replay: all charges of some people at once, in whole numbers, as one query after another would.

Charges are brought together by person with one sort of 64-bit keys: a number that is different for different people
in the high bits, the place in the list in the low ones. Where too few high bits are left to tell two people apart, the
sort is done again by the whole number: that costs time, and decides nothing else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bursar.cohorts.people.units import MOST
from bursar.errors import InputError

Whole = npt.NDArray[np.int64]
Truth = npt.NDArray[np.bool_]
Marks = npt.NDArray[np.uint64]

MIXER = np.uint64(0x9E3779B97F4A7C15)
"""Odd, so that products of 64 bits differ where numbers do; 2⁶⁴ divided by the golden ratio spreads them."""
_CODES = np.uint64(33)  # bits below a code, of which there are less than 2³¹
_FEW = 64  # people whose last charges are counted one by one: there, whole rows of numbers do not pay


class Room:
    """Arrays that serve one bucket after another: memory that is fresh each time costs as much as the work in it."""

    def __init__(self) -> None:
        self._kept: dict[str, npt.NDArray[np.uint8]] = {}
        self._steps: Marks = np.empty(0, np.uint64)

    def array(self, name: str, count: int, kind: Any = np.int64) -> Any:
        """So many numbers, whatever was in them before; the array of that name from before is overwritten."""
        size = count * np.dtype(kind).itemsize
        known = self._kept.get(name)
        if known is None or len(known) < size:
            known = self._kept[name] = np.empty(size + size // 8, np.uint8)
        return known[:size].view(kind)

    def steps(self, count: int) -> Marks:
        """0, 1, 2 and so on: so many of them."""
        if len(self._steps) < count:
            self._steps = np.arange(count + count // 8, dtype=np.uint64)
        return self._steps[:count]

    def taken(self, name: str, values: Any, places: Whole) -> Any:
        """The values at some places."""
        return values.take(places, out=self.array(name, len(places), values.dtype), mode="clip")


def decided(table: Any, limit: int, rule: str, room: Room | None = None) -> Any:
    """Of the charges (query, person, charge) of people who are whole in this Arrow table: one row for each query and
    person, with what it charges in all, and whether a filter admits it. With ``room`` the answer lives there, until the
    next one is computed.
    """
    kept = Room() if room is None else room
    queries, persons, charges = (table.column(name).combine_chunks() for name in ("query", "person", "charge"))
    order, begins = together(marks_of(persons, kept), numbers_in(queries), kept)
    asked = kept.taken("asked", numbers_in(queries), order)
    firsts, totals = merged(begins, asked, kept.taken("costs", numbers_in(charges), order), kept)
    admitted = admitted_of(np.flatnonzero(begins[firsts]), totals, limit, rule, kept)
    bits = pa.py_buffer(np.packbits(admitted, bitorder="little"))
    columns = [
        column_of(kept.taken("queries", asked, firsts)),
        pc.take(persons, column_of(kept.taken("persons", order, firsts)), boundscheck=False),
        column_of(totals),
        pa.Array.from_buffers(pa.bool_(), len(admitted), [None, bits]),
    ]
    kinds = [("query", pa.int64()), ("person", persons.type), ("charge", pa.int64()), ("admitted", pa.bool_())]
    return pa.Table.from_arrays(columns, schema=pa.schema([pa.field(*kind, nullable=False) for kind in kinds]))


def numbers_in(column: Any) -> Whole:
    """The whole numbers of an Arrow column without gaps, where they lie."""
    if not len(column):
        return np.empty(0, np.int64)
    return np.frombuffer(column.buffers()[1], np.int64, len(column), 8 * column.offset)


def column_of(numbers: Whole) -> Any:
    """Whole numbers as an Arrow column, where they lie."""
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)])


def marks_of(persons: Any, room: Room) -> Marks:
    """A number for each row, equal where the person is the same and nowhere else."""
    if pa.types.is_integer(persons.type):
        numbers = numbers_in(persons.cast(pa.int64(), safe=False)).view(np.uint64)
        marks: Marks = np.multiply(numbers, MIXER, out=room.array("mixed", len(numbers), np.uint64))
        return marks
    codes = pc.dictionary_encode(persons).indices
    return numbers_in(codes.cast(pa.int64())).view(np.uint64) << _CODES


def together(marks: Marks, queries: Whole, room: Room) -> tuple[Whole, Truth]:
    """The order of persons, then of queries, then of rows; and where in it the next person begins."""
    if (queries[1:] < queries[:-1]).any():
        first = np.argsort(queries, kind="stable")
        order, begins = _by_person(marks[first], room)
        return first[order], begins
    return _by_person(marks, room)


def _by_person(marks: Marks, room: Room) -> tuple[Whole, Truth]:
    count = len(marks)
    bits = max(count - 1, 1).bit_length()
    low = np.uint64((1 << bits) - 1)
    keys = np.bitwise_and(marks, ~low, out=room.array("keys", count, np.uint64))
    keys |= room.steps(count)
    keys.sort()
    order: Whole = np.bitwise_and(keys, low, out=room.array("order", count, np.uint64)).view(np.int64)
    begins = changes(room.taken("marks", marks, order), room.array("begins", count, np.bool_))
    keys >>= np.uint64(bits)
    same = changes(keys, room.array("same", count, np.bool_))
    if np.count_nonzero(begins) != np.count_nonzero(same):  # two people share their high bits
        order = np.argsort(marks, kind="stable")
        begins = changes(marks[order], begins)
    return order, begins


def changes(marks: Marks, begins: Truth) -> Truth:
    """Where a number is another one than before."""
    begins[:1] = True
    np.not_equal(marks[1:], marks[:-1], out=begins[1:])
    return begins


def merged(begins: Truth, queries: Whole, charges: Whole, room: Room) -> tuple[Whole, Whole]:
    """The first row of each person and query, and what that query charges that person in all."""
    fresh = changes(queries.view(np.uint64), room.array("fresh", len(begins), np.bool_))
    fresh |= begins
    firsts = np.flatnonzero(fresh)
    return firsts, totals_of(firsts, fresh, charges, room)


def totals_of(firsts: Whole, fresh: Truth, charges: Any, room: Room) -> Whole:
    """What rows charge in all, from each of the first ones, which are marked as fresh, to the next."""
    totals: Whole = room.array("totals", len(firsts))
    if len(firsts) == len(charges):
        np.copyto(totals, charges)
        return totals
    if int(charges.max()) * len(charges) > MOST and np.add.reduceat(charges.astype(np.float64), firsts).max() > MOST:
        raise InputError("charge: a query charges somebody more than a person filter can count", argument="charges")
    np.copyto(totals, room.taken("sums", charges, firsts))
    others = np.flatnonzero(np.logical_not(fresh, out=room.array("others", len(fresh), np.bool_)))
    # before the n-th of the others, counted from 0, there are n others, and what is not one of them is a first row
    np.add.at(totals, others - room.steps(len(others)).view(np.int64) - 1, charges[others].astype(np.int64))
    return totals


def admitted_of(starts: Whole, charges: Whole, limit: int, rule: str, room: Room) -> Truth:
    """Which of these charges a filter admits; they come in order of persons, then of queries, and ``starts`` says where
    each person begins. All people take their first charge at once, then all who have one their second; the last few go
    on alone.
    """
    counts = np.diff(np.append(starts, len(charges)))
    most = int(counts.max()) if len(counts) else 0
    fewer = most - counts
    order = np.argsort(fewer.astype(np.uint16) if most < 1 << 16 else fewer, kind="stable")
    starts, counts = starts[order], counts[order]
    left = np.full(len(starts), limit)
    admitted: Truth = room.array("admitted", len(charges), np.bool_)
    active = len(starts) - np.searchsorted(counts[::-1], np.arange(most), side="right")
    for turn in range(most):
        people = int(active[turn])
        if people < _FEW:
            for who in range(people):
                part = slice(int(starts[who]) + turn, int(starts[who] + counts[who]))
                admitted[part] = _alone(int(left[who]), charges[part].tolist(), rule)
            break
        here = left[:people]
        places = np.add(starts[:people], turn, out=room.array("places", people))
        asked = room.taken("turn", charges, places)
        fits = np.less_equal(asked, here, out=room.array("fits", people, np.bool_))
        admitted[places] = fits
        if rule == "skip":
            here -= np.multiply(asked, fits, out=asked)
        else:  # below zero is as good as any number below it
            np.maximum(np.subtract(here, asked, out=here), -1, out=here)
    return admitted


def _alone(left: int, charges: list[int], rule: str) -> list[bool]:
    """One person's charges, one after another."""
    admitted = []
    for charge in charges:
        fits = charge <= left
        admitted.append(fits)
        if fits or rule == "halt":
            left -= charge
    return admitted
