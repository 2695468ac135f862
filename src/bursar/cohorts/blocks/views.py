"""What can be shown of blocks: what is left of a range, the worst of them, a map over two dimensions."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bursar.ledger.budget.amounts import shown
from bursar.ledger.budget.currencies import Balance
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.counters import batches, grid_in, read_tiles
from bursar.ledger.commit.view import View
from bursar.ledger.journal.blocks import Counters, Grid, Ranges, Tile, counters_in, each, largest
from bursar.ledger.stores._base import Reader


class Left(NamedTuple):
    """What the worst block of some ranges has left on each line, in the line's own measure."""

    lines: dict[str, Fraction]
    share: Fraction
    """The smallest share of a limit that is left."""

    def __str__(self) -> str:
        told = ", ".join(f"{shown(amount, up=False)} of {line}" for line, amount in self.lines.items())
        return f"{told} left ({shown(100 * self.share, up=False, digits=3)} %)"


class Block(NamedTuple):
    """One block and what it has spent."""

    place: dict[str, int]
    spent: dict[str, Fraction]
    share: Fraction
    """The largest share of a limit that is spent."""


class Heat(NamedTuple):
    """The worst share spent in each cell of a map over two dimensions."""

    across: str
    down: str
    shares: list[list[float]]
    """Rows down, columns across; each rounded up."""


def left_of(view: View[Reader], scope: Scope, ranges: Ranges) -> Left:
    """What is left in a box, by the worst block in it."""
    lines, share = {}, Fraction(1)
    for line, balance in view.lines(scope).items():
        tiles = read_tiles(view.rows, scope.name, line, grid_in(scope).touched(ranges))
        spent = max(largest(counters, tile.where) for tile, counters in tiles)
        left = 0 if scope.lost else balance.limit - spent
        lines[line] = left * scope.currency.lines[line].unit
        share = min(share, Fraction(left, balance.limit))
    return Left(lines, share)


def worst_of(view: View[Reader], scope: Scope, count: int) -> list[Block]:
    """The blocks with the largest shares: tiles are read from the worst on, as long as one may still matter."""
    grid, state = grid_in(scope), view.lines(scope)
    marks: dict[int, Fraction] = {}
    for line, balance in state.items():
        for tile, most in view.rows.marks(scope.name, line):
            marks[tile] = max(marks.get(tile, Fraction(0)), Fraction(most, balance.limit))
    found: list[tuple[Fraction, tuple[int, ...]]] = []  # the least first; of equals in a tile, the first
    for number, mark in sorted(marks.items(), key=lambda one: (-one[1], one[0])):
        if len(found) == count and mark <= found[0][0]:
            break
        for share, place in _worst_in(view, scope, state, grid.part(number), count):
            item = (share, tuple(-step for step in place))
            heapq.heappush(found, item) if len(found) < count else heapq.heappushpop(found, item)
    return [_block(view, scope, grid, [-step for step in place], share) for share, place in sorted(found, reverse=True)]


def _worst_in(
    view: View[Reader], scope: Scope, state: dict[str, Balance], tile: Tile, count: int
) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
    """The worst blocks of one tile, on any line."""
    places: dict[tuple[int, ...], Fraction] = {}
    for line, balance in state.items():
        row = view.rows.counters(scope.name, line, [tile.number]).get(tile.number)
        if row is None:
            continue
        spent = each(counters_in(row.most, row.amounts, tile.shape), tile.shape).ravel()
        order = np.argsort(-spent, kind="stable")[:count]
        for index in order:
            place = tuple(int(step) for step in np.unravel_index(int(index), tile.shape))
            share = Fraction(int(spent[index]), balance.limit)
            places[place] = max(places.get(place, Fraction(0)), share)
    for place, share in places.items():
        if share > 0:
            yield share, tuple(start + step for start, step in zip(tile.origin, place, strict=True))


def _block(view: View[Reader], scope: Scope, grid: Grid, place: list[int], share: Fraction) -> Block:
    assert scope.cohort is not None
    box = [(step, step + 1) for step in place]
    spent = {}
    for line in scope.currency.lines:
        ((tile, counters),) = read_tiles(view.rows, scope.name, line, grid.touched(box))
        spent[line] = largest(counters, tile.where) * scope.currency.lines[line].unit
    names = [name for name, _ in scope.cohort["dimensions"]]
    return Block(dict(zip(names, place, strict=True)), spent, share)


def heat_of(view: View[Reader], scope: Scope, across: int, down: int, cells: int) -> Heat:
    """The worst share in each cell, read tile by tile."""
    assert scope.cohort is not None
    grid = grid_in(scope)
    sizes = [min(cells, grid.sizes[axis]) for axis in (down, across)]
    worst: npt.NDArray[np.float64] = np.zeros(sizes)
    for line, balance in view.lines(scope).items():
        kept = (number for number, _ in view.rows.marks(scope.name, line))
        for batch in batches(kept):
            for tile, counters in read_tiles(view.rows, scope.name, line, map(grid.part, batch)):
                _draw(worst, grid, tile, counters, (down, across), balance.limit)
    shares = np.minimum(worst * (1 + 2.0**-50), 1.0)
    names = [name for name, _ in scope.cohort["dimensions"]]
    return Heat(names[across], names[down], [[float(share) for share in row] for row in shares])


def _draw(
    worst: npt.NDArray[np.float64], grid: Grid, tile: Tile, counters: Counters, axes: tuple[int, int], limit: int
) -> None:
    """Put a tile into the cells of a map; a tile that is one number is not unfolded."""
    sizes = zip(axes, worst.shape, strict=True)
    (rows, top), (columns, left) = (_cells(tile, axis, grid.sizes[axis], cells) for axis, cells in sizes)
    part: npt.NDArray[np.int64] | int
    if isinstance(counters, int):
        part = counters
    else:  # levels are numbered from the largest amount on
        which = counters.which.transpose(*axes, *(axis for axis in range(len(tile.shape)) if axis not in axes))
        which = which.reshape(*which.shape[:2], -1).min(axis=2)
        part = counters.amounts[np.minimum.reduceat(np.minimum.reduceat(which, top, axis=0), left, axis=1)]
    place = np.ix_(rows, columns)
    worst[place] = np.maximum(worst[place], part / limit)


def _cells(tile: Tile, axis: int, size: int, cells: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The cells that a tile has blocks in along an axis, and the first block of each."""
    every = (tile.origin[axis] + np.arange(tile.shape[axis], dtype=np.int64)) * cells // size
    return np.unique(every, return_index=True)
