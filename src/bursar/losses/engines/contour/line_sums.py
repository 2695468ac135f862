"""Sums Σ w·e^{isλ} over the nodes of a shifted line, at multiples of one frequency, for many laws at once.

Sums are centred at a real number m, so that what is computed is φ·e^{−ism} − 1. With j = pR + r, a = e^{iry} − 1 and
b = e^{ipRy} − 1, e^{ijy} − 1 = a + b(1 + a): two tables, made by doubling, and products of matrices (proofs/contour.md
§4, "Sums on the line").
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from bursar.numerics.arrays import Array, Complexes
from bursar.numerics.products import product
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_COLUMNS = 128
_BLOCK = 400_000  # complex numbers that one block of laws may take


class Line:
    """Normalised weights and centred losses on the line, a row for each law, and the errors of their sums."""

    def __init__(self, weights: Complexes, loss: Complexes, error: Array, loss_error: Array, missing: Array) -> None:
        total = weights.sum(axis=1, keepdims=True)
        size = np.abs(total)
        self.weights = weights / total
        moduli, unsure = np.abs(self.weights), error / size
        self.mean = (self.weights * loss).sum(axis=1).real
        self.apart = loss - self.mean[:, None]
        apart = np.abs(self.apart)
        self.modulus = moduli.sum(axis=1)
        # the normaliser's own error is shared by all weights, hence by φ − 1
        self.shared = unsure.sum(axis=1) + (weights.shape[1] + 16) * UNIT * self.modulus
        if not float(np.max(self.shared, initial=0.0)) < 1e-3:
            raise ArithmeticError("rounding errors are too large to be bounded to first order")
        self.first = (unsure * apart).sum(axis=1)
        self.second = 2 * unsure.sum(axis=1)
        self.shift = (moduli * (loss_error + 2 * UNIT * (apart + np.abs(loss)))).sum(axis=1)
        self.size = (moduli * apart).sum(axis=1)
        self.missing = 2.1 * missing
        if not float(np.max(self.missing, initial=0.0)) < 1e-2:
            raise ArithmeticError("the line leaves out too much")

    def blocks(self, s: Array) -> Iterator[tuple[slice, Complexes, Array]]:
        """For a few laws at a time: which ones, φ·e^{−ism} − 1 at each frequency, and bounds of the errors."""
        rows, columns = _table_sizes(len(s))
        laws, nodes = self.weights.shape
        each = (rows + columns) * min(nodes, _COLUMNS) + 2 * rows * columns
        many = max(min(_BLOCK // each, 64), 1)
        for start in range(0, laws, many):
            part = slice(start, min(start + many, laws))
            yield part, self._sums(part, s, rows, columns)[:, : len(s)], self._errors(part, s, rows * columns)

    def _sums(self, part: slice, s: Array, rows: int, columns: int) -> Complexes:
        """Σ w(a + b(1 + a)) for every b in the rows and every a in the columns, a few nodes at a time."""
        weights = self.weights[part]
        step = float(s[1]) if len(s) > 1 else 0.0
        total = np.zeros((len(weights), rows, columns), dtype=complex)
        for start in range(0, weights.shape[1], _COLUMNS):
            some = slice(start, start + _COLUMNS)
            few = weights[:, None, some]
            near, next_step = _powers(_first(step * self.apart[part, some]), columns)
            far, _ = _powers(next_step, rows)
            far *= few
            across = near.swapaxes(1, 2)
            total += product(few, across)
            near += 1
            total += product(far, across)
        return total.reshape(len(weights), rows * columns)

    def _errors(self, part: slice, s: Array, entries: int) -> Array:
        """What rounding may have done to the sums, and what they leave out."""
        depth = math.ceil(math.log2(max(entries, 2))) + 2
        nodes = self.weights.shape[1]
        table = UNIT * (6 * ULPS + 24 + 12 * depth)
        adding = UNIT * (3 * min(nodes, _COLUMNS) + 2 * (nodes // _COLUMNS) + 24)
        kinds = (self.first, self.second, self.shared, self.shift, self.size, self.modulus, self.missing)
        first, second, shared, shift, size, modulus, missing = (array[part, None] for array in kinds)
        error: Array = np.minimum(s * first, second) + s * (shift + table * size)
        error += shared * np.minimum(s * size, 2.1) + adding * np.minimum(s * size, 4 * modulus)
        return SAFETY * error + missing


def _table_sizes(count: int) -> tuple[int, int]:
    """Rows and columns of the tables: the columns a power of two, so that doubling makes them."""
    columns = 1 << max(math.ceil(math.log2(max(count, 1)) / 2), 1)
    return -(-count // columns), columns


def _first(y: Complexes) -> Complexes:
    """e^{iy} − 1 for Im y ≥ 0, closely where it is small."""
    first = np.empty_like(y)
    decay = np.exp(-y.imag)
    first.real = np.expm1(-y.imag) - decay * (2 * np.square(np.sin(0.5 * y.real)))
    first.imag = decay * np.sin(y.real)
    return first


def _powers(first: Complexes, rows: int) -> tuple[Complexes, Complexes]:
    """e^{ijy} − 1 for j below ``rows`` and each law and node, and the one for the next power of two, from that at 1."""
    laws, nodes = first.shape
    table = np.zeros((laws, rows, nodes), dtype=complex)
    size, step = 1, first
    while size < rows:
        more = min(size, rows - size)
        known = table[:, :more]
        grown = table[:, size : size + more]
        np.multiply(known, step[:, None], out=grown)
        grown += known
        grown += step[:, None]
        step = step * step + 2 * step
        size *= 2
    return table, step


def log_of(real: Array, imag: Array, error: Array, copies: Array | float) -> tuple[Array, Array, Array]:
    """The logarithms of the modulus of 1 + real + i·imag, known up to ``error``, and its angle, and bounds of what both
    are off by together, each for so many copies. Where hardly anything is known of the power it counts as at most so
    large, and as off by at most twice that.
    """
    # |φ|² = 1 + 2·real + real² + imag² without cancellation where both are small
    gone = real * (real + 2) + imag * imag
    size = np.where(gone > -0.5, 0.5 * np.log1p(np.maximum(gone, -0.5)), np.log(np.hypot(1 + real, imag) + 1e-300))
    turn = np.arctan2(imag, 1 + real)
    modulus = np.maximum(np.exp(size), 1e-150)
    slip = error / modulus
    # ln(φ + e) moves by at most |e/φ|/(1 − |e/φ|); of what is left only rounding remains, in units of 1 − φ
    divisor = np.where(gone > -0.5, modulus * modulus, modulus)
    doubt = slip / np.maximum(1 - slip, 0.5) + 4 * ULPS * UNIT * (np.abs(real) + np.abs(imag)) / divisor
    doubt = doubt + 4 * ULPS * UNIT * (np.abs(size) + np.abs(turn))
    blurred = (slip > 0.5) | (copies * doubt > math.log(3))
    most = np.log(np.minimum(modulus + error, 1.0)) + 16 * ULPS * UNIT * (1 + np.abs(size))
    size = np.where(blurred, np.minimum(most, 0.0), size)
    doubt = np.where(blurred, math.log(3) / copies, doubt)
    return copies * size, copies * turn, SAFETY * copies * doubt
