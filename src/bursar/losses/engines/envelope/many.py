"""The sums of the envelope engine at many ε's at once: one set of moments, and only the turn by ε is formed anew.

What is bounded, and how, is what `engine` and `comb` say of a single ε; here in floats that err outwards
(proofs/envelope.md §10).
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from bursar.losses.engines.envelope.comb import Combed
from bursar.losses.engines.envelope.engine import Envelope, alias_bounds
from bursar.losses.engines.envelope.points import NoEnvelope
from bursar.losses.engines.envelope.polynomials import kernel, strengths
from bursar.numerics.arrays import Array, Complexes
from bursar.numerics.balls import Ball, down, up
from bursar.numerics.products import product, summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT, backward

Ends = tuple[Array, Array]
"""Lower and upper ends of δ, one of each for every ε."""
_LEAST = 1e-290  # of what a float's own rounding is relative to
_FURTHEST = 2.0**50  # teeth


def ends_at(sums: Envelope | Combed, epsilons: Array) -> Ends:
    """Certified ends of δ at each ε; 0 and 1 where floats say nothing."""
    with np.errstate(all="ignore"):
        return _on_a_comb(sums, epsilons) if isinstance(sums, Combed) else _on_a_line(sums, epsilons)


def _on_a_line(sums: Envelope, epsilons: Array) -> Ends:
    """e^{is_j(drift − ε)} is a product of two from short tables, j = aR + r: the sums are products of matrices."""
    drift = float(sums.moments.drift)
    apart = drift - epsilons
    off = up(abs(sums.moments.drift - arb(drift))) + UNIT * np.abs(apart)
    if not np.isfinite(off).all():
        raise NoEnvelope("the losses are too large")
    count = len(sums.frequencies)
    row = max(math.isqrt(count), 1)
    rows = -(-count // row)
    inner = np.exp(1j * np.multiply.outer(apart, sums.frequencies[:row]))
    outer = np.exp(1j * np.multiply.outer(apart, np.arange(rows) * (row * sums.line.step)))
    values, doubts = [], []
    for side in sums.sides:
        terms = np.zeros(rows * row, dtype=complex)
        terms[:count] = side.terms
        values.append(_turned(terms.reshape(rows, row), inner, outer))
        # of the turns themselves, of two exponentials and their product, and of adding up
        size, slope = float(side.sizes.sum()), summed(side.sizes, sums.frequencies)
        turned = slope * (off + 2 * UNIT * np.abs(apart)) + size * UNIT * (4 * ULPS + 2 * (rows + row) + 24)
        doubts.append(SAFETY * turned + side.doubt)
    lead, unsure = _lead(sums.cumulant, sums.tau, epsilons)
    alias = alias_bounds(sums.chernoff, sums.tau, 2 * arb.pi() / arb(sums.line.step), epsilons)
    low = _product(values[0] - doubts[0], lead, unsure, -1) - alias
    high = _product(values[1] + doubts[1], lead, unsure, 1) + up(sums.given_up)
    return _rounded(sums.leak, low, high)


def _turned(terms: Complexes, inner: Complexes, outer: Complexes) -> Array:
    """Re Σ terms·inner·outer, for every ε."""
    found: Array = (product(inner, terms.T) * outer).sum(axis=1).real
    return found


def _on_a_comb(sums: Combed, epsilons: Array) -> Ends:
    """Two transforms give the sums of both parts of the stick at every tooth; each ε mixes them by its own θ."""
    first, second, sizes, roundings = kernel(sums.tau, sums.width, sums.nodes)
    moments = sums.moments
    size = np.exp(np.minimum(moments.log_size, 0.0))
    moved = size * np.exp(1j * moments.turn)
    tables = [backward(moved * part, sums.nodes) for part in (first, second)]
    grown = np.exp(np.minimum(moments.error, 700.0))
    turned = (ULPS + 4) * (8 + np.abs(moments.turn) + np.abs(moments.log_size)) + 48
    weight = sums.twice * size * sizes
    spread = summed(weight, grown - 1 + UNIT * turned) + roundings * summed(weight, grown)
    fade = math.exp(-sums.tau * sums.width)
    offset = sums.factor.count * sums.comb.offset
    places = [(arb(x) - offset) / sums.comb.step for x in epsilons.tolist()]
    found = []
    # δ falls with ε, so a place a little further on gives a lower end, and one a little before an upper one
    for exact, side in ((np.array([up(x) for x in places]), -1), (np.array([down(x) for x in places]), 1)):
        near = np.abs(exact) < _FURTHEST
        at = np.where(near, exact, 0.0)
        tooth = np.ceil(at)
        shift = np.mod(sums.middle % sums.nodes - np.mod(tooth, sums.nodes), sums.nodes).astype(np.int64)
        one, two = strengths(sums.tau, sums.width, sums.width * (tooth - at))
        value = sums.nodes * (one * tables[0][0][shift] + two * tables[1][0][shift])
        doubt = sums.nodes * (one * tables[0][1] + two * tables[1][1]) + (one + fade * two) * spread + sums.slip(0.0)
        # e^{K−τε} at that very place
        heights = [sums.cumulant - arb(sums.tau) * (sums.comb.step * x + offset) for x in at.tolist()]
        leads = [_ends_of(height) for height in heights]
        lead = np.array([pair[0 if side < 0 else 1] for pair in leads])
        value = np.where(near, value + side * SAFETY * doubt, side * math.inf)
        found.append(lead * np.maximum(value, 0.0))
    alias = alias_bounds(sums.chernoff, sums.tau, sums.nodes * sums.comb.step, epsilons)
    return _rounded(sums.leak, found[0] * (1 - 4 * UNIT) - alias, found[1] * (1 + 4 * UNIT) + up(sums.factor.given_up))


def _ends_of(height: Ball) -> tuple[float, float]:
    grown = height.exp()
    return max(down(grown), 0.0), up(grown)


def _lead(cumulant: Ball, tau: float, epsilons: Array) -> tuple[Array, Array]:
    """e^{K−τε} in floats, and a bound of its relative error."""
    middle = float(cumulant)
    moved = tau * epsilons
    off = up(abs(cumulant - arb(middle))) + UNIT * (ULPS + 8 + 2 * (abs(middle) + 2 * np.abs(moved)))
    return np.exp(middle - moved), SAFETY * np.expm1(np.minimum(off, 700.0))


def _product(value: Array, lead: Array, unsure: Array, side: int) -> Array:
    """The value times the lead, at least 0, rounded to its side; nothing is known where the lead is no usual float."""
    known = (lead > _LEAST) & (lead < 1 / _LEAST) & (unsure < 0.01)
    found = np.maximum(value, 0.0) * lead * (1 + side * (unsure + 8 * UNIT))
    return np.where(known, found, 0.0 if side < 0 else math.inf)


def _rounded(leak: Ball, low: Array, high: Array) -> Ends:
    """With what leaks, within [0, 1]; a float further out than the sums, and nothing where they are no numbers."""
    lower = max(down(leak), 0.0) + np.maximum(np.where(np.isfinite(low), low, 0.0), 0.0) * (1 - 4 * UNIT)
    upper = up(leak) + np.where(np.isfinite(high), np.maximum(high, 0.0), math.inf) * (1 + 4 * UNIT) + 1e-300
    lower, upper = np.nextafter(lower, 0.0), np.minimum(np.nextafter(upper, math.inf), 1.0)
    return np.minimum(np.maximum(lower, 0.0), upper), upper
