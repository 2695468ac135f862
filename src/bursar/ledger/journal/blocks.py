"""Blocks: a grid of public counters, kept in tiles, and what a charge does to them.

A grid has named dimensions (days, segments, slices); a charge adds an amount to every block of a box, which is one
half-open range of whole numbers for each dimension. Counters are kept in tiles of some thousand blocks that are near
each other in every dimension, so that a narrow box touches few of them. A tile is its largest counter and a picture of
how far the others stay below it: a charge on all of a tile adds to the one number, and leaves the picture alone. The
picture of a tile whose blocks all have spent the same is empty, and a tile that was never touched is not kept at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bursar.ledger.journal.pictures import few, packed, unpacked

TILE = 16_384
"""Blocks in a tile, at most: 2 KiB as it is kept where two amounts are in it, 16 KiB where there are up to 256."""
MOST_BLOCKS = 10**11
_COUNTER, _LENGTH = np.dtype("<i8"), np.dtype("<u2")

Ranges = Sequence[tuple[int, int]]


class Levels(NamedTuple):
    """What the blocks of a tile have spent, where it is not the same everywhere."""

    amounts: npt.NDArray[np.int64]
    """Each that some block has spent, the largest first."""
    which: npt.NDArray[Any]
    """For each block the place of its amount in that list."""


Counters = int | Levels
"""What the blocks of a tile have spent: one number where it is the same everywhere."""


class Tile(NamedTuple):
    """The part of a box that lies in one tile."""

    number: int
    origin: tuple[int, ...]
    """The first block of the tile."""
    shape: tuple[int, ...]
    """How many blocks it has in each dimension; less than others where the grid ends."""
    where: tuple[slice, ...]
    """The box, within the tile."""
    whole: bool
    """Whether the box covers all of the tile."""


class Cut(NamedTuple):
    """What one dimension says of a tile: its share of the number, and the rest as the tile has it."""

    number: int
    origin: int
    shape: int
    where: slice
    whole: bool


class Axis(NamedTuple):
    """One dimension of a grid, and of a box in it."""

    size: int
    extent: int
    """Of a tile."""
    step: int
    """How far the numbers of two tiles are apart that are neighbours here."""
    first: int
    last: int

    def cut(self, index: int) -> Cut:
        """What this dimension says of the tiles at one place."""
        start = index * self.extent
        stop = min(start + self.extent, self.size)
        where = slice(max(self.first, start) - start, min(self.last, stop) - start)
        return Cut(index * self.step, start, stop - start, where, where.stop - where.start == stop - start)


class Grid(NamedTuple):
    """The dimensions of a block ledger, and how its tiles are cut: both are agreed once, and stay."""

    sizes: tuple[int, ...]
    tile: tuple[int, ...]

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return math.prod(self.sizes)

    @property
    def counts(self) -> tuple[int, ...]:
        """How many tiles there are along each dimension."""
        return tuple(-(-size // extent) for size, extent in zip(self.sizes, self.tile, strict=True))

    def touched(self, ranges: Ranges) -> Iterator[Tile]:
        """The tiles of a box, in the order of their numbers; they are not gathered: there may be millions of them."""
        return map(_tile, _cuts(self._axes(ranges)))

    def part(self, number: int, ranges: Ranges | None = None) -> Tile:
        """The part of a box, or of everything, that lies in the tile with this number."""
        cuts = []
        for axis in self._axes(ranges or [(0, size) for size in self.sizes]):
            index, number = divmod(number, axis.step)
            cuts.append(axis.cut(index))
        return _tile(cuts)

    def _axes(self, ranges: Ranges) -> list[Axis]:
        steps = [math.prod(self.counts[place + 1 :]) for place in range(len(self.sizes))]
        firsts, lasts = zip(*ranges, strict=True)
        return list(map(Axis, self.sizes, self.tile, steps, firsts, lasts))


def _cuts(axes: Sequence[Axis]) -> Iterator[tuple[Cut, ...]]:
    """What these dimensions say of each tile of a box."""
    axis, *others = axes
    for index in range(axis.first // axis.extent, -(-axis.last // axis.extent)):
        cut = (axis.cut(index),)
        for rest in _cuts(others) if others else ((),):
            yield cut + rest


def _tile(cuts: Sequence[Cut]) -> Tile:
    numbers, origin, shape, where, whole = zip(*cuts, strict=True)
    return Tile(sum(numbers), origin, shape, where, all(whole))


def grid_of(sizes: Sequence[int]) -> Grid:
    """A grid with tiles that are as even as their dimensions allow: small dimensions are not cut."""
    tile = [0] * len(sizes)
    room, open_ones = TILE, len(sizes)
    for place in sorted(range(len(sizes)), key=lambda one: sizes[one]):
        tile[place] = min(sizes[place], max(1, _root(room, open_ones)))
        room, open_ones = room // tile[place], open_ones - 1
    return Grid(tuple(sizes), tuple(tile))


def _root(number: int, degree: int) -> int:
    """The largest whole number whose power is at most this one."""
    found = max(1, int(number ** (1 / degree)))
    while found**degree > number:
        found -= 1
    while (found + 1) ** degree <= number:
        found += 1
    return found


def counters_in(most: int, kept: bytes, shape: tuple[int, ...]) -> Counters:
    """What a store keeps of a tile, read; `ValueError` where it is no tile of this shape."""
    if not kept:
        return most
    count = int.from_bytes(kept[: _LENGTH.itemsize], "little")
    end = _LENGTH.itemsize + count * _COUNTER.itemsize
    gaps = np.frombuffer(kept[_LENGTH.itemsize : end], _COUNTER)
    which = unpacked(memoryview(kept)[end:], count, shape)
    if len(gaps) < 2 or gaps[0] != 0 or (gaps[1:] <= gaps[:-1]).any() or int(which.max()) >= count:
        raise ValueError("a tile of counters is damaged")
    return Levels(most - gaps, which)


def added(before: Counters, tile: Tile, amount: int) -> Counters:
    """The counters of a tile after a charge."""
    if tile.whole:
        return before + amount if isinstance(before, int) else Levels(before.amounts + amount, before.which)
    if isinstance(before, int):
        before = Levels(np.array([before]), np.zeros(tile.shape, few(1)))
    amounts, which = before
    codes = which.astype(few(2 * len(amounts)))  # where a block is inside the box, its level counts from there on
    codes[tile.where] += len(amounts)
    values = np.concatenate([amounts, amounts + amount])
    # only what some block has, so that equal counters are kept as equal bytes
    after = np.array(sorted(set(values[_found(codes, len(values))].tolist()), reverse=True))
    if len(after) == 1:
        return int(after[0])
    places = np.searchsorted(-after, -values).astype(few(len(after)))
    return Levels(after, _exchanged(codes, places))


def _found(codes: npt.NDArray[Any], count: int) -> npt.NDArray[np.bool_]:
    """Which codes there are."""
    if codes.itemsize > 1:
        return np.bincount(codes.ravel(), minlength=count) > 0
    text = codes.tobytes()  # to look for a byte takes no look at each
    return np.array([code in text for code in range(count)])


def _exchanged(codes: npt.NDArray[Any], places: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """For each code its place."""
    if codes.itemsize > 1:
        found: npt.NDArray[Any] = places[codes]
        return found
    text = codes.tobytes().translate(places.tobytes().ljust(256, b"\0"))
    return np.frombuffer(text, np.uint8).reshape(codes.shape)


def kept(counters: Counters) -> tuple[int, bytes]:
    """The largest of a tile's counters, and how far the others stay below it, as a store keeps both."""
    if isinstance(counters, int):
        return counters, b""
    amounts, which = counters
    gaps = (amounts[0] - amounts).astype(_COUNTER)
    return int(amounts[0]), len(gaps).to_bytes(_LENGTH.itemsize, "little") + gaps.tobytes() + packed(which, len(gaps))


def largest(counters: Counters, where: tuple[slice, ...]) -> int:
    """The largest counter of a part of a tile."""
    return counters if isinstance(counters, int) else int(counters.amounts[counters.which[where].min()])


def each(counters: Counters, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """The counter of every block of a tile."""
    if isinstance(counters, int):
        return np.broadcast_to(np.asarray(counters, np.int64), shape)
    found: npt.NDArray[np.int64] = counters.amounts[counters.which]
    return found
