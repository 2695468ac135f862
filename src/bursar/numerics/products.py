"""Products of vectors and matrices on one core.

From ten thousand products on, numpy's BLAS wakes threads that wait for each other busily: an answer of a tenth of a
second would take six times that on two cores, and its last digits would depend on their number. Their number belongs
to the whole process, which is not ours. So what is long is multiplied in pieces, each too small to wake them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Some = NDArray[Any]

_VECTOR = 1 << 13  # of products in a sum: OpenBLAS wakes no thread below 10 000
_MATRIX = 3 << 10  # of entries that meet a vector: none below 4 096 complex ones, 9 216 real ones
_CUBE = 1 << 17  # of products of two matrices: none up to twice this, where a complex one counts as four
_INNER = 64  # of the terms of a sum in a piece of them: more where they are narrow


def product(left: Some, right: Some) -> Any:
    """``left @ right`` of vectors, matrices and stacks of them. Sums have an order of their own, which no bound of an
    error asks for.
    """
    if left.ndim == right.ndim == 1:
        return left @ right if len(left) <= _VECTOR else _scalar(left, right)
    if right.ndim > 2:
        return np.stack([product(*both) for both in zip(left, right, strict=True)])
    if left.ndim > 2:
        whole = product(left.reshape(-1, left.shape[-1]), right)
        return whole.reshape(*left.shape[:-1], *right.shape[1:])
    if right.ndim == 1:
        return left @ right if left.size <= _MATRIX else _vector(left, right)
    if left.ndim == 1:
        return left @ right if right.size <= _MATRIX else _vector(right.T, left)
    if len(left) == 1:  # BLAS counts what is thin as a vector
        return product(right.T, left[0])[None, :]
    if right.shape[1] == 1:
        return product(left, right[:, 0])[:, None]
    return left @ right if left.size * right.shape[1] <= _most(left, right) else _matrix(left, right)


def _most(left: Some, right: Some) -> int:
    return _CUBE // 4 if np.iscomplexobj(left) or np.iscomplexobj(right) else _CUBE


def summed(left: Some, right: Some) -> float:
    """Σ left·right, as a plain number."""
    return float(product(left, right))


def _scalar(left: Some, right: Some) -> Any:
    """Σ left·right."""
    pieces, rest = divmod(len(left), _VECTOR)
    whole = len(left) - rest
    sums = left[:whole].reshape(pieces, 1, _VECTOR) @ right[:whole].reshape(pieces, _VECTOR, 1)
    return sums.sum() + left[whole:] @ right[whole:]


def _vector(matrix: Some, vector: Some) -> Some:
    """As many rows at a time as a piece has, or pieces of long rows."""
    if len(vector) > _MATRIX:
        found = np.zeros(len(matrix), dtype=np.result_type(matrix, vector))
        for first in range(0, len(vector), _MATRIX):
            found += _by_rows(matrix[:, first : first + _MATRIX], vector[first : first + _MATRIX], 1)
        return found
    return _by_rows(matrix, vector, max(_MATRIX // max(len(vector), 1), 1))


def _matrix(left: Some, right: Some) -> Some:
    """The same, with some of the inner places and of the columns at a time: no more than a vector meets."""
    inner, columns = right.shape
    across = min(_MATRIX // min(inner, _INNER), columns)
    deep = min(_MATRIX // across, inner)
    size = max(_most(left, right) // (deep * across), 1)
    found = np.zeros((len(left), columns), dtype=np.result_type(left, right))
    for at in range(0, columns, across):
        for first in range(0, inner, deep):
            some = slice(first, first + deep)
            found[:, at : at + across] += _by_rows(left[:, some], right[some, at : at + across], size)
    return found


def _by_rows(left: Some, right: Some, size: int) -> Some:
    """``left @ right``, so many rows at a time."""
    pieces, rest = divmod(len(left), size)
    whole = len(left) - rest
    first = left[:whole].reshape(pieces, size, left.shape[1]) @ right
    return np.concatenate([first.reshape(whole, *right.shape[1:]), left[whole:] @ right])
