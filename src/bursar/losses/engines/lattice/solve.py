"""Questions put to the lattice engine, one direction at a time: δ at an ε, or ε at a δ, with both ends proved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np
from flint import arb

from bursar.losses._base import Loss
from bursar.losses.engines.answer import Answer, Losses, leak_of
from bursar.losses.engines.lattice.bracket import around, by_formula, met
from bursar.losses.engines.lattice.engine import Lattice
from bursar.losses.engines.lattice.grid import (
    Gridded,
    NoLattice,
    Places,
    TooCoarse,
    TooFine,
    gridded,
    gridded_profile,
    places,
)
from bursar.losses.engines.lattice.law import Law, law_of
from bursar.losses.engines.tilt import Tilts
from bursar.numerics.balls import Ball, down, up
from bursar.numerics.search import minimiser

MOST_POINTS = 1 << 20
_TINIEST = -700.0
_SMALL = 1 << 15  # grid points; so many may be tried again and again
_NEGLIGIBLE = 42.0  # e to minus this is what far low losses may weigh, tilted
_COARSE = 400  # cells for a first look


class Source:
    """One loss and its count: where its mass lies, roughly, and the way to put it on a grid."""

    def __init__(self, loss: Loss, count: int, depth: float) -> None:
        self.loss, self.count, self.depth = loss, count, depth + math.log(count)
        self.law = law_of(loss, self.depth)
        self.look = self._first_look()

    def _first_look(self) -> Places:
        if self.law is None:
            low, high = down(self.loss.support()[0]), up(self.loss.support()[1])
            step = (high - low) / _COARSE
            grid = gridded_profile(self.loss, 1, step, 0.0, self.depth)
            at = step * (grid.first + np.arange(len(grid.weights)))
            kept = grid.weights > 0
            heights, none = np.log(grid.weights[kept]) + grid.log_norm, np.zeros(int(kept.sum()))
            return Places(at[kept], none, heights, none, none.astype(np.int64), none, grid.log_lost)
        return places(self.law, _extent(self.law) / _COARSE)

    def grid(self, step: float, tau: float) -> Gridded:
        """On the grid of this step, tilted."""
        if self.law is None:
            return gridded_profile(self.loss, self.count, step, tau, self.depth)
        floor = (self.look.cumulant(tau)[0] - _NEGLIGIBLE - math.log(self.count)) / tau
        return gridded(places(self.law, step, floor), self.count, step, tau)


def _extent(law: Law) -> float:
    """How far the losses reach."""
    ends = [float(np.abs(law.losses).max())] if len(law.losses) else []
    if law.density is not None:
        ends.append(float(np.abs(law.density.loss(np.array([law.density.low, law.density.high]))[0]).max()))
    return max(*ends, 1e-12) if ends else 1.0


def epsilon_at(losses: Losses, delta: Ball, width: float, most: int = MOST_POINTS) -> Answer:
    """The smallest ε ≥ 0 with δ(ε) ≤ δ of the composed losses."""
    if by_formula(losses):
        below, above = around(losses)
        return met(epsilon_at(below, delta, width, most), epsilon_at(above, delta, width, most))
    leak = leak_of(losses)
    target = delta - leak
    if not target > 0:
        raise NoLattice("δ does not exceed what the releases leak")
    log_delta = float(target.log())
    if log_delta < _TINIEST:
        raise NoLattice("δ is smaller than any float")
    work = _Work(losses, leak, log_delta, most)
    tau = _best_tilt(lambda t: (work.cumulant(t)[0] + _log_constant(t) - log_delta) / t, work.cumulant(1e-3)[2])
    guess = (work.cumulant(tau)[0] + _log_constant(tau) - log_delta) / tau
    if guess <= 0 and arb(delta_at(losses, arb(0), max(width, 1e-2), most).upper) <= delta:
        return Answer(0.0, 0.0, (), "lattice", 0, tau)

    def attempt(step: float, tau: float, near: float, precision: float) -> Answer:
        return _between(work.lattice(step, tau, near, precision), near, delta, log_delta, precision)

    def suited(tau: float, near: float, precision: float) -> float:
        scale = max(near, 0.05 * math.sqrt(work.cumulant(tau)[2]), 1e-9)
        return 0.7 * math.sqrt(precision * scale / (work.moving * (tau + 1)))

    # a coarse look finds ε; around it the tilt is chosen anew
    tilts, guess = Tilts(lambda t: work.cumulant(t)[0], tau), max(guess, 0.0)
    tau, length = tilts.best(guess, log_delta)
    coarse = max(width, 3e-2)
    seen = _refined(lambda h: attempt(h, tau, guess, coarse), work.fitting(suited(tau, guess, coarse), length), coarse)
    if seen.upper == 0 or width >= coarse:
        return seen
    tau, length = tilts.best(seen.upper, log_delta)
    step = work.fitting(suited(tau, seen.upper, width), length)
    try:
        return _refined(lambda h: attempt(h, tau, seen.upper, width), step, width)
    except NoLattice:
        return seen


def delta_at(losses: Losses, epsilon: Ball, width: float, most: int = MOST_POINTS) -> Answer:
    """δ(ε) of the composed losses."""
    if by_formula(losses):
        below, above = around(losses)
        return met(delta_at(below, epsilon, width, most), delta_at(above, epsilon, width, most))
    return _Profile(losses, width, most).at(epsilon)


def deltas_at(losses: Losses, epsilons: Iterable[float], width: float, most: int = MOST_POINTS) -> Iterator[Answer]:
    """δ at many ε's in turn: a lattice serves as long as it is narrow enough."""
    if by_formula(losses):
        yield from (delta_at(losses, arb(epsilon), width, most) for epsilon in epsilons)
        return
    profile = _Profile(losses, width, most)
    for epsilon in epsilons:
        yield profile.again(epsilon) or profile.at(arb(epsilon))


class _Profile:
    """δ as a function of ε, from one lattice after another."""

    def __init__(self, losses: Losses, width: float, most: int) -> None:
        self.losses, self.width, self.most = losses, width, most
        self.leak = leak_of(losses)
        self.top = sum((count * loss.support()[1] for loss, count in losses), arb(0))
        self.lattice: Lattice | None = None

    def again(self, epsilon: float) -> Answer | None:
        """By the last lattice, where it still serves."""
        if self.lattice is None or self.top <= epsilon:
            return None
        try:
            found = self._read(self.lattice, arb(epsilon), self.width)
        except NoLattice:
            return None
        return found if found.width <= 2 * self.width else None

    def _read(self, lattice: Lattice, epsilon: Ball, precision: float) -> Answer:
        upper = min(up(lattice.upper(down(epsilon))), 1.0)
        size = min(math.log(max(upper, 1e-320)), -0.1)
        lower = max(down(lattice.lower(up(epsilon), size, precision)), 0.0)
        return Answer(min(lower, upper), upper, lattice.budget(size), "lattice", lattice.size, lattice.tau)

    def at(self, epsilon: Ball) -> Answer:
        """By lattices made for this ε."""
        near, log_delta = float(epsilon), math.log(1e-9)
        if self.top <= epsilon:
            return Answer(down(self.leak), up(self.leak), (), "lattice", 0, 1.0)
        for _ in range(2):
            work = _Work(self.losses, self.leak, log_delta, self.most)
            tau = work.chernoff_tilt(near)
            variance = work.cumulant(tau)[2]  # none where only one finite loss is left: then any tilt of size 1 does
            tau = max(tau, 0.25 / math.sqrt(variance) if variance > 1e-200 else 1.0) if tau < 1 else tau
            log_delta = min(work.cumulant(tau)[0] + _log_constant(tau) - tau * near, -0.1)
            if log_delta < _TINIEST:
                raise NoLattice("δ is smaller than any float")
        tilts = Tilts(lambda t: work.cumulant(t)[0], tau)

        def attempt(precision: float, step: float) -> Answer:
            self.lattice = work.lattice(step, tau, near, precision)
            return self._read(self.lattice, epsilon, precision)

        for precision in (max(self.width, 3e-2), self.width):
            tau, length = tilts.best(near, log_delta)
            step = work.fitting(0.7 * math.sqrt(precision / (work.moving * tau * (tau + 1))), length)
            found = _refined(partial(attempt, precision), step, precision)
            if found.width <= self.width or found.upper <= 0:
                break
            log_delta = work.log_delta = min(math.log(found.upper), -0.1)
        return found


class _Work:
    """One direction of a composition, ready to be put on grids."""

    def __init__(self, losses: Losses, leak: Ball, log_delta: float, most: int) -> None:
        self.leak, self.log_delta, self.most = leak, log_delta, most
        self.sources = [Source(loss, count, 28.0 - log_delta) for loss, count in losses]
        self.moving = sum(source.count for source in self.sources)

    def cumulant(self, tau: float) -> tuple[float, float, float]:
        """K, K′ and K″ of the composition, in floats."""
        rows = [(source.count, source.look.cumulant(tau)) for source in self.sources]
        return tuple(math.fsum(count * row[i] for count, row in rows) for i in range(3))  # type: ignore[return-value]

    def chernoff_tilt(self, epsilon: float) -> float:
        """The tilt with the least Chernoff bound of δ(ε)."""
        return _best_tilt(lambda t: self.cumulant(t)[0] + _log_constant(t) - t * epsilon, self.cumulant(1e-3)[2])

    def lattice(self, step: float, tau: float, epsilon: float, width: float) -> Lattice:
        """The composition on a grid, composed around an ε."""
        lattice = Lattice([source.grid(step, tau) for source in self.sources], step, tau, self.leak)
        lattice.compose(epsilon, self.log_delta, width, self.most)
        return lattice

    def fitting(self, step: float, length: float) -> float:
        """A step about this large, not too fine for the period, that divides the atom which carries the most mass, so
        that it need not be moved.
        """
        step = max(step, 1.05 * length / self.most)
        atoms = [
            (source.count * math.exp(float(height)), abs(float(place)))
            for source in self.sources
            if source.law is not None
            for place, height in zip(source.law.losses[:64], source.law.log_masses[:64], strict=True)
            if place != 0
        ]
        if not atoms:
            return step
        place = max(atoms)[1]
        return place / math.ceil(place / step)


def _refined(attempt: Callable[[float], Answer], step: float, width: float) -> Answer:
    """The largest grid that fits, then finer ones until the width is met; the narrowest answer counts."""
    for _ in range(12):
        try:
            best = attempt(step)
            break
        except TooFine:
            step *= 2
        except TooCoarse:
            step /= 8
    else:
        raise NoLattice("no grid within the limits")
    for finer in range(10):
        if best.width <= width or (finer >= 3 and best.nodes > _SMALL):
            break
        step /= min(max(1.3 * math.sqrt(best.width / width), 2.0), 16.0)  # the width falls with the square of the step
        try:
            found = attempt(step)
        except NoLattice:
            break
        best = min(best, found, key=lambda answer: answer.upper - answer.lower)
    return best


def _between(lattice: Lattice, guess: float, delta: Ball, log_delta: float, width: float) -> Answer:
    """The last ε certainly too small and the first certainly enough."""
    floor = max((lattice.start + 8) * lattice.step + lattice.slack + lattice.reach(log_delta, width), 0.0)
    target, near = float(delta.log()), 0.02 * width
    low, high = _ends(lattice.upper, delta, target, floor, guess, near)
    if low is None and not (floor == 0 and lattice.upper(0.0) <= delta):
        raise NoLattice("ε lies below the window, or cannot be told from δ's own uncertainty")
    lower = None
    if low is not None:
        lower, _ = _ends(lambda x: lattice.lower(x, log_delta, width), delta, target, floor, high, near)
        lattice.lower(high if lower is None else lower, log_delta, width)
    upper = 0.0 if low is None else high
    return Answer(lower or 0.0, upper, lattice.budget(log_delta), "lattice", lattice.size, lattice.tau)


def _ends(
    falling: Callable[[float], Ball], delta: Ball, target: float, floor: float, start: float, near: float
) -> tuple[float | None, float]:
    """(a, b) close together with falling(a) > δ and falling(b) ≤ δ, walking from the start; a is None where none above
    the floor is found.
    """
    high, step = max(start, floor), near * abs(start) + 1e-12
    while not (value := falling(high)) <= delta:
        high, step = high + step, 3 * step
    low, at_high = high, _height(value, target)
    while (value := falling(low)) <= delta:
        if low <= floor:
            return None, high
        high, at_high = low, _height(value, target)
        low, step = max(low - step, floor), 3 * step
    at_low, side = _height(value, target), 0
    for _ in range(80):
        if high - low <= near * high or high - low <= 4 * math.ulp(high):
            break
        share = at_low / (at_low - at_high) if math.isfinite(at_low - at_high) and at_low > at_high else 0.5
        x = low + (high - low) * min(max(share, 0.02), 0.98)
        value = falling(x)
        if value <= delta:
            high, at_high = x, _height(value, target)
            at_low, side = (at_low / 2 if side == 1 else at_low), 1
        elif value > delta:
            low, at_low = x, max(_height(value, target), 1e-18)
            at_high, side = (at_high / 2 if side == -1 else at_high), -1
        else:
            break  # the ball straddles δ: no closer ends can be told apart
    return (low if falling(low) > delta else None), high


def _height(value: Ball, target: float) -> float:
    middle = value.mid()
    return (float(middle.log()) if middle > 0 else -1e4) - target


def _best_tilt(price: Callable[[float], float], variance: float) -> float:
    # where all losses together are tiny their tilts are large
    most = max(1e5, 1e2 / math.sqrt(variance)) if variance > 0 else 1e5
    points = math.ceil(2.2 * math.log(most / 1e-3))
    return math.exp(minimiser(lambda u: price(math.exp(u)), math.log(1e-3), math.log(most), points=points, steps=20))


def _log_constant(tau: float) -> float:
    return tau * math.log(tau) - (1 + tau) * math.log1p(tau)
