"""The sampled Gaussian of a replaced record for the contour engine: the sums of a removed record with a loss of two
logarithms, and at large frequencies sums along a shifted line (proofs/contour.md §7).
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from bursar.losses.engines.contour.factors import Care, Decay, Moments
from bursar.losses.engines.contour.replaced_growth import replaced_growth
from bursar.losses.engines.contour.replaced_integral import ReplacedIntegral
from bursar.losses.engines.contour.replaced_line import ShiftedLine
from bursar.losses.engines.contour.sampled_factor import SampledFactor
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, up

_MANY = 600  # nodes on the real line; where a frequency asks for more, the shifted line serves it
_WORK = 6e6  # nodes times frequencies
_FEW = 10  # copies
_SPARSE = 1000  # copies: of more, the growth of the integrand off the real line makes a bound of the decay useless


class ReplacedFactor(SampledFactor):
    """``count`` copies of a Poisson-sampled Gaussian for a record replaced; both directions are alike."""

    def __init__(self, integral: ReplacedIntegral, count: int) -> None:
        super().__init__(integral, count)
        self.replaced = integral
        self.splits = False
        self._line: tuple[tuple[float, float], ShiftedLine] | None = None

    def mirror(self, tilt: Ball) -> Ball:
        """K(−1 − t) = K(t), which grows with t ≥ 0."""
        try:
            return self.cumulants([up(tilt)])[0].upper()
        except ArithmeticError:  # too many nodes, or too far for floats
            return arb(math.inf)

    def moments(self, tau: float, frequencies: Array) -> Moments:
        """On the real line as far as few nodes serve, beyond on a line off it."""
        reach = self._near(tau, frequencies)
        near = max(int(np.searchsorted(frequencies, reach, side="right")), 1)
        if near == len(frequencies):
            return super().moments(tau, frequencies)
        reach = float(frequencies[near - 1])
        law = self.law(self.integral.grid(tau, reach), tau, reach)
        if self._line is None or self._line[0] != (tau, law.mean):
            self._line = ((tau, law.mean), ShiftedLine(self.replaced, tau, law.cumulant, law.mean))
        line = self._line[1]
        values, error = line.sums(float(frequencies[1]), near, len(frequencies) - 1)
        c, d, error_c, error_d = law.equispaced(frequencies[:near])
        return self._logarithms(
            law.mean,
            np.concatenate([c, 1 - values.real]),
            np.concatenate([d, values.imag]),
            np.concatenate([error_c, error]),
            np.concatenate([error_d, error]),
        )

    def pairs(self, tau: float, frequencies: Array) -> float:
        """As many as `_near` allows, which keeps them few."""
        return 0.0

    def _shifted(self, tau: float, reach: float) -> None:
        """None: the lines of a record removed are those of another law."""

    def _near(self, tau: float, frequencies: Array) -> float:
        """The frequency up to which the real line serves, if not that of the grid then a part of the largest: many
        copies need its precision, few are better off with few nodes.
        """
        known, integral, reach = self.integral.grid(tau, 0.0), self.integral, float(frequencies[-1])
        width, work = float(known.x[-1] - known.x[0]), float(len(frequencies))
        most = max(_MANY, 2 * len(known.x)) if self.count <= _FEW else 40 * _MANY
        for _ in range(8):
            if reach <= known.reach:
                break
            growth = np.maximum(integral.growth(tau, reach), 0.0) + integral.tolerance
            nodes = width * float((growth / (2 * math.pi * integral.thetas * integral.sigma**2)).min())
            if nodes <= most and nodes * work <= _WORK:
                return reach
            reach, work = reach / 4, work / 4
        return known.reach

    def decay(self, tau: float, care: Care) -> Decay:
        """Also, for few copies, by the modulus of the integrand on lines off the real one, which falls with s."""
        usual = super().decay(tau, care)
        if care is Care.LEAST or self.count > _SPARSE:
            return usual
        base = self.replaced.base(self.replaced.thetas)[:, None]

        def bound(s: Array) -> Array:
            shifted = (base + replaced_growth(self.replaced, tau, s, sign=-1)).min(axis=0)
            best: Array = np.minimum(usual(s), self.count * np.minimum(shifted, 0.0))
            return best

        return bound
