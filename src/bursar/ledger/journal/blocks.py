"""Blocks: a grid of public counters, kept in tiles, and what a charge does to them.

A grid has named dimensions (days, segments, slices); a charge adds an amount to every block of a box, which is one
half-open range of whole numbers for each dimension. Counters are kept in tiles of some thousand blocks that are near
each other in every dimension, so that a narrow box touches few of them. A tile whose blocks all have spent the same is
kept as one number, and one that was never touched is not kept at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

TILE = 16_384
"""Blocks in a tile, at most: 128 KiB of counters."""
MOST_BLOCKS = 10**11
_COUNTER = np.dtype("<i8")

Ranges = Sequence[tuple[int, int]]
Counters = int | npt.NDArray[np.int64]
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

    @property
    def whole(self) -> bool:
        """Whether the box covers all of the tile."""
        return all(part.stop - part.start == size for part, size in zip(self.where, self.shape, strict=True))


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
        """The tiles of a box, in the order of their numbers."""
        spans = [
            range(first // extent, -(-last // extent)) for (first, last), extent in zip(ranges, self.tile, strict=True)
        ]
        for place in product(*spans):
            yield self._part(place, ranges)

    def part(self, number: int, ranges: Ranges | None = None) -> Tile:
        """The part of a box, or of everything, that lies in the tile with this number."""
        place = []
        for count in reversed(self.counts):
            number, here = divmod(number, count)
            place.append(here)
        return self._part(tuple(reversed(place)), ranges or [(0, size) for size in self.sizes])

    def _part(self, place: Sequence[int], ranges: Ranges) -> Tile:
        number, origin, shape, where = 0, [], [], []
        for index, size, extent, count, (first, last) in zip(
            place, self.sizes, self.tile, self.counts, ranges, strict=True
        ):
            start = index * extent
            stop = min(start + extent, size)
            number = number * count + index
            origin.append(start)
            shape.append(stop - start)
            where.append(slice(max(first, start) - start, min(last, stop) - start))
        return Tile(number, tuple(origin), tuple(shape), tuple(where))


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


def counters_in(kept: bytes | None, shape: tuple[int, ...]) -> Counters:
    """What a store keeps of a tile, read; `ValueError` where it is no tile of this shape."""
    if kept is None:
        return 0
    if len(kept) == _COUNTER.itemsize:
        return int.from_bytes(kept, "little", signed=True)
    return np.frombuffer(kept, _COUNTER).reshape(shape)


def added(before: Counters, tile: Tile, amount: int) -> Counters:
    """The counters of a tile after a charge."""
    if isinstance(before, int):
        if tile.whole:
            return before + amount
        after = np.full(tile.shape, before, _COUNTER)
    else:
        after = before.copy()
    after[tile.where] += amount
    return after


def kept(counters: Counters) -> tuple[int, bytes]:
    """The largest of a tile's counters, and the tile as a store keeps it."""
    if isinstance(counters, int):
        return counters, counters.to_bytes(_COUNTER.itemsize, "little", signed=True)
    most = int(counters.max())
    if int(counters.min()) == most:
        return most, most.to_bytes(_COUNTER.itemsize, "little", signed=True)
    return most, counters.tobytes()


def largest(counters: Counters, where: tuple[slice, ...]) -> int:
    """The largest counter of a part of a tile."""
    return counters if isinstance(counters, int) else int(counters[where].max())
