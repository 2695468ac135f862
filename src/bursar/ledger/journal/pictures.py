"""Pictures of tiles: which of a few amounts each block has spent, in as few bits as tell them apart.

One bit for two amounts, two for up to 4, four for up to 16, eight for up to 256, and sixteen for more. A picture is
read and written whole whenever a box cuts its tile, so that its bytes are what such a charge costs. Blocks that share a
byte are far from each other: each share of all bytes is one stretch of the picture, and is moved at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

_BYTE = 8
_SHARED = [(bits, np.arange(0, _BYTE, bits, dtype=np.uint8)[:, None]) for bits in (1, 2, 4)]
_ALONE = np.zeros((1, 1), np.uint8)


def few(count: int) -> np.dtype[Any]:
    """What so many places are counted in, while they are worked with."""
    return np.dtype("u1") if count <= 1 << _BYTE else np.dtype("<u2")


def packed(which: npt.NDArray[Any], count: int) -> bytes:
    """For each block a place below ``count``, as it is kept."""
    shifts = _shifts(count)
    if len(shifts) == 1:
        return which.tobytes()
    parts = np.zeros((len(shifts), -(-which.size // len(shifts))), np.uint8)
    parts.ravel()[: which.size] = which.ravel()
    found: npt.NDArray[np.uint8] = np.bitwise_or.reduce(parts << shifts)
    return found.tobytes()


def unpacked(text: memoryview, count: int, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """The places again; `ValueError` where there are more or less of them than blocks."""
    shifts, blocks = _shifts(count), math.prod(shape)
    if len(shifts) == 1:
        return np.frombuffer(text, few(count)).reshape(shape)
    which = np.frombuffer(text, np.uint8) >> shifts
    which &= np.uint8((1 << _BYTE // len(shifts)) - 1)
    if which.size != blocks and (which.shape[1] != -(-blocks // len(shifts)) or which.ravel()[blocks:].any()):
        raise ValueError("a tile of counters is damaged: it has more or less of them than blocks")
    return which.ravel()[:blocks].reshape(shape)


def _shifts(count: int) -> npt.NDArray[np.uint8]:
    """Where in a byte each of the places begins that share it."""
    return next((shifts for bits, shifts in _SHARED if count <= 1 << bits), _ALONE)
