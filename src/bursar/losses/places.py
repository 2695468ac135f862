"""Losses as the lattice engine reads them: atoms, and densities in a variable in which they are analytic.

A law says where its mass lies in floats, and bounds what the floats hide: the error of each log-density, of each place,
and the mass that lies outside the window. The bounds on analyticity that quadrature needs are in proofs/lattice.md §2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bursar.losses._base import Atom
from bursar.losses.tails import Tails
from bursar.numerics.arrays import Array, Integers, Known, Truths
from bursar.numerics.balls import Ball, relative_radius
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_NONE = np.zeros(0)
Moves = Callable[[Array, Array], Array]
"""By how much, at most, the logarithm of a density moves on discs of some radii around places."""
Bounds = Callable[[Array, Array], tuple[Array, Array]]
"""The same of a density and of its loss."""
WIDEST = 0.1  # of a panel: on discs of twice that radius a sampled loss changes by a bounded factor
SLACK = 0.01  # of logarithms that are computed in floats


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
    calm: float | None = None
    """Panels up to this width do where no grid cuts them; None: up to ``width``."""
    moves: tuple[Moves, Moves] | None = None
    """Where v is the loss itself: by how much ln of the density, and of e^{−v} times it, move at most on a disc."""
    bounds: Bounds | None = None
    """By how much, at most, ln of the density and the loss move on a disc: panels may then be as wide as that lets them
    be where no grid cuts them.
    """


DISC = 2.04  # the radius of the disc around a panel's middle that its quadrature looks at, in widths of the panel


@dataclass(frozen=True)
class Panels:
    """A density in a variable x on panels of which each knows how far, at most, the logarithm of the density and the
    loss move from the middle on the `DISC` around it, where both are analytic. The loss may rise and fall.
    """

    starts: Array
    widths: Array
    slips: Array
    """How far an end of the panel may lie from where it is said to be."""
    moved: Array
    """ln of the density."""
    moved_loss: Array
    log_density: Callable[[Array], Known]
    loss: Callable[[Array], Known]

    @property
    def middles(self) -> Array:
        """About the middle of each panel."""
        return self.starts + self.widths / 2

    def only(self, kept: Truths) -> Panels:
        """Some of the panels."""
        columns = (self.starts, self.widths, self.slips, self.moved, self.moved_loss)
        starts, widths, slips, moved, loss = (column[kept] for column in columns)
        return replace(self, starts=starts, widths=widths, slips=slips, moved=moved, moved_loss=loss)

    def split(self, parts: Integers) -> Panels:
        """Each panel in so many equal parts. On the disc of one part in n, both move by 1/n of what they move on the
        whole disc, but for a factor (proofs/densities.md §4).
        """
        n = np.repeat(parts, parts).astype(float)
        within = np.arange(len(n)) - np.repeat(np.cumsum(parts) - parts, parts)
        fine = n * (1 - np.square(_NEAR + (1 - _NEAR) / n))
        share = 1 / np.where(n > 1, fine, 1.0)
        widths = np.repeat(self.widths, parts) / n
        starts = np.repeat(self.starts, parts) + within * widths
        slips, moved, loss = (np.repeat(column, parts) for column in (self.slips, self.moved, self.moved_loss))
        slips = slips + np.where(n > 1, 4 * UNIT * (np.abs(starts) + n * widths), 0.0)  # the starts are rounded
        return replace(self, starts=starts, widths=widths, slips=slips, moved=share * moved, moved_loss=share * loss)


_NEAR = 0.246  # a panel's half against its disc's radius, and a little more: its middle is rounded


def parts_for(need: Array) -> Integers:
    """How many parts of each panel make both move by this many times less."""
    found: Integers = np.where(need > 1, np.ceil(1.065 * need + 0.7), 1.0).astype(np.int64)
    return found


class Comb(NamedTuple):
    """Atoms that all lie at an offset plus whole multiples of a step, exactly: which multiple each of them is."""

    offset: Ball
    step: Ball
    teeth: Integers


@dataclass(frozen=True)
class Law:
    """Atoms and densities of the finite part of a loss."""

    losses: Array = field(default_factory=lambda: _NONE)
    loss_errors: Array = field(default_factory=lambda: _NONE)
    log_masses: Array = field(default_factory=lambda: _NONE)
    mass_errors: Array = field(default_factory=lambda: _NONE)
    densities: tuple[Density, ...] = ()
    """Each rises with the loss on its own range."""
    log_lost: float = -math.inf
    """Bounds the logarithm of the mass that neither shows."""
    comb: Comb | None = None
    """Where all of it lies, if the atoms form a comb."""
    panels: Panels | None = None
    """A density that is not one rising function of the loss: the envelope engine alone can read it."""

    @cached_property
    def tails(self) -> Tails:
        """The atoms, summed from the largest loss down."""
        return Tails.of((self.losses, self.loss_errors), (self.log_masses, self.mass_errors))


def spread(x: Ball) -> float:
    """How far every reading of a parameter may lie from the float used for it, relatively."""
    return relative_radius(x) + 2 * UNIT


def of_atoms(atoms: Sequence[Atom]) -> Law:
    """The law of losses that are all listed."""
    places = np.array([float(atom.loss) for atom in atoms])
    errors = np.array([float(atom.loss.rad()) for atom in atoms]) + 2 * UNIT * np.abs(places)
    heights = np.array([float(atom.mass.log()) for atom in atoms])
    doubts = np.array([float(atom.mass.log().rad()) for atom in atoms]) + 2 * UNIT * (1 + np.abs(heights))
    return Law(places, errors, heights, doubts)


def itself(v: Array) -> Known:
    """The variable, where it is the loss itself: known exactly."""
    return v, np.zeros_like(v)


_CALM = 1.3  # on a disc of radius 2.04 times that e^{v/2} moves by less than e^{1.4}


def exponential(reach: Ball, height: float, depth: float = math.inf) -> Density:
    """The density e^{height}·e^{(v−reach)/2} on [−reach, reach], without what lies more than 2·depth below its top."""
    edge, doubt = float(reach), spread(reach)

    def log_density(v: Array) -> Known:
        slip = 4 * UNIT * (np.abs(v) + edge + abs(height) + 1)
        return height + (v - edge) / 2, slip + doubt * (2 + edge) * np.ones_like(v)

    def loss(v: Array) -> Known:
        return v, doubt * edge * np.ones_like(v)

    def moves(at: Array, radius: Array) -> Array:
        return radius / 2  # e^{v/2}, and e^{−v/2}

    low = max(-edge, edge - 2 * depth)
    return Density(low, edge, WIDEST, log_density, loss, lambda g: g, _CALM, moves=(moves, moves))


def log_odds(s: Array, error: Array, q: float, doubt: float) -> Known:
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
