"""How fast the characteristic function of a tilted sampled Gaussian decays: bounds that hold for every larger frequency
(proofs/contour.md §3).

    layers    a density that rises and then falls is a mixture of uniform laws on nested intervals, at every height
    moments   near 0, by the second and the fourth moment
    rungs     between the two, values of |φ| at a few frequencies and a bound of its second derivative between them
"""

from __future__ import annotations

import math

import numpy as np

from bursar.losses.engines.contour.factors import Care, Decay, uniform_decay
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.losses.engines.contour.sampled_law import Tilted, tilted
from bursar.numerics.arrays import Array
from bursar.numerics.balls import up
from bursar.numerics.products import summed
from bursar.numerics.trusted import UNIT

_ENOUGH = -200.0  # of ln|φ|: no sum asks for more
_CELLS = {Care.LEAST: np.linspace(0.0, 1.0, 25), Care.MOST: np.linspace(0.0, 1.0, 97)}
_LIGHT = 1e-7  # of the largest weight: cells end where the law is lighter
_LEFT, _PEAKS = 0.1, 3  # of the mass: more peaks are looked for while so much is left
_LADDER = np.geomspace(1.0, 256.0, 26)  # ratio 1.25
_FIRST, _LAST = -5.5, -30.0  # where rungs start and end, in terms of ln|φ| by layers


def sampled_decay(integral: SampledIntegral, law: Tilted, tau: float, care: Care) -> Decay:
    """The best bound that this care affords."""
    layers = uniform_decay([_layers(*_cells(integral, law, tau, care), integral.count)], integral.count)
    near = _by_moments(integral, law, layers)
    return near if care is Care.LEAST else _by_rungs(integral, law, tau, layers, near)


def _cells(integral: SampledIntegral, law: Tilted, tau: float, care: Care) -> tuple[Array, Array]:
    """Cells of the tilted loss in rising order of x: a lower bound of the density on each, and its width."""
    # with many copies a part so light that each copy hardly has it still decides the sum
    light = min(_LIGHT, 0.01 / integral.count)
    heavy = np.flatnonzero(law.weights > light * float(law.weights.max()))
    low, high = float(law.grid.x[heavy[0]]), float(law.grid.x[heavy[-1]])
    edges = low + (high - low) * _CELLS[care]
    square, power = integral.sigma * integral.sigma, (1 + tau) if integral.removed else -tau
    doubt, odds = integral.odds(edges)
    apart, loss = integral.signed(edges, doubt, odds)
    # ln of the density of L is ln φ + τL − ln|dL/dx| + ln χ + const, and ln A more where a record is removed or
    # replaced; what is convex in it bends by at most (p+1)/(4σ⁴), p the power of A
    height = -edges * edges / (2 * square) + tau * loss + (odds if integral.removed else 0.0) + integral.log_cut(edges)
    height -= integral.log_slope(edges, odds) + math.log(integral.sigma * math.sqrt(2 * math.pi)) + up(law.cumulant)
    cell = float((edges[1:] - edges[:-1]).max())
    sag = max(power + 1, 0.0) * cell * cell / (32 * square * square)
    height -= 1e-8 * (1 + np.abs(height)) + 2 * doubt + (abs(power) + 1) * apart
    least = np.minimum(height[1:], height[:-1]) - sag
    width = np.maximum(np.abs(np.diff(loss)) * (1 - 1e-9) - apart[1:] - apart[:-1], 0.0)
    return np.exp(np.minimum(least, 700.0)), width


def _layers(density: Array, width: Array, count: int) -> Array:
    """(share, width) of uniform laws whose sum lies below the density: around its peak, and around those of what is
    left, as long as that is worth it: much of the mass, or enough for all copies together.
    """
    tables: list[Array] = []
    worth = min(_LEFT * summed(density, width), 1.0 / count)
    while summed(density, width) > worth and len(tables) < _PEAKS:
        peak = int(np.argmax(density))
        rising = np.minimum.accumulate(density[peak::-1])[::-1]
        under = np.concatenate([rising, np.minimum.accumulate(density[peak:])[1:]])
        order = np.argsort(-under, kind="stable")
        # where this lies above a height it is an interval: all cells at least as high, side by side
        heights, widths = under[order], np.cumsum(width[order])
        shares = (heights - np.append(heights[1:], 0.0)) * widths
        kept = (shares > 0) & np.isfinite(shares)
        tables.append(np.column_stack([shares[kept], widths[kept]]))
        density = density - under
    return np.concatenate(tables) if tables else np.array([[0.0, 1.0]])


def _by_moments(integral: SampledIntegral, law: Tilted, layers: Decay) -> Decay:
    """1 − ψ(s) = E[1 − cos(sY)] ≥ s²E[Y²]/2 − s⁴E[Y⁴]/24 for small s, layers beyond."""
    apart, edge, count = np.square(law.grid.loss - law.mean), _edge(law), integral.count
    second, fourth = law.variance, summed(law.weights, np.square(apart))
    bent, twice = integral.bent(law.mean)
    least = 0.99 * second - law.missing * (2 * second + bent + 4 * edge**2)
    most = 1.01 * (fourth + 3 * second**2) + 4 * law.missing * (8 * fourth + twice + 16 * edge**4)
    if not least > 0:
        return layers
    turn = math.sqrt(6 * least / most)
    beyond = float(layers(np.array([turn]))[0])

    def bound(s: Array) -> Array:
        square = np.square(np.minimum(s, turn))
        gone = square * (least - square * most / 12) * (1 - 1e-9)
        here = np.maximum(0.5 * count * np.log1p(-gone), beyond)
        # beyond the turn the layers' bound falls further, where that is of use
        return here if beyond < _ENOUGH else np.minimum(here, layers(s))

    return bound


def _by_rungs(integral: SampledIntegral, law: Tilted, tau: float, layers: Decay, near: Decay) -> Decay:
    """|φ| at frequencies between those where the layers say nothing and those where they say enough."""
    count = integral.count
    ladder = _LADDER / math.sqrt(max(count * law.variance, 1e-300))
    known = layers(ladder)
    inside = np.flatnonzero((known < _FIRST) & (known > _LAST))
    rungs = ladder[inside[0] : inside[-1] + 2] if len(inside) else ladder[:0]
    if len(rungs) < 2:
        return near
    far = float(rungs[-1])
    # the variance of the law itself: what the grid says, and what quadrature and window may leave out of it
    variance = 1.01 * law.variance + law.missing * (2 * law.variance + integral.bent(law.mean)[0] + 4 * _edge(law) ** 2)
    try:
        grid = integral.make(tau, far, max(2.0 + math.log(count), 6.0))
    except ArithmeticError:  # too many nodes
        return near
    c, d, error_c, error_d = tilted(integral, grid, tau, far).centred(rungs)
    # ψ = (1 − C)² + D², so 1 − ψ = 2C − C² − D²; between rungs ψ exceeds its ends by at most variance·(gap)²/4
    gone = 2 * c - c * c - d * d - 2 * error_c - 2 * np.abs(d) * error_d - error_d * error_d - 16 * UNIT
    sag = variance * np.square(np.diff(rungs)) / 4
    floors = np.minimum.accumulate((np.minimum(gone[1:], gone[:-1]) - sag)[::-1])[::-1]
    later, ends = np.append(floors[1:], np.inf), gone[1:] - sag
    beyond = float(layers(rungs[-1:])[0])

    def bound(s: Array) -> Array:
        place = np.clip(np.searchsorted(rungs, s, side="right") - 1, 0, len(floors) - 1)
        here = np.minimum(np.minimum(np.interp(s, rungs, gone) - sag[place], ends[place]), later[place])
        value = np.maximum(0.5 * count * np.log1p(-np.clip(here * (1 - 1e-9), 0.0, 0.999)), beyond)
        best = near(s)
        return np.where((s >= rungs[0]) & (s < far), np.minimum(best, value), best)

    return bound


def _edge(law: Tilted) -> float:
    """How far the grid's losses lie from their mean."""
    return float(np.abs(law.grid.loss[[0, -1]] - law.mean).max())
