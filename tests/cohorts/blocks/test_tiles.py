"""Tiles of counters: what charges do to them, beside an array with one number for each block."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bursar.ledger.journal.blocks import Counters, Grid, Levels, added, counters_in, each, kept, largest

GRID = Grid((128, 128), (128, 128))
WHOLE = ((0, 128), (0, 128))


def charged(boxes: list[tuple[tuple[tuple[int, int], ...], int]]) -> tuple[Counters, np.ndarray]:
    """A tile after some charges, and the same as an array."""
    now: Counters = 0
    plain = np.zeros((128, 128), np.int64)
    for ranges, amount in boxes:
        tile = GRID.part(0, ranges)
        now = added(now, tile, amount)
        plain[tile.where] += amount
        most, bytes_ = kept(now)
        assert most == plain.max()
        assert largest(now, tile.where) == plain[tile.where].max()
        now = counters_in(most, bytes_, (128, 128))
        assert (each(now, (128, 128)) == plain).all()
    return now, plain


@pytest.mark.parametrize("boxes", [12, 400])
def test_charges_add_up_block_by_block(boxes: int) -> None:
    """Boxes of every kind, whole tiles between them, up to hundreds of different amounts: as in the array."""
    chance = random.Random(boxes)
    asked = []
    for number in range(boxes):
        ends = [sorted(chance.sample(range(129), 2)) for _ in range(2)]
        ranges = WHOLE if number % 7 == 3 else tuple((first, last) for first, last in ends)
        asked.append((ranges, chance.choice((5, 7, 10**17))))
    now, plain = charged(asked)
    assert isinstance(now, Levels)
    assert len(now.amounts) == len(np.unique(plain))
    assert (len(now.amounts) > 256) == (boxes > 12)


def test_equal_counters_are_equal_bytes() -> None:
    """In whatever order charges came; and blocks that are level again are one number: `verify` compares bytes."""
    boxes = [(((0, 9), (3, 70)), 4), (((5, 80), (60, 128)), 9), (WHOLE, 2), (((5, 80), (0, 60)), 4)]
    assert kept(charged(boxes)[0]) == kept(charged(boxes[::-1])[0])
    halves = [(((0, 128), (0, 50)), 3), (((0, 128), (50, 128)), 3)]
    assert charged(halves)[0] == 3
    assert kept(3) == (3, b"")


def test_damaged_tiles_are_no_tiles() -> None:
    """Bytes that no charge could have left are refused, not read as something else."""
    _, whole = kept(charged([(((0, 9), (3, 70)), 4)])[0])
    for broken in (whole[:-1], whole + b"\0", whole[:-1] + b"\7", b"\0" * 8, whole[:2] + whole[10:18] * 2 + whole[18:]):
        with pytest.raises(ValueError, match=r"damaged|reshape|multiple"):
            counters_in(4, broken, (128, 128))
