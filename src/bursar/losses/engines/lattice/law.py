"""Losses as the lattice engine reads them: atoms, and densities in a variable in which they are analytic.

A law says where its mass lies in floats, and bounds what the floats hide: the error of each log-density, of each place,
and the mass that lies outside the window. The bounds on analyticity that quadrature needs are in proofs/lattice.md §2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bursar.losses._base import Loss
from bursar.losses.laws.bounded_range import BoundedRangeLoss
from bursar.losses.laws.discrete_gaussian import DiscreteGaussianLoss
from bursar.losses.laws.discrete_laplace import DiscreteLaplaceLoss
from bursar.losses.laws.gaussian import GaussianLoss
from bursar.losses.laws.laplace import LaplaceLoss
from bursar.losses.laws.sampled import SampledAdd, SampledRemove
from bursar.losses.laws.sampled_gaussian import ReplacedGaussian
from bursar.losses.laws.table import TableLoss
from bursar.numerics.balls import Ball, up
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

Array = Any
Known = tuple[Array, Array]
"""Values and bounds of their absolute errors."""
_NONE = np.zeros(0)
_WIDEST = 0.1  # of a panel: on discs of twice that radius a sampled loss changes by a bounded factor
_MOST_ATOMS = 2_000_000
_SLACK = 0.01  # of logarithms that are computed in floats


@dataclass(frozen=True)
class Density:
    """A density on [low, high] in a variable v, and the loss as a rising function of v."""

    low: float
    high: float
    width: float
    """Panels no wider than this have a quadrature error below `grid.QUADRATURE`."""
    log_density: Callable[[Array], Known]
    loss: Callable[[Array], Known]
    place: Callable[[Array], Array]
    """The v at which the loss has a value, roughly; infinite beyond the range."""


@dataclass(frozen=True)
class Law:
    """Atoms and densities of the finite part of a loss; ``log_lost`` bounds the logarithm of the
    mass that neither shows."""

    losses: Array = field(default_factory=lambda: _NONE)
    loss_errors: Array = field(default_factory=lambda: _NONE)
    log_masses: Array = field(default_factory=lambda: _NONE)
    mass_errors: Array = field(default_factory=lambda: _NONE)
    density: Density | None = None
    log_lost: float = -math.inf


def law_of(loss: Loss, depth: float) -> Law | None:
    """The law of a loss with a window outside which there is at most mass e^{−depth}; None where there is no such
    form.
    """
    if isinstance(loss, GaussianLoss):
        return _gaussian(loss.mu, depth)
    if isinstance(loss, LaplaceLoss):
        return replace(_of_atoms(loss), density=_exponential(loss.epsilon, math.log(0.25)))
    if isinstance(loss, BoundedRangeLoss):
        return Law(density=_exponential(loss.eta, -math.log(-2 * math.expm1(-float(loss.eta)))))
    if isinstance(loss, DiscreteGaussianLoss):
        return _discrete_gaussian(loss, depth)
    if isinstance(loss, TableLoss) or (isinstance(loss, DiscreteLaplaceLoss) and loss.atoms()):
        return _of_atoms(loss)
    if isinstance(loss, ReplacedGaussian):
        return _replaced(loss, depth)
    if isinstance(loss, (SampledRemove, SampledAdd)):
        removed = isinstance(loss, SampledRemove)
        base = law_of(loss.base.remove if removed else loss.base.add, depth)
        return None if base is None else _sampled(base, loss.rate, loss.base.add.infinite_mass(), removed=removed)
    return None


def spread(x: Ball) -> float:
    """How far every reading of a parameter may lie from the float used for it, relatively."""
    return float((x.rad() / abs(x.mid())).upper()) + 2 * UNIT


def _of_atoms(loss: Loss) -> Law:
    atoms = loss.atoms()
    places = np.array([float(atom.loss) for atom in atoms])
    errors = np.array([float(atom.loss.rad()) for atom in atoms]) + 2 * UNIT * np.abs(places)
    heights = np.array([float(atom.mass.log()) for atom in atoms])
    doubts = np.array([float(atom.mass.log().rad()) for atom in atoms]) + 2 * UNIT * (1 + np.abs(heights))
    return Law(places, errors, heights, doubts)


def _gaussian(mu: Ball, depth: float) -> Law:
    m, reach = float(mu), math.sqrt(2 * depth)
    middle, doubt = m * m / 2, spread(mu)

    def log_density(v: Array) -> Known:
        z = (v - middle) / m
        slip = np.abs(z) / m * 4 * UNIT * (np.abs(v) + middle)
        error = (6 * UNIT + 3 * doubt) * (np.square(z) + m * np.abs(z) + 1) + slip
        return -0.5 * np.square(z) - math.log(m * math.sqrt(2 * math.pi)), error

    edge = middle + reach * m
    # on a disc of radius r around c the log-density moves by at most r(2|c − m| + r)/(2μ²) ≤ 1
    width = min(m / (2.1 * (reach + m + 1)), _WIDEST)
    # the window is symmetric, so it holds for the reversed pair too: sampling mixes the two
    density = Density(-edge, edge, width, log_density, _itself, lambda g: g)
    return Law(density=density, log_lost=_SLACK - depth)


def _itself(v: Array) -> Known:
    return v, np.zeros_like(v)


def _exponential(reach: Ball, height: float) -> Density:
    """height·e^{(v−reach)/2} on [−reach, reach]."""
    edge, doubt = float(reach), spread(reach)

    def log_density(v: Array) -> Known:
        slip = 4 * UNIT * (np.abs(v) + edge + abs(height) + 1)
        return height + (v - edge) / 2, slip + doubt * (2 + edge) * np.ones_like(v)

    def loss(v: Array) -> Known:
        return v, doubt * edge * np.ones_like(v)

    return Density(-edge, edge, _WIDEST, log_density, loss, lambda g: g)


def _discrete_gaussian(loss: DiscreteGaussianLoss, depth: float) -> Law | None:
    s, shift = float(loss.variance_parameter), loss.shift
    doubt = spread(loss.variance_parameter)
    # beyond `reach` there is at most 2e^{−reach²/(2s)}, also after the shift that sampling mixes in
    reach = math.ceil(math.sqrt(2 * s * (depth + 1))) + 1
    if 2 * reach + shift > _MOST_ATOMS:
        return None
    y = np.arange(-reach, reach + shift + 1, dtype=float)
    norm = up(loss.normaliser().log())
    heights = -np.square(y) / (2 * s) - norm
    doubts = (doubt + 4 * UNIT) * (np.square(y) / (2 * s) + abs(norm) + 1)
    places = (shift * shift - 2.0 * shift * y) / (2 * s)
    return Law(places, (doubt + 4 * UNIT) * np.abs(places), heights, doubts, log_lost=math.log(2) - depth)


def _replaced(loss: ReplacedGaussian, depth: float) -> Law:
    """In v = −x/σ²: N(0, 1/σ²) times the odds of the first mixture."""
    sigma, q = float(loss.sigma), float(loss.rate)
    doubt = spread(loss.sigma) + spread(loss.rate)
    eighth, reach = 1 / (8 * sigma * sigma), math.sqrt(2 * depth)

    def odds(v: Array) -> Known:
        return _log_odds(v / 2 - eighth, (2 * doubt + 4 * UNIT) * (np.abs(v) + eighth), q, doubt)

    def log_density(v: Array) -> Known:
        z = sigma * v
        value, error = odds(v)
        flat = -0.5 * np.square(z) + math.log(sigma / math.sqrt(2 * math.pi))
        return flat + value, error + (3 * doubt + 8 * UNIT) * (np.square(z) + 1 + abs(math.log(sigma)))

    def both(v: Array) -> Known:
        first, second = odds(v), odds(-v)
        return first[0] - second[0], SAFETY * (first[1] + second[1] + UNIT * np.abs(first[0] - second[0]))

    def place(g: Array) -> Array:
        half, log_a = np.abs(g) / 2, math.log1p(-q) - math.log(q) + eighth if q < 1 else -math.inf
        near = np.arcsinh(math.exp(min(log_a, 300.0)) * np.sinh(np.minimum(half, 300.0)))
        # asinh(y) is ln(2y) for large y, and 2·sinh(h) is e^h·(1 − e^{−2h})
        far = log_a + half + np.log1p(-np.exp(-2 * np.maximum(half, 1e-12)))
        grown = np.where((half > 300) | (log_a > 300), np.maximum(far, 0.0), near)
        return g + 2 * np.sign(g) * grown

    edge = 1 / (2 * sigma * sigma) + reach / sigma
    width = min(1 / (2.1 * sigma * (reach + 1 + 1 / sigma)), _WIDEST)
    return Law(density=Density(-edge, edge, width, log_density, both, place), log_lost=_SLACK - depth)


def _log_odds(s: Array, error: Array, q: float, doubt: float) -> Known:
    """ln(1 − q + q·e^s), for s known up to ``error`` and q up to the relative ``doubt``."""
    large = s > 300
    y = q * np.expm1(np.where(large, 0.0, s))
    rest = math.exp(math.log1p(-q) - math.log(q)) if q < 1 else 0.0
    far = s + math.log(q) + np.log1p(rest * np.exp(-np.maximum(s, 300.0)))
    value = np.where(large, far, np.log1p(y))
    y = np.where(large, np.exp(np.minimum(value, 700.0)), y)
    slope = np.abs((y + q) / (1 + y))
    bound = (doubt + (ULPS + 2) * UNIT) * np.abs(y) / (1 + y) + slope * error + (ULPS + 2) * UNIT * np.abs(value)
    return value, SAFETY * bound


def _sampled(base: Law, rate: Ball, absent: Ball, *, removed: bool) -> Law:
    """Each place moved by ln(1 − q + q·e^l); removed: each mass times q + (1 − q)e^{−l}."""
    q, doubt = float(rate), spread(rate)
    side = 1.0 if removed else -1.0

    def shrink(v: Array, error: Array) -> Known:
        value, bound = _log_odds(side * v, error, q, doubt)
        return side * value, bound

    def grow(g: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = np.expm1(np.minimum(side * g, 30.0)) / q
            near = np.where(inner <= -1, -np.inf, np.log1p(np.maximum(inner, -1.0)))
            return side * np.where(side * g > 30, side * g - math.log(q), near)

    def weigh(v: Array, heights: Array, errors: Array) -> Known:
        if not removed:
            return heights, errors
        other = np.log1p(-q) - v if q < 1 else np.full_like(v, -np.inf)
        weight = np.logaddexp(math.log(q), other)
        # a reading of q moves 1 − q too, by more than itself where q is close to 1
        moved = doubt * np.exp(np.minimum(-v - weight, 300.0)) if q < 1 else 0.0
        slip = (2 * doubt + (2 * ULPS + 4) * UNIT) * (1 + np.abs(weight) + np.abs(v))
        return heights + weight, errors + slip + moved

    losses, loss_errors = shrink(base.losses, base.loss_errors)
    heights, errors = weigh(base.losses, base.log_masses, base.mass_errors + base.loss_errors)
    if not absent <= 0:
        mass = (1 - rate) * absent if removed else absent
        place = side * (-rate).log1p()
        losses, loss_errors = np.append(losses, float(place)), np.append(loss_errors, float(place.rad()) + UNIT)
        heights = np.append(heights, float(mass.log()))
        errors = np.append(errors, float(mass.log().rad()) + 2 * UNIT * (1 + abs(float(mass.log()))))
    density, inner = None, base.density
    if inner is not None:

        def loss(v: Array) -> Known:
            return shrink(*inner.loss(v))

        def log_density(v: Array) -> Known:
            at, unsure = inner.loss(v)
            value, error = inner.log_density(v)
            return weigh(at, value, error + unsure)

        density = Density(inner.low, inner.high, inner.width, log_density, loss, lambda g: inner.place(grow(g)))
    return Law(losses, loss_errors, heights, errors, density, base.log_lost)
