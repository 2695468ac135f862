"""The integrals behind the sampled Gaussian's moments: where the nodes lie, what the trapezoid sum and the window leave
out.

With odds A(x) = 1 − q + q·e^{(2x−1)/(2σ²)} the moment E[e^{tL}] is ∫ φ_σ(x)·A(x)^p dx, with p = 1 + t where a record
is removed (L = ln A) and p = −t where it is added (L = −ln A). The derivations are in proofs/contour.md §4:

    quadrature   the integrand is analytic for |Im x| < πσ², so the trapezoid sum with step h errs by at most
                 2·N_θ/(e^{2πθσ²/h} − 1) for every 0 < θ < π,
                 with N_θ the integral of its modulus on the lines Im x = ±θσ²
    cut          where a record is removed, large x are smoothly given up: the density is multiplied by Φ((c − x)/a),
                 which takes away the mass κ = (1−q)Φ̄(c/b) + qΦ̄((c−1)/b), b² = σ² + a²,
                 and can only lower δ, by at most count·κ
    window       normal tails, through A^a ≤ 2^a·(1 + q^a·e^{a(2x−1)/(2σ²)}) where a record is removed,
                 and A^{−τ} ≤ (1−q)^{−τ} where it is added
    rounding     nodes x are multiples of a short step, hence exact; the errors of ln A and of the masses go along
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from bursar.losses.engines.contour.sampled_cut import choose_cut, heaviest, rough_variance
from bursar.losses.engines.contour.sampled_grid import Grid
from bursar.losses.engines.contour.sampled_grids import Grids
from bursar.losses.engines.contour.sampled_growth import THETAS, phase_growth
from bursar.losses.engines.contour.sampled_members import Members
from bursar.losses.engines.contour.sampled_odds import log_odds
from bursar.numerics import normal
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, relative_radius
from bursar.numerics.trusted import SAFETY, ULPS, UNIT, log_normal_cdf

_LOG_COSINES = np.log(np.cos(THETAS / 2))
_MOST_NODES = 60_000


class SampledIntegral(Grids):
    """One direction of a sampled Gaussian, cut and windowed for ``count`` copies and a δ of this size."""

    def __init__(self, sigma: Ball, rate: Ball, count: int, log_delta: float, *, removed: bool) -> None:
        self.count, self.removed = count, removed
        self.exact, self.sigma, self.rate = (sigma, rate), float(sigma), float(rate)
        # every reading of σ and q lies within this relative distance of the float
        self.spread = self._spread()
        if self.spread > 1e-12:
            raise ArithmeticError("the parameters are not known precisely enough")
        self.cut = math.inf
        self.given_up, self.lost = arb(0), 0.0
        self.soft = self.sigma
        # a Gaussian guess of the tilt and of the frequencies that will be asked for
        self.variance = variance = count * self._copy_variance()
        tilt = math.sqrt(2 * max(-log_delta, 1.0) / variance)
        if removed:
            depth = max(28.0 + math.log(count) - log_delta, 1.0)
            seen = math.log(count) + math.log(self.rate) > log_delta - 7
            self.soft, self.cut = self._choose_cut(depth, tilt, seen=seen)
            self.given_up = (count * self._beyond_cut()).upper()
            self.lost = float(self.given_up) / count  # by one copy
        self.heavy = self._heavy()
        # where sums stay well below the saddle they lose digits to δ
        crowded = tilt > 0.9 * self.heavy
        self.tolerance = (32.0 if crowded else 25.0) + math.log(count)
        # where a record is added, mostly only tilts are asked for: that direction is the cheaper one
        self.usual = (min(3.6 * tilt, 400.0), min(16 / math.sqrt(variance), 300.0) if removed else 0.0)
        if crowded:
            self.usual = (self.heavy, 0.0)
        # what the modulus grows by at frequency 0 (proofs/contour.md §4), apart from a power of A below 0
        self.thetas = self._lines()
        self._base = self.base(self.thetas)
        self._grids: list[Grid] = []
        self._growths: dict[tuple[float, float], Array] = {}

    def _lines(self) -> Array:
        """The θ of the lines Im x = θσ² on which the integrand is bounded."""
        return THETAS

    def base(self, thetas: Array) -> Array:
        """ln of what the normal density and the cut grow by on these lines."""
        wide = 1 + ((self.sigma / self.soft) ** 2 if self.removed else 0.0)
        return np.square(thetas * self.sigma) * (wide / 2)

    def _spread(self) -> float:
        return UNIT * 4 + max(map(relative_radius, self.exact))

    def _choose_cut(self, depth: float, tilt: float, *, seen: bool) -> tuple[float, float]:
        return choose_cut(self.sigma, self.rate, depth, tilt, seen=seen)

    def _copy_variance(self) -> float:
        return rough_variance(self.sigma, self.rate, 1)

    def _beyond_cut(self) -> Ball:
        """κ, the mass that one copy gives up."""
        sigma, rate = self.exact
        cut, b = arb(self.cut), (sigma * sigma + arb(self.soft) ** 2).sqrt()
        return (1 - rate) * normal.cdf(-cut / b) + rate * normal.cdf((1 - cut) / b)

    def _heavy(self) -> float:
        """The tilt beyond which far losses outweigh near ones."""
        return heaviest(self.sigma, self.rate, self.cut) if self.removed else math.inf

    def inside(self, x: Array) -> Array:
        """How far x lies before the cut, in units of its softness."""
        return (self.cut - x) / self.soft

    def log_cut(self, x: Array) -> Array:
        """A lower bound of ln Φ((c − x)/a), nearly the value: −0.8·e^{−z²/2} ≤ ln Φ(z) for z ≥ 1, else crudely."""
        if not self.removed:
            return np.zeros_like(x)
        z = self.inside(x)
        return np.where(z >= 1, -0.8 * np.exp(-0.5 * np.square(np.maximum(z, 1.0))), -1e9)

    def members(self) -> Members:
        """This one Gaussian as a shifted line takes it, in units of σ, three digits closer than on the real line."""
        cut, soft = (self.cut / self.sigma, self.soft / self.sigma) if self.removed else (math.inf, 1.0)
        sigma, rate, lost = np.array([[self.sigma], [self.rate], [self.lost]])
        return Members(sigma, rate, self.spread, self.removed, cut, soft, lost, self.tolerance + 3)

    def nodes(self, tau: float, reach: float, window: tuple[float, float], step: float) -> Grid:
        """The grid with this step, which must be a short float, over this window."""
        square = self.sigma * self.sigma
        first, last = (math.floor(window[0] / step), math.ceil(window[1] / step))
        if last - first > _MOST_NODES:
            raise ArithmeticError(f"{last - first} nodes in x are too many")
        x = np.arange(first, last + 1, dtype=np.float64) * step
        odds_error, odds = self.odds(x)
        mass_error = 4 * self.spread * x * x / (2 * square) + 8 * UNIT + self.spread
        log_mass = -x * x / (2 * square) + math.log(step / (self.sigma * math.sqrt(2 * math.pi)))
        if self.removed:
            z = self.inside(x)
            log_mass = log_mass + odds + log_normal_cdf(z)
            mass_error = mass_error + odds_error + (ULPS + 8) * UNIT * (1 + np.where(z < 9, 1 + z * z, 0.0))
        loss_error, loss = self.signed(x, odds_error, odds)
        return Grid(tau, reach, x, loss, log_mass, np.exp(log_mass), loss_error, mass_error, step)

    def signed(self, x: Array, error: Array, odds: Array) -> tuple[Array, Array]:
        """A bound of the error of the loss at x, and the loss, from those of ln A."""
        return error, odds if self.removed else -odds

    def log_slope(self, x: Array, odds: Array) -> Array:
        """ln|dL/dx| from ln A at these places; no digits are claimed of it but the first eight."""
        return (2 * x - 1) / (2 * self.sigma**2) + math.log(self.rate / self.sigma**2) - odds

    def bent(self, mean: float) -> tuple[float, float]:
        """What (L − m)² and (L − m)⁴ may grow by off the real line, beside their own doubles (proofs/contour.md §3)."""
        return 36.0, 2600.0

    def growth(self, tau: float, reach: float) -> Array:
        """ln of what the modulus of the integrand grows by on each line Im x = θσ², for frequencies up to ``reach``."""
        if reach == 0:
            return self._base if self.removed else self._base - tau * _LOG_COSINES
        if (tau, reach) not in self._growths:
            self._growths[tau, reach] = self.growth(tau, 0.0) + phase_growth(self, tau, reach)
        return self._growths[tau, reach]

    def _known_growth(self, tau: float, reach: float) -> Array | None:
        """A bound from before that serves here too: it grows with the frequency, and where a record is removed with the
        tilt (proofs/contour.md §4).
        """
        for (tilt, far), known in self._growths.items():
            if reach <= far and (tilt == tau or (self.removed and tau <= tilt)):
                return known
        return None

    def window(self, tau: float) -> tuple[float, float]:
        """Wide enough for every tilt up to tau; how much it leaves out is `missing`'s business."""
        if not self.removed:
            edge = self.sigma * math.sqrt(2 * (self.tolerance - tau * math.log1p(-self.rate)))
            return -edge, edge
        # right of the cut the exponent −x²/2σ² − (x−c)²/2a² + αx/σ² peaks at `top`, and falls within a few widths of it
        precision = 1 / self.sigma**2 + 1 / self.soft**2
        top = max((self.cut / self.soft**2 + (1 + tau) / self.sigma**2) / precision, self.cut)
        height = max(self._far_exponent(top, 1 + tau), 0.0)
        return -self.sigma * math.sqrt(2 * self.tolerance), top + math.sqrt(
            2 * (self.tolerance + height + 2) / precision
        )

    def _far_exponent(self, x: float, order: float) -> float:
        """ln of a bound right of the cut: A^a ≤ 2^a·max(1, q^a·e^{a(2x−1)/(2σ²)}), Φ(−z) ≤ e^{−z²/2}."""
        square = self.sigma * self.sigma
        grown = max(order * (math.log(self.rate) + (2 * x - 1) / (2 * square)), 0.0)
        return order * math.log(2) + grown - x * x / (2 * square) - max(x - self.cut, 0.0) ** 2 / (2 * self.soft**2)

    def quadrature(self, grid: Grid, tau: float, reach: float) -> float:
        """What the trapezoid sum errs by at most, relative to the moment."""
        gain = 2 * math.pi * self.thetas * self.sigma**2 / grid.step
        growth = self._known_growth(tau, reach) if reach > 0 else None
        depth = math.inf if growth is None else float((growth - gain).min())
        if depth > 2 - self.tolerance:  # none, or not close enough
            depth = float((self.growth(tau, reach) - gain).min())
        # 2/(e^x − 1) ≤ 3e^{−x} from e^x = 3 on; a grid that is too coarse for that proves nothing
        return 3 * math.exp(depth) if depth < -1.1 else math.inf

    def missing(self, grid: Grid, tau: float, reach: float) -> float:
        """What quadrature and window leave out, relative to the moment: normal tails are at most ½e^{−z²/2}."""
        quadrature = self.quadrature(grid, tau, reach)
        low, high = -float(grid.x[0]) / self.sigma, float(grid.x[-1]) / self.sigma
        if not self.removed:
            lift = -tau * math.log1p(-self.rate)
            return SAFETY * (quadrature + math.exp(lift - low * low / 2) + math.exp(lift - high * high / 2))
        far = self.beyond(float(grid.x[-1]), tau)
        # the moment is at least 1 up to what the cut takes from the mean loss, tilted (proofs/contour.md §4)
        if self.lost * (1 + tau) * (1 + self.cut + 10 * self.sigma) / self.sigma**2 > 0.01:
            return math.inf
        return SAFETY * 1.1 * (quadrature + math.exp(-low * low / 2) + far)

    def beyond(self, edge: float, tau: float) -> float:
        """A bound of the integral right of an edge, where a record is removed: from there on the far exponent falls at
        least at this slope, so the rest is at most its value there divided by that.
        """
        slope = edge / self.sigma**2 + (edge - self.cut) / self.soft**2 - (1 + tau) / self.sigma**2
        if edge < self.cut or slope <= 0:
            return math.inf
        height = math.exp(min(self._far_exponent(edge, 1 + tau), 700.0))
        return 2 * height / (slope * self.sigma * math.sqrt(2 * math.pi))

    def odds(self, x: Array) -> tuple[Array, Array]:
        """A bound of the absolute error of ln A at these places, and ln A."""
        return self.losses((2 * x - 1) / (2 * self.sigma**2))

    def losses(self, u: Array) -> tuple[Array, Array]:
        """A bound of the absolute error of ln A at the nodes, and ln A."""
        return log_odds(u, self.rate, self.spread)
