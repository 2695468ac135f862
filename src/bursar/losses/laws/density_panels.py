"""A pair of densities on panels: its law as places, how large its losses are, and where they exceed a number.

Everything rests on how far the loss moves on a panel's disc (`density_cut`): on the panel itself its slope is at most
0.53 of that per width, its curvature at most 0.85 of that per squared width, and it differs by at most a quarter of it
from the middle (proofs/densities.md §4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb

from bursar.losses._base import Atom
from bursar.losses.engines.envelope.factor import PointsFactor
from bursar.losses.engines.envelope.points import INNER, STEEP
from bursar.losses.laws.density_cut import Cut, logarithms
from bursar.losses.laws.density_stretches import Stretch
from bursar.losses.places import Law, Panels, of_atoms
from bursar.numerics.arrays import Array, Integers, Known
from bursar.numerics.balls import Ball, up
from bursar.numerics.formula import Term
from bursar.numerics.running import running
from bursar.numerics.trusted import SAFETY, UNIT

_CURVED = 0.85
_FIRST, _SECOND = 32, 4096  # how many parts of a panel are looked at for the largest loss, first and where it may be
_REFINED = 8  # panels
_CLOSE = 1e-17  # a part on which the loss moves by less is cut no further
_MOST_CELLS = 2000  # in a panel


@dataclass(frozen=True)
class Panelled:
    """A cut interval, and the logarithms of what the two formulas are multiplied with to be densities."""

    cut: Cut
    log_scales: tuple[Ball, Ball]

    def reversed(self) -> Panelled:
        """The same pair the other way round."""
        return Panelled(self.cut.reversed(), (self.log_scales[1], self.log_scales[0]))

    @property
    def _shift(self) -> Ball:
        return self.log_scales[0] - self.log_scales[1]

    def loss(self, x: Array) -> Known:
        """ln(p/q) in floats, both normalised."""
        (first, error), (second, other) = running(self.cut.log_p, x), running(self.cut.log_q, x)
        shift, doubt = _known(self._shift)
        sizes = np.abs(first) + np.abs(second) + abs(shift)
        return first - second + shift, error + other + doubt + 3 * UNIT * sizes

    def law(self) -> Law | None:
        """Panels with the densities on them, and each sliver as an atom that is known only roughly."""
        cut, slivers = self.cut, []
        for a, b in cut.slivers:
            first, second = logarithms(cut, a, b)
            atom = Atom(first - second + self._shift, (first + self.log_scales[0]).exp() * (b - a))
            if not (atom.loss.is_finite() and atom.mass.is_finite() and atom.mass > 0):
                return None
            slivers.append(atom)
        height = _shifted(cut.log_p, self.log_scales[0])
        panels = Panels(cut.starts, cut.widths, cut.slips, cut.moved_p, cut.moved_loss, height, self.loss)
        atoms = of_atoms(slivers)
        return Law(atoms.losses, atoms.loss_errors, atoms.log_masses, atoms.mass_errors, panels=panels)

    @cached_property
    def factor(self) -> PointsFactor | None:
        """One copy, as the envelope engine sees it."""
        law = self.law()
        return None if law is None else PointsFactor(law, 1, arb(0))

    @cached_property
    def support(self) -> tuple[Ball, Ball] | None:
        """Balls around the smallest and the largest loss."""
        low, high = (self._largest(side) for side in (-1.0, 1.0))
        if not (low.is_finite() and high.is_finite()):
            return None
        return -low, high

    def _largest(self, side: float) -> Ball:
        """A ball around the largest loss, or its negative: between neighbouring places a loss exceeds both by at most
        an eighth of their squared distance times the curvature.
        """
        moved = self.cut.moved_loss.copy()
        least, most = self._ends(np.arange(len(moved)), moved, side, _FIRST)
        bottom = float(least.max())
        near = np.flatnonzero(most >= bottom)
        near = near[np.argsort(-most[near])][:_REFINED]
        close = np.array([self._close(i) for i in near.tolist()])
        finer_least, finer_most = self._ends(near, close, side, _SECOND)
        most[near] = np.minimum(most[near], finer_most)
        result = arb(max(bottom, float(finer_least.max()))).union(arb(float(most.max())))
        for a, b in self.cut.slivers:
            result = result.max(int(side) * self._over(a, b))
        return result

    def _ends(self, chosen: Integers, moved: Array, side: float, parts: int) -> tuple[Array, Array]:
        """On each chosen panel, how large the largest loss is at least and at most."""
        starts, widths = self.cut.starts[chosen], self.cut.widths[chosen]
        x = starts[:, None] + widths[:, None] * np.arange(parts + 1) / parts
        value, error = self.loss(x)
        slip = self.cut.slips[chosen] + 4 * UNIT * (np.abs(starts) + widths)
        off = error + (STEEP * moved * slip / widths)[:, None]
        # the places are as far apart as they should be, but for what the slips move them by
        least, most = (side * value - off).max(axis=1), (side * value + off).max(axis=1)
        return least, most + SAFETY * _CURVED * moved / (8 * parts * parts) + UNIT * np.abs(most)

    def above(self, x: Ball) -> tuple[list[int], list[Stretch], list[tuple[Stretch, Ball]]]:
        """Where the loss certainly exceeds x: whole panels, by number, slivers counted from −1 down, and parts of other
        panels; and where it may, with by how much it does at most.
        """
        cut = self.cut
        value, error = self.loss(cut.starts + cut.widths / 2)
        near, doubt = _known(x)
        apart = value - near
        reach = SAFETY * (error + doubt + INNER * cut.moved_loss)
        reach += 4 * UNIT * (np.abs(value) + abs(near))
        whole = np.flatnonzero(apart > reach).tolist()
        slivers = [((a, b), self._over(a, b) - x) for a, b in cut.slivers]
        whole += [-1 - j for j, (_, over) in enumerate(slivers) if over > 0]
        sure: list[Stretch] = []
        unsure = [(sliver, over.upper()) for sliver, over in slivers if not (over > 0 or over <= 0)]
        for i in np.flatnonzero(~(np.abs(apart) > reach)).tolist():
            parts, rest = self._above_in(i, x)
            sure += parts
            unsure += rest
        return whole, sure, unsure

    def _over(self, a: Ball, b: Ball) -> Ball:
        first, second = logarithms(self.cut, a, b)
        return first - second + self._shift

    def _above_in(self, i: int, x: Ball) -> tuple[list[Stretch], list[tuple[Stretch, Ball]]]:
        """The same within one panel: on a part of length h the loss lies between those of its ends, but for an eighth
        of h² times the curvature.
        """
        sure: list[Stretch] = []
        unsure: list[tuple[Stretch, Ball]] = []
        bend = arb(SAFETY * _CURVED / 8 * self._close(i)) / arb(float(self.cut.widths[i])) ** 2
        (a, b), budget = self.cut.ends[i], _MOST_CELLS
        stack = [(a, self._over(a, a) - x, b, self._over(b, b) - x)]
        while stack:
            a, at_a, b, at_b = stack.pop()
            budget -= 1
            bent = bend * (b - a) * (b - a)
            least, most = at_a.min(at_b) - bent, at_a.max(at_b) + bent
            if least > 0:
                sure.append((a, b))
            elif not most <= 0:
                middle = arb(float((a + b) / 2))
                if budget <= 0 or most - least < _CLOSE or not (a < middle < b):
                    unsure.append(((a, b), most.upper()))
                else:
                    at = self._over(middle, middle) - x
                    stack += [(middle, at, b, at_b), (a, at_a, middle, at)]
        return sure, unsure

    def _close(self, i: int) -> float:
        """How far the loss moves on a panel's disc, closely."""
        if i not in self._moved:
            self._moved[i] = self.cut.moved_closely(i)
        return self._moved[i]

    @cached_property
    def _moved(self) -> dict[int, float]:
        return {}


def _known(x: Ball) -> tuple[float, float]:
    """A ball as a float and a bound of its error."""
    near = float(x)
    return near, up(abs(x - arb(near)))


def _shifted(term: Term, by: Ball) -> Callable[[Array], Known]:
    """A formula plus a constant, in floats."""
    shift, doubt = _known(by)

    def value(x: Array) -> Known:
        at, error = running(term, x)
        return at + shift, error + doubt + 2 * UNIT * (np.abs(at) + abs(shift))

    return value


def panelled(cut: Cut, first: Ball, second: Ball) -> Panelled | None:
    """The cut interval with what normalises the two formulas, where that is known."""
    scales = first.log(), second.log()
    return Panelled(cut, scales) if all(scale.is_finite() for scale in scales) else None
