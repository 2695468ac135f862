"""Many sampled Gaussians at once, each with its own σ, rate, number of copies, ε and δ: the nodes of their integrals, a
row for each.

In z = x/σ the moment of a row is ∫ φ(z)·A(z)^p·χ(z) dz with A = 1 − q + q·e^u, u = z/σ − 1/(2σ²), where p = 1 + t and
χ = Φ((c − z)/a) where the record is removed, and p = −t and χ = 1 where it is added. Every bound is that of a single
sampled Gaussian (proofs/contour.md §4) in these units; proofs/contour.md §9 says what differs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from bursar.numerics.arrays import Array, Integers
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

THETAS = np.array([0.06, 0.25, 0.7, 1.4, 2.5])
MOST_NODES = 400
DEEPEST = 30.0  # of (z − c)/a: nodes farther behind the cut are left out
CLOSE, ROUGH = 19.0, 7.0  # what the nodes leave out is about e^{−19} of δ, or e^{−7} where a rough bound will do


@dataclass(frozen=True)
class Rows:
    """What is asked, a row for each: δ at ε of so many copies; ``log_delta`` says which δ to expect."""

    sigma: Array
    rate: Array
    copies: Array
    epsilon: Array
    log_delta: Array
    spread: float = 4 * UNIT
    """Every reading of σ and q lies within this relative distance of the floats."""

    def __len__(self) -> int:
        return len(self.sigma)

    def part(self, some: Integers) -> Rows:
        """Some of the rows."""
        sigma, rate, copies, epsilon, log_delta = (getattr(self, name)[some] for name in _QUESTION)
        return Rows(sigma, rate, copies, epsilon, log_delta, self.spread)

    def at(self, sigma: Array) -> Rows:
        """The same questions about other noise."""
        return Rows(sigma, self.rate, self.copies, self.epsilon, self.log_delta, self.spread)


@dataclass(frozen=True)
class Shape:
    """Where the nodes of each row lie: a cut, a short step, the number of the first node, and how many there are. Only
    guesses go into it, so a shape made for one σ serves others nearby.
    """

    removed: bool
    cut: Array
    soft: Array
    step: Array
    first: Array
    counts: Array

    def part(self, some: Integers) -> Shape:
        """Those of some rows."""
        return Shape(self.removed, *(getattr(self, name)[some] for name in SHAPE))

    @property
    def count(self) -> int:
        """How many nodes the longest row has; the others go on as far."""
        return int(self.counts.max())


_QUESTION = tuple(field.name for field in fields(Rows))[:-1]
SHAPE = tuple(field.name for field in fields(Shape))[1:]
"""What a shape has for each row."""


def short(x: Array, bits: int) -> Array:
    """The largest floats of at most so many bits that are no larger than x: their small multiples are exact."""
    mantissa, exponent = np.frexp(x)
    result: Array = np.ldexp(np.floor(np.ldexp(mantissa, bits)), exponent - bits)
    return result


def rough_variance(rows: Rows) -> Array:
    """About the variance of the loss of all copies, untilted."""
    odd = np.expm1(np.minimum(rows.sigma**-2.0, 500.0))
    seen = np.maximum(0.5 * rows.sigma**-2.0 + np.log(rows.rate), 0.0)
    result: Array = rows.copies * np.minimum(rows.rate**2 * odd, rows.rate * (seen**2 + rows.sigma**-2.0))
    return result


def heaviest(rows: Rows) -> Array:
    """About the tilt at which φ·A^{1+τ} is as large far away, where the record shows plainly or at the cut, as at 0."""
    cut = 1 + rows.sigma * np.sqrt(2 * (CLOSE + np.log(rows.copies) - rows.log_delta))
    far = np.minimum(cut, 1 + 2 * rows.sigma**2 * np.log(1 / rows.rate))
    loss = np.log1p(rows.rate * np.expm1(np.minimum((2 * far - 1) / (2 * rows.sigma**2), 600.0)))
    return np.asarray(np.maximum(far**2 / (2 * rows.sigma**2 * loss) - 1, 1.0))


def shaped(rows: Rows, most: Array, *, removed: bool, margin: float) -> Shape:
    """A shape for tilts up to ``most``."""
    tolerance = margin + np.log(rows.copies)
    sigma, depth = rows.sigma, tolerance - rows.log_delta
    cut, soft = np.full(len(rows), np.inf), np.ones(len(rows))
    if removed:
        far = 1 + sigma * np.sqrt(2 * depth)
        steep = rows.rate * np.exp(np.minimum((2 * far - 1) / (2 * sigma**2), 600.0))
        tilt = np.minimum(most / 3, 4 * far * (1 + steep) / steep)
        lifted = rows.rate * np.exp(np.minimum((3 * far - 1) / (2 * sigma**2), 600.0))
        sharp = np.sqrt(far / (4 * tilt)) * np.where(lifted > 10, 1.0, np.sqrt((1 + lifted) / lifted))
        soft = short(np.minimum(sharp, 1.0), 5)
        cut = np.ceil(16 * (1 / sigma + np.sqrt(2 * depth * (1 + soft**2)))) / 16
    low, high = _window(rows, most, tolerance, cut, soft, removed=removed)
    growth = base(rows, soft, removed=removed) - (0.0 if removed else most[:, None] / 3 * _LOG_COSINES)
    return _spaced(rows, removed, cut, soft, (low, high), growth + tolerance[:, None])


def closer(rows: Rows, shape: Shape, growth: Array, margin: float) -> Shape:
    """The same window with nodes close enough where the modulus grows by this on the lines Im z = θσ."""
    growth = growth + (margin + np.log(rows.copies))[:, None]
    low = shape.first * shape.step
    return _spaced(rows, shape.removed, shape.cut, shape.soft, (low, low + (shape.counts - 1) * shape.step), growth)


def _spaced(rows: Rows, removed: bool, cut: Array, soft: Array, window: tuple[Array, Array], growth: Array) -> Shape:
    gain = 2 * math.pi * THETAS * rows.sigma[:, None]
    step = short(0.95 * (gain / growth).max(axis=1), 5)
    step = np.maximum(step, short((window[1] - window[0]) / MOST_NODES, 5))
    first = np.floor(window[0] / step)
    return Shape(removed, cut, soft, step, first, np.minimum(np.ceil(window[1] / step) - first, MOST_NODES) + 1)


_LOG_COSINES = np.log(np.cos(THETAS / 2))


def base(rows: Rows, soft: Array, *, removed: bool) -> Array:
    """ln of what the normal density and the cut grow by on the lines Im z = θσ, for each row and θ."""
    square = np.square(THETAS * rows.sigma[:, None]) / 2
    return np.asarray(square * (1 + soft[:, None] ** -2.0) if removed else square)


def _window(
    rows: Rows, most: Array, tolerance: Array, cut: Array, soft: Array, *, removed: bool
) -> tuple[Array, Array]:
    """From where to where nodes are needed; what lies beyond is bounded for those that are used."""
    if not removed:
        edge = np.sqrt(2 * (tolerance - most * np.log1p(-rows.rate)))
        return -edge, edge
    # right of the edge the exponent of φ·A^{1+τ}·χ is to stay below −tolerance, and to fall
    order, stiff = 1 + 0.6 * most, 1 + soft**-2.0
    low = np.minimum(np.maximum(np.sqrt(2 * tolerance), 1.2 * order / rows.sigma), cut)
    high = np.minimum(cut + soft * np.sqrt(2 * tolerance) + order / (rows.sigma * stiff), cut + DEEPEST * soft)
    for _ in range(6):
        middle = (low + high) / 2
        enough = far_exponent(rows, cut, soft, order, middle) < -tolerance
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return -np.sqrt(2 * tolerance), high


def far_exponent(rows: Rows, cut: Array, soft: Array, order: Array, z: Array) -> Array:
    """ln of a bound of φ·A^a·χ·√(2π) right of the cut, where Φ(−w) ≤ e^{−w²/2}."""
    beyond = np.maximum(z - cut, 0.0) / soft
    u = (z - 0.5 / rows.sigma) / rows.sigma
    odds = np.log1p(rows.rate * np.expm1(np.minimum(u, 600.0))) + np.maximum(u - 600.0, 0.0)
    return np.asarray(order * odds - 0.5 * z * z - 0.5 * beyond * beyond)


@dataclass(frozen=True)
class Nodes:
    """The nodes of each row: places, ln A, the losses' sign, log-masses, and bounds of the errors."""

    rows: Rows
    shape: Shape
    z: Array
    odds: Array
    odds_error: Array
    log_mass: Array
    mass_error: Array
    last: Array
    """The last node of each row that has a mass."""
    lost: Array
    """The mass that the cut takes from one copy, at most."""

    @property
    def loss(self) -> Array:
        """The privacy losses."""
        return self.odds if self.shape.removed else -self.odds


def nodes(rows: Rows, shape: Shape) -> Nodes:
    """Losses and masses at the nodes, with their errors."""
    z = (shape.first[:, None] + np.arange(shape.count)) * shape.step[:, None]
    error, odds = log_odds(rows, z)
    log_mass = -0.5 * z * z + np.log(shape.step / math.sqrt(2 * math.pi))[:, None]
    if not shape.removed:
        return Nodes(rows, shape, z, odds, error, log_mass, np.full_like(z, 8 * UNIT), z[:, -1], np.zeros(len(rows)))
    w = (shape.cut[:, None] - z) / shape.soft[:, None]
    near, kept = w < 9, w >= -DEEPEST
    cut = np.zeros_like(w)
    places = (-math.sqrt(0.5) * np.maximum(w[near], -DEEPEST)).tolist()
    cut[near] = np.log([0.5 * math.erfc(place) for place in places])
    log_mass = np.where(kept, log_mass + odds + cut, -np.inf)
    mass_error = 8 * UNIT + error + (ULPS + 8) * UNIT * (1 + np.where(near, 1 + w * w, 0.0))
    b = np.sqrt(1 + shape.soft**2)
    # Φ̄(y) ≤ ½e^{−y²/2} for y ≥ 0
    behind = np.maximum((shape.cut - 1 / rows.sigma) / b, 0.0)
    lost = SAFETY * 0.5 * np.exp(-0.5 * behind**2)
    return Nodes(rows, shape, z, odds, error, log_mass, mass_error, np.where(kept, z, -np.inf).max(axis=1), lost)


def log_odds(rows: Rows, z: Array) -> tuple[Array, Array]:
    """A bound of the absolute error of ln A at places z of each row, and ln A."""
    sigma, rate = rows.sigma[:, None], rows.rate[:, None]
    u = (z - 0.5 / sigma) / sigma
    grown = np.expm1(np.minimum(u, 600.0))
    y = rate * grown
    odds = np.log1p(y) + np.maximum(u - 600.0, 0.0)
    unsure = 4 * (rows.spread + UNIT) * (np.abs(z) + 0.5 / sigma) / sigma
    error = unsure * (rate * (grown + 1) / (1 + y)) + (ULPS + 4) * (UNIT + rows.spread) * np.abs(y) / (1 + y)
    return SAFETY * (error + (ULPS + 2) * UNIT * np.abs(odds)), odds
