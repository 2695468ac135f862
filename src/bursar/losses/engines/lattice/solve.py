"""Questions put to the lattice engine, one direction at a time: δ at an ε, or ε at a δ, with both ends proved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import partial

from flint import arb

from bursar.losses.engines.answer import Answer, Losses, leak_of
from bursar.losses.engines.lattice.bracket import around, met
from bursar.losses.engines.lattice.ends import between, refined
from bursar.losses.engines.lattice.engine import Lattice
from bursar.losses.engines.lattice.grid import NoLattice
from bursar.losses.engines.lattice.work import Work, best_tilt, log_constant
from bursar.losses.engines.tilt import Tilts
from bursar.numerics.balls import Ball, down, up

MOST_POINTS = 1 << 20
_TINIEST = -700.0
_LONG = 100_000  # panels of the usual width, of one density


def long(losses: Losses, delta: Ball) -> bool:
    """Whether a density among these is so long that minutes pass before a grid is found, or none."""
    depth = -float(delta.log())
    read = [((loss.bracket() or (loss, loss))[1], count) for loss, count in losses]
    laws = [loss.lattice_law(depth + math.log(count)) for loss, count in read]
    densities = [density for law in laws if law is not None for density in law.densities]
    return any(density.high - density.low > _LONG * density.width for density in densities)


def epsilon_at(losses: Losses, delta: Ball, width: float, most: int = MOST_POINTS) -> Answer:
    """The smallest ε ≥ 0 with δ(ε) ≤ δ of the composed losses."""
    if (sides := around(losses)) is not None:
        below, above = sides
        return met(epsilon_at(below, delta, width, most), epsilon_at(above, delta, width, most))
    leak = leak_of(losses)
    target = delta - leak
    if not target > 0:
        raise NoLattice("δ does not exceed what the releases leak")
    log_delta = float(target.log())
    if log_delta < _TINIEST:
        raise NoLattice("δ is smaller than any float")
    work = Work(losses, leak, log_delta, most)
    tau = best_tilt(lambda t: (work.cumulant(t)[0] + log_constant(t) - log_delta) / t, work.cumulant(1e-3)[2])
    guess = (work.cumulant(tau)[0] + log_constant(tau) - log_delta) / tau
    if guess <= 0 and arb(delta_at(losses, arb(0), max(width, 1e-2), most).upper) <= delta:
        return Answer(0.0, 0.0, (), "lattice", 0, tau)

    def attempt(step: float, tau: float, near: float, precision: float) -> Answer:
        return between(work.lattice(step, tau, near, precision), near, delta, log_delta, precision)

    def suited(tau: float, near: float, precision: float) -> float:
        scale = max(near, 0.05 * math.sqrt(work.cumulant(tau)[2]), 1e-9)
        return 0.7 * math.sqrt(precision * scale / (work.moving * (tau + 1)))

    # a coarse look finds ε; around it the tilt is chosen anew
    tilts, guess = Tilts(lambda t: work.cumulant(t)[0], tau), max(guess, 0.0)
    tau, length = tilts.best(guess, log_delta)
    coarse = max(width, 3e-2)
    seen = refined(lambda h: attempt(h, tau, guess, coarse), work.fitting(suited(tau, guess, coarse), length), coarse)
    if seen.upper == 0 or width >= coarse:
        return seen
    tau, length = tilts.best(seen.upper, log_delta)
    step = work.fitting(suited(tau, seen.upper, width), length)
    try:
        return refined(lambda h: attempt(h, tau, seen.upper, width), step, width)
    except NoLattice:
        return seen


def delta_at(losses: Losses, epsilon: Ball, width: float, most: int = MOST_POINTS) -> Answer:
    """δ(ε) of the composed losses."""
    if (sides := around(losses)) is not None:
        below, above = sides
        return met(delta_at(below, epsilon, width, most), delta_at(above, epsilon, width, most))
    return Profile(losses, width, most).at(epsilon)


def deltas_at(losses: Losses, epsilons: Iterable[float], width: float, most: int = MOST_POINTS) -> Iterator[Answer]:
    """δ at many ε's in turn: a lattice serves as long as it is narrow enough."""
    if (sides := around(losses)) is not None:
        asked = list(epsilons)
        yield from map(met, *(deltas_at(side, asked, width, most) for side in sides))
        return
    profile = Profile(losses, width, most)
    for epsilon in epsilons:
        yield profile.again(epsilon) or profile.at(arb(epsilon))


class Profile:
    """δ as a function of ε, from one lattice after another."""

    def __init__(self, losses: Losses, width: float, most: int) -> None:
        self.losses, self.width, self.most = losses, width, most
        self.leak = leak_of(losses)
        self.top = sum((count * loss.support()[1] for loss, count in losses), arb(0))
        self.lattice: Lattice | None = None

    def again(self, epsilon: float) -> Answer | None:
        """δ at this ε by the last lattice; None where that does not serve."""
        if self.lattice is None or self.top <= epsilon:
            return None
        try:
            found = self._read(self.lattice, arb(epsilon), self.width)
        except NoLattice:
            return None
        return found if found.width <= 2 * self.width else None

    def _read(self, lattice: Lattice, epsilon: Ball, precision: float) -> Answer:
        """Both ends of δ as a lattice shows them."""
        upper = min(up(lattice.upper(down(epsilon))), 1.0)
        size = min(math.log(max(upper, 1e-320)), -0.1)
        lower = max(down(lattice.lower(up(epsilon), size, precision)), 0.0)
        return Answer(min(lower, upper), upper, lattice.budget(size), "lattice", lattice.size, lattice.tau)

    def at(self, epsilon: Ball) -> Answer:
        """δ at this ε, by lattices made for it."""
        near, log_delta = float(epsilon), math.log(1e-9)
        if self.top <= epsilon:
            return Answer(down(self.leak), up(self.leak), (), "lattice", 0, 1.0)
        for _ in range(2):
            work = Work(self.losses, self.leak, log_delta, self.most)
            tau = work.chernoff_tilt(near)
            variance = work.cumulant(tau)[2]  # none where only one finite loss is left: then any tilt of size 1 does
            tau = max(tau, 0.25 / math.sqrt(variance) if variance > 1e-200 else 1.0) if tau < 1 else tau
            log_delta = min(work.cumulant(tau)[0] + log_constant(tau) - tau * near, -0.1)
            if log_delta < _TINIEST:
                raise NoLattice("δ is smaller than any float")
        tilts = Tilts(lambda t: work.cumulant(t)[0], tau)

        def attempt(precision: float, step: float) -> Answer:
            self.lattice = work.lattice(step, tau, near, precision)
            return self._read(self.lattice, epsilon, precision)

        for precision in (max(self.width, 3e-2), self.width):
            tau, length = tilts.best(near, log_delta)
            step = work.fitting(0.7 * math.sqrt(precision / (work.moving * tau * (tau + 1))), length)
            found = refined(partial(attempt, precision), step, precision)
            if found.width <= self.width or found.upper <= 0:
                break
            log_delta = work.log_delta = min(math.log(found.upper), -0.1)
        return found
