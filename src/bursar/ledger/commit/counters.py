"""The counters of blocks in a store: looked at before a charge, added to by it, and checked against the journal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

import numpy as np

from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.blocks import Counters, Grid, Ranges, Tile, added, counters_in, each, kept, largest
from bursar.ledger.journal.body import Charge
from bursar.ledger.journal.rows import CounterRow
from bursar.ledger.stores._base import Reader, Transaction

BATCH = 64  # tiles in memory at once: 8 MiB, where every counter is looked at
_GROUP = 4096  # tiles of which one number is known, or the history gathered, at once
NAMED = 10
"""Blocks that a refusal names."""

Item = TypeVar("Item")


class Examined(NamedTuple):
    """What a charge on one line would do to the blocks of a box."""

    most: int
    """The largest counter of the whole ledger after it."""
    spent: int
    """Where it does not fit: what the worst of these blocks has spent."""
    short: int
    """How many blocks it does not fit."""
    first: list[list[int]]
    """Some of them."""


def grid_in(scope: Scope) -> Grid:
    """The grid of a block ledger."""
    assert scope.cohort is not None
    return Grid(tuple(size for _, size in scope.cohort["dimensions"]), tuple(scope.cohort["tile"]))


def batches(items: Iterable[Item], size: int = BATCH) -> Iterator[list[Item]]:
    """A few at a time, however many there are."""
    waiting = iter(items)
    while batch := list(islice(waiting, size)):
        yield batch


def read_tiles(reader: Reader, scope: str, line: str, tiles: Iterable[Tile]) -> Iterator[tuple[Tile, Counters]]:
    """Tiles with their counters, a few at a time."""
    for batch in batches(tiles):
        known = reader.counters(scope, line, [tile.number for tile in batch])
        for tile in batch:
            row = known.get(tile.number)
            yield tile, 0 if row is None else counters_in(row.most, row.amounts, tile.shape)


def examined(reader: Reader, scope: Scope, line: str, ranges: Ranges, amount: int, limit: int, most: int) -> Examined:
    """Whether every block of a box can bear an amount, where the worst block of all has spent ``most``."""
    spent, short, first = 0, 0, list[list[int]]()
    unclear: list[Tile] = []
    for batch in batches(grid_in(scope).touched(ranges), _GROUP):
        known = reader.largest(scope.name, line, [tile.number for tile in batch])
        for tile in batch:
            after = known.get(tile.number, 0) + amount
            if after <= limit and (tile.whole or after <= most):  # no need to read it
                most = max(most, after)
            else:
                unclear.append(tile)
    for tile, counters in read_tiles(reader, scope.name, line, unclear):
        here = largest(counters, tile.where)
        most = max(most, here + amount)
        if here + amount <= limit:
            continue
        spent = max(spent, here)
        over = np.argwhere(each(counters, tile.shape)[tile.where] > limit - amount)
        short += len(over)
        corner = [start + cut.start for start, cut in zip(tile.origin, tile.where, strict=True)]
        for place in over[: NAMED - len(first)]:
            first.append([int(start + step) for start, step in zip(corner, place, strict=True)])
    return Examined(most, spent, short, first)


def charge_blocks(tx: Transaction, scope: Scope, charge: Charge) -> None:
    """Add a charge to the blocks of its box: to tiles as a whole where it covers them."""
    for line, amount in charge.amounts.items():
        tiles = grid_in(scope).touched(charge.ranges) if amount else ()
        for group in batches(tiles, _GROUP):
            if wholes := [tile.number for tile in group if tile.whole]:
                tx.raise_counters(scope.name, line, wholes, amount)
            for batch in batches(tile for tile in group if not tile.whole):
                read = read_tiles(tx, scope.name, line, batch)
                rows = [CounterRow(tile.number, *kept(added(before, tile, amount))) for tile, before in read]
                tx.set_counters(scope.name, line, rows)


def wrong_counters(reader: Reader, scope: Scope, charges: Sequence[Charge], spent: Mapping[str, int]) -> Iterator[str]:
    """What is wrong with the counters of a root, by the charges of its journal and what its lines say of the worst
    block.
    """
    grid = grid_in(scope)
    for line in scope.currency.lines:
        paid = [(charge.ranges, charge.amounts.get(line, 0)) for charge in charges if charge.amounts.get(line)]
        stored = [tile for tile, _ in reader.marks(scope.name, line)]
        expected = sorted({tile.number for ranges, _ in paid for tile in grid.touched(ranges)})
        worst, wrong = 0, set(stored) ^ set(expected)
        for group in batches(expected, _GROUP):
            history: dict[int, list[tuple[Ranges, int]]] = defaultdict(list)
            inside = set(group)
            for ranges, amount in paid:
                for tile in grid.touched(ranges):
                    if tile.number in inside:
                        history[tile.number].append((ranges, amount))
            for batch in batches(group):
                known = reader.counters(scope.name, line, batch)
                for number in batch:
                    row = CounterRow(number, *kept(_refolded(grid, number, history[number])))
                    worst = max(worst, row.most)
                    if known.get(number) != row:
                        wrong.add(number)
        if wrong:
            yield f"the block counters of {line} are not what the journal says, in {len(wrong)} tiles"
        if worst != spent[line] and not scope.lost:
            yield f"the worst block has spent {worst} units of {line}, its balance says {spent[line]}"


def _refolded(grid: Grid, number: int, history: Iterable[tuple[Ranges, int]]) -> Counters:
    now: Counters = 0
    for ranges, amount in history:
        now = added(now, grid.part(number, ranges), amount)
    return now
