"""Tiles of counters: what charges do to them, beside an array with one number for each block."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bursar.ledger.journal.blocks import Counters, Grid, Levels, added, counters_in, each, kept, largest
from bursar.ledger.journal.pictures import few, packed, unpacked

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
    _, whole = kept(charged([(((0, 9), (3, 70)), 4), (((5, 80), (60, 128)), 9)])[0])
    assert len(whole) == 2 + 4 * 8 + 128 * 128 // 4
    _, three = kept(charged([(((0, 9), (3, 70)), 4), (((20, 80), (60, 128)), 9)])[0])
    for broken in (
        whole[:-1],
        whole + b"\0",
        three[:-1] + b"\xff",
        b"\0" * 8,
        whole[:2] + whole[10:18] * 4 + whole[34:],
        b"\5\0" + whole[2:34] + whole[26:34] + whole[34:],
    ):
        with pytest.raises(ValueError, match=r"damaged|reshape|multiple"):
            counters_in(13, broken, (128, 128))


@pytest.mark.parametrize("count", [2, 3, 4, 5, 16, 17, 256, 257, 5000])
def test_pictures_have_no_more_bits_than_they_need(count: int) -> None:
    """Whatever the number of amounts, and where blocks do not fill the last byte: the same places again, in the bits
    that tell them apart; and bits beyond the last block are refused.
    """
    bits = next(bits for bits in (1, 2, 4, 8, 16) if count <= 2**bits)
    for shape in ((131, 41), (7,), (2, 2, 2)):
        which = np.random.default_rng(count).integers(0, count, shape).astype(few(count))
        text = packed(which, count)
        assert len(text) == -(-which.size * bits // 8)
        assert (unpacked(memoryview(text), count, shape) == which).all()
        if which.size * bits % 8:
            with pytest.raises(ValueError, match="more or less"):
                unpacked(memoryview(text[:-1] + b"\xff"), count, shape)
