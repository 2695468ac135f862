"""The Poisson-sampled Gaussian for the contour engine: certified cumulants and moments off the real line."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import arb

from bursar.losses.engines.contour.factors import Care, Decay, Factor, Moments
from bursar.losses.engines.contour.line_sums import Line, log_of
from bursar.losses.engines.contour.rare_factor import RareFactor
from bursar.losses.engines.contour.sampled_decay import sampled_decay
from bursar.losses.engines.contour.sampled_grid import Grid
from bursar.losses.engines.contour.sampled_integral import SampledIntegral
from bursar.losses.engines.contour.sampled_law import Tilted, at_reach, log_moment, tilted
from bursar.losses.engines.contour.sampled_line import line
from bursar.losses.engines.contour.sampled_members import near_cut
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball
from bursar.numerics.products import product, summed
from bursar.numerics.trusted import SAFETY, UNIT

_MOST_SHIFTED = 10**6  # copies
_CHEAP = 600  # nodes on the real line
_DEARER = 2.0  # a node on the shifted line, against one on the real line


class SampledFactor(Factor):
    """``count`` copies of a Poisson-sampled Gaussian, in one direction; exact up to a loss of ``given_up`` in δ."""

    def __init__(self, integral: SampledIntegral, count: int) -> None:
        self.integral, self.count = integral, count
        self.given_up = integral.given_up
        self.heavy, self.mirrored, self.splits = integral.heavy, integral.removed, integral.removed
        self._law: Tilted | None = None
        self._key = (math.nan, math.nan)
        self._decays: dict[tuple[float, Care], Decay] = {}

    def rough_variance(self) -> float:
        """About q²(e^{1/σ²} − 1) for each copy."""
        return self.integral.variance

    def rough(self, tau: float) -> tuple[float, float, float]:
        """K, K′ and K″ of all copies as sums over the nodes, in floats."""
        grid = self.integral.grid(tau, 0.0)
        exponent = tau * grid.loss
        top = max(float(exponent[0]), float(exponent[-1]), 0.0)
        if top < 600:
            terms = grid.mass * np.expm1(exponent)
            weights, k = terms + grid.mass, math.log1p(float(terms.sum()))
        else:
            log_weights = grid.log_mass + exponent
            top = float(log_weights.max())
            weights = np.exp(log_weights - top)
            k = top + math.log(float(weights.sum()))
        total = float(weights.sum())
        mean = summed(weights, grid.loss) / total
        variance = summed(weights, np.square(grid.loss - mean)) / total
        return self.count * k, self.count * mean, self.count * variance

    def rough_cumulants(self, tilts: Array) -> Array:
        """K of all copies as sums over the nodes, for all tilts at once."""
        grid = self.integral.grid(float(tilts.max()), 0.0)
        with np.errstate(over="ignore"):  # infinite where it is of no use
            heights: Array = np.log(np.exp(grid.log_mass + np.multiply.outer(tilts, grid.loss)).sum(axis=1))
        return self.count * heights

    def single(self) -> SampledFactor:
        """One copy of the same, with the cut and the precision that all of them ask for."""
        return type(self)(self.integral, 1)

    def mirror(self, tilt: Ball) -> Ball:
        """A bound of K(−1 − t), which is that of the law without the record tilted by −t: see `without_record`."""
        return self.count * without_record(self.integral.exact, tilt)

    def rare(self, floor: float, log_delta: float) -> RareFactor:
        """The compositions with at least one large loss, where a record is removed."""
        return RareFactor(self.integral, self.count, floor, log_delta)

    def cumulants(self, tilts: Sequence[float]) -> list[Ball]:
        """K in balls, with all errors of the nodes: closely at the first tilt, which is summed at; at the others, for
        Chernoff bounds, with the largest error of a node for each of them.
        """
        grid = self.integral.grid(max(tilts), 0.0)
        closest = self.count * self.law(grid, tilts[0], 0.0).cumulant
        if len(tilts) == 1:
            return [closest]
        taus = np.array(tilts[1:])
        exponents = np.multiply.outer(taus, grid.loss)
        worst = grid.mass_doubt + taus * grid.loss_doubt
        if float(exponents.max()) >= 600 or float(worst.max()) > 1e-3:
            return [closest, *(self.count * log_moment(self.integral, grid, tilt)[0] for tilt in tilts[1:])]
        terms = grid.mass * np.expm1(exponents)
        values, sizes = terms.sum(axis=1), np.abs(terms).sum(axis=1)
        slack = sizes * (2.2 * worst + (len(grid.x) + 8) * UNIT) + taus * product(terms + grid.mass, grid.loss_error)
        # what the grid leaves out grows with the tilt (proofs/contour.md §4), so the largest one bounds all
        missing = self.integral.missing(grid, max(tilts), 0.0) + self.integral.lost
        doubts = SAFETY * (slack + missing * (2 + np.abs(values)))
        pairs = zip(values.tolist(), doubts.tolist(), strict=True)
        return [closest, *(self.count * arb(value, doubt).log1p() for value, doubt in pairs)]

    def moments(self, tau: float, frequencies: Array) -> Moments:
        """K(τ) + ims + ln(φ·e^{−ims}), from the real line or, at large frequencies, from a shifted one."""
        reach = float(frequencies[-1])
        shifted = self._shifted(tau, reach)
        if shifted is None:
            law = self.law(self.integral.grid(tau, reach), tau, reach)
            return self._logarithms(law.mean, *law.equispaced(frequencies))
        ((_, value, doubt),) = shifted.blocks(frequencies)
        size, turn, error = log_of(value[0].real, value[0].imag, doubt[0], float(self.count))
        side = 1 if self.integral.removed else -1  # where a record is added the sum is that of the conjugate
        return Moments(side * self.count * arb(float(shifted.mean[0])), size, side * turn, error)

    def pairs(self, tau: float, frequencies: Array) -> float:
        """About how many pairs of a node and a frequency the moments take; none to speak of on a shifted line."""
        reach = float(frequencies[-1])
        return 0.0 if self._shifted(tau, reach) is not None else len(frequencies) * self.integral.price(tau, reach)

    def _logarithms(self, mean: float, c: Array, d: Array, error_c: Array, error_d: Array) -> Moments:
        """ln of e^{ims}(1 − C + iD) for all copies, less ims, with its error."""
        size, turn, error = log_of(-c, d, error_c + error_d, float(self.count))
        return Moments(self.count * arb(mean), size, turn, error)

    def _shifted(self, tau: float, reach: float) -> Line | None:
        """The shifted line, where it costs clearly less: its nodes do not grow with the frequency. It rounds in units
        of 1 − φ, where the real line's real part rounds in units of its square: very many copies stay there.
        """
        if self.integral.count > _MOST_SHIFTED or self.integral.knows(tau, reach):
            return None
        price = self.integral.price(tau, reach)
        if price < _CHEAP:
            return None
        try:
            members = self.integral.members()
            shifted = line(members, tau, near_cut(members, tau))
        except ArithmeticError:
            return None
        return shifted if _DEARER * shifted.weights.shape[1] < price else None

    def decay(self, tau: float, care: Care) -> Decay:
        """The best bound of the decay at this tilt; it is remembered, since one tilt serves several ε."""
        if (tau, care) not in self._decays:
            law = self.law(self.integral.grid(tau, 0.0), tau, 0.0)
            self._decays[tau, care] = sampled_decay(self.integral, law, tau, care)
        return self._decays[tau, care]

    def law(self, grid: Grid, tau: float, reach: float) -> Tilted:
        """The tilted law on this grid, which is made once for each tilt."""
        if self._law is None or self._law.grid is not grid or self._key[0] != tau:
            self._law, self._key = tilted(self.integral, grid, tau, reach), (tau, reach)
        elif self._key[1] != reach:
            self._law, self._key = at_reach(self._law, self.integral, tau, reach), (tau, reach)
        return self._law


def without_record(parameters: tuple[Ball, Ball], tilt: float | Ball) -> Ball:
    """An upper bound of ln E[A^{−t}], x ~ N(0, σ²): as A has mean 1, least value 1 − q and variance q²(e^{1/σ²} − 1),
    at most ln(1 + ((1−q)^{−t} − 1 − qt)·(e^{1/σ²} − 1)) (proofs/contour.md §2).
    """
    sigma, rate = parameters
    t = arb(tilt)
    grown = (-t * (-rate).log1p()).expm1() - rate * t
    return (grown * (1 / (sigma * sigma)).expm1()).log1p().upper()
