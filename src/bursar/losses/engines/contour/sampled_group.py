"""Sampled Gaussians of about one σ on shared nodes of the real line: their cumulants, and the density of their losses.

Everything is an array over (mechanism, node). The nodes are those of z = x/σ (proofs/contour.md §4, "Many at once").
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bursar.losses.engines.contour.line_sums import Line
from bursar.losses.engines.contour.sampled_line import line
from bursar.losses.engines.contour.sampled_members import Members, near_cut, tails, window
from bursar.numerics.arrays import Array
from bursar.numerics.lattice import short
from bursar.numerics.products import summed
from bursar.numerics.trusted import SAFETY, ULPS, UNIT, log_normal_cdf

_HEIGHTS = np.array([0.06, 0.15, 0.3, 0.7, 1.4, 2.0, 2.5])  # of the strip's edge, as angles
_MOST_ENTRIES = 20_000_000  # mechanisms times nodes
_AT_ONCE = 400_000  # of them on a shifted line
_LIGHT = -50.0  # in ln: lighter nodes matter to no guess


@dataclass(frozen=True)
class Nodes:
    """Losses, masses and their errors on the real line, good for tilts up to ``tau``."""

    tau: float
    z: Array
    step: float
    loss: Array
    log_mass: Array
    mass: Array
    loss_error: Array
    mass_error: Array


class Group:
    """Members of about one σ, each with a number of copies."""

    def __init__(self, members: Members, counts: Array) -> None:
        self.members, self.counts = members, counts
        self._known: list[Nodes] = []
        self._close: dict[float, float] = {}

    def nodes(self, tau: float) -> Nodes:
        """Nodes that serve this tilt; remembered, since a search asks many times."""
        for known in self._known:
            if tau <= known.tau <= 8 * tau + 4:
                return known
        made = self._make(1.6 * tau)
        self._known.insert(0, made)
        del self._known[2:]
        return made

    def close(self, tau: float) -> float:
        """What lies near the cut, at most; remembered."""
        if tau not in self._close:
            self._close[tau] = near_cut(self.members, tau)
        return self._close[tau]

    def _make(self, tau: float) -> Nodes:
        members = self.members
        low, high = window(members, tau, 0.0)
        edges = float(members.sigma.min()) * _HEIGHTS
        growth = members.growth(tau, edges, self.close(tau))
        step = short(0.97 * 2 * math.pi * float((edges / (members.tolerance + growth)).max()), 8)
        first, last = math.floor(low / step), math.ceil(high / step)
        if (last - first) * len(members.sigma) > _MOST_ENTRIES:
            raise ArithmeticError(f"{last - first} nodes for each of {len(members.sigma)} are too many")
        z = np.arange(first, last + 1, dtype=np.float64) * step
        loss_error, log_odds = odds(members, z)
        log_mass = -0.5 * z * z + math.log(step / math.sqrt(2 * math.pi))
        mass_error = 8 * UNIT + UNIT * 2 * z * z
        if members.removed:
            w = (members.cut - z) / members.soft
            log_mass = log_mass + log_normal_cdf(w) + log_odds
            off = 4 * (members.spread + UNIT) * (abs(members.cut) + np.abs(z)) / members.soft
            # Φ′/Φ is at most 1 + |w| left of 0 and φ(w)/Φ(0) right of it
            slope = np.where(w < 9, 1 + np.maximum(-w, 0.0), 0.0)
            mass_error = mass_error + loss_error + (ULPS + 8) * UNIT * (1 + np.where(w < 9, 1 + w * w, 0.0))
            mass_error = mass_error + off * slope
            loss = log_odds
        else:
            log_mass, mass_error = (
                np.broadcast_to(log_mass, log_odds.shape),
                np.broadcast_to(mass_error, log_odds.shape),
            )
            loss = -log_odds
        return Nodes(tau, z, step, loss, log_mass, np.exp(log_mass), loss_error, mass_error)

    def missing(self, nodes: Nodes, tau: float) -> Array:
        """What quadrature and window leave out of each moment at this tilt, relative to it, and what the cut takes."""
        members = self.members
        edges = float(members.sigma.min()) * _HEIGHTS
        close = max(self.close(tau), self.close(0.0))  # for the moment at 0 as well
        depth = float((members.growth(tau, edges, close) - 2 * math.pi * edges / nodes.step).min())
        # 2/(e^x − 1) ≤ 3e^{−x} from e^x = 3 on; nodes that are too far apart for that prove nothing
        if depth >= -1.1 or not members.steady(tau):
            return np.full(len(members.sigma), np.inf)
        out: Array = (
            SAFETY * 1.1 * (3 * math.exp(depth) + tails(members, tau, 0.0, float(nodes.z[0]), float(nodes.z[-1])))
        )
        return out + members.lost

    def lines(self, tau: float) -> Iterator[tuple[Array, Line]]:
        """Shifted lines for some members at a time, with their counts."""
        members, many = self.members, max(_AT_ONCE // len(self.nodes(tau).z), 1)
        for start in range(0, len(members.sigma), many):
            part = slice(start, start + many)
            some = replace(members, sigma=members.sigma[part], rate=members.rate[part], lost=members.lost[part])
            yield self.counts[part], line(some, tau, self.close(tau))

    def rough(self, tau: float, most: float) -> tuple[float, float, float]:
        """K, K′ and K″ of all copies, in floats, on nodes that serve up to the tilt ``most``."""
        nodes = self.nodes(most)
        exponent = nodes.log_mass + tau * nodes.loss
        top = exponent.max(axis=1, keepdims=True)
        near = np.flatnonzero((exponent - top).max(axis=0) > _LIGHT)
        part = slice(near[0], near[-1] + 1)
        loss = nodes.loss[:, part]
        weights = np.exp(exponent[:, part] - top)
        total = weights.sum(axis=1)
        first = np.einsum("ij,ij->i", weights, loss) / total
        weights *= np.square(loss - first[:, None])
        second = weights.sum(axis=1) / total
        heights = top[:, 0] + np.log(total)
        return summed(self.counts, heights), summed(self.counts, first), summed(self.counts, second)

    def cumulant(self, tau: float, nodes: Nodes) -> tuple[Array, Array]:
        """K(τ) of one copy of each member, and bounds of the errors."""
        exponent = tau * nodes.loss
        log_weights = nodes.log_mass + exponent
        if float(log_weights.max()) > 300:
            return self._large(log_weights, tau, nodes)
        grown = np.exp(log_weights)
        small = np.abs(exponent) < 1
        terms = np.where(small, nodes.mass * np.expm1(np.where(small, exponent, 0.0)), grown - nodes.mass)
        errors = _weight_errors(nodes, tau, log_weights)
        value, sizes = terms.sum(axis=1), np.abs(terms)
        slack = np.einsum("ij,ij->i", sizes, 2.2 * errors) + tau * np.einsum("ij,ij->i", grown, nodes.loss_error)
        slack += (len(nodes.z) + 8) * UNIT * sizes.sum(axis=1) + self.missing(nodes, tau) * (2 + np.abs(value))
        doubt = SAFETY * slack / (1 + value)
        if not float(doubt.max()) < 0.01:
            raise ArithmeticError("the moment is not known precisely enough")
        k = np.log1p(value)
        return k, SAFETY * doubt + ULPS * UNIT * np.abs(k)

    def _large(self, log_weights: Array, tau: float, nodes: Nodes) -> tuple[Array, Array]:
        """The same where some moment is too large for sums around 1: logarithms of plain sums."""
        errors = _weight_errors(nodes, tau, log_weights)
        top = log_weights.max(axis=1)
        weights = np.exp(log_weights - top[:, None])
        total = weights.sum(axis=1)
        slack = np.einsum("ij,ij->i", weights, errors) / total + (len(nodes.z) + ULPS) * UNIT + self.missing(nodes, tau)
        if not float(slack.max()) < 0.01:
            raise ArithmeticError("the moment is not known precisely enough")
        return top + np.log(total), SAFETY * slack + (ULPS + 4) * UNIT * (1 + np.abs(top))


def _weight_errors(nodes: Nodes, tau: float, log_weights: Array) -> Array:
    """Relative errors of the tilted masses; refused where first order would not do."""
    sizes = np.abs(nodes.log_mass) + tau * np.abs(nodes.loss)
    errors: Array = nodes.mass_error + tau * nodes.loss_error + UNIT * (ULPS + 4 + 4 * sizes)
    heavy = log_weights > log_weights.max(axis=1, keepdims=True) - 60
    if not float(np.max(np.where(heavy, errors + nodes.loss_error, 0.0))) < 1e-3:
        raise ArithmeticError("rounding errors are too large to be bounded to first order")
    return errors


def odds(members: Members, z: Array) -> tuple[Array, Array]:
    """A bound of the error of ln A on the real line, for each member and node, and ln A."""
    sigma, rate = members.sigma[:, None], members.rate[:, None]
    u = (z - 0.5 / sigma) / sigma
    grown = np.expm1(np.minimum(u, 600.0))
    y = rate * grown
    log = np.log1p(y) + np.maximum(u - 600.0, 0.0)
    doubt = 4 * (members.spread + UNIT) * (np.abs(z) / sigma + 0.5 / sigma**2)
    error = doubt * (rate * (grown + 1) / (1 + y)) + (ULPS + 4) * (UNIT + members.spread) * np.abs(y) / (1 + y)
    return SAFETY * (error + (ULPS + 2) * UNIT * np.abs(log) + 4 * math.exp(-600.0) / rate), log
