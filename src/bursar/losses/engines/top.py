"""Single events that decide: for bounded losses at a small δ, and for losses that hardly vary, two ends for nothing.

* *From below.* In the event that every release has a certain atom of its loss, L = Σkᵢlᵢ =: m, and the event has
  probability P = Π Pᵢ(lᵢ)^{kᵢ}; so δ(ε) ≥ δ_∞ + P·(1 − e^{ε−m}) for ε ≤ m, and at δ < δ_∞ + P the answer is at least
  m + ln(1 − (δ − δ_∞)/P): as close to m as one likes as δ falls. (The loss may be anything elsewhere.)
* *From above.* Where the losses above lᵢ have so little mass κᵢ that δ_∞ + Σkᵢκᵢ ≤ δ, L exceeds m with probability at
  most δ, so the answer is at most m.

The atom is the largest loss of each release, or the largest after those whose masses all together δ covers.

* *Far below all losses* δ(ε) is close to 1: since 1 − (1 − e^{−y})₊ = min(1, e^{−y}) ≤ e^{−ay} for 0 ≤ a ≤ 1,
  1 − δ(ε) ≤ e^{aε+K(−a)}, K the cumulant function of the finite part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

from flint import arb

from bursar.losses.engines.answer import Answer, Losses, leak_of
from bursar.numerics.balls import Ball, down, up

_SPARE = arb(2) ** -30  # of what the leaks leave of δ: given to losses above the atom
_FAR = 14.0  # by how much, as a logarithm, δ must be below 1
_TILTS = (0.25, 0.5, 0.75)


def epsilon_at(losses: Losses, delta: Ball) -> Answer | None:
    """The bounds of ε that single events give; None where some loss has no atom that could decide."""
    leak = leak_of(losses)
    rest = delta - leak
    if not rest >= 0:
        return None
    share = rest * _SPARE / sum(count for _, count in losses)
    most, place, log_mass = arb(0), arb(0), arb(0)
    for loss, count in losses:
        highest, atom = loss.support()[1], loss.top(share if share > 0 else None)
        if atom is not None:
            highest = atom.loss
        if not highest.is_finite():
            return None
        most += count * highest
        if atom is not None and atom.mass > 0:
            place, log_mass = place + count * atom.loss, log_mass + count * atom.mass.log()
        else:
            log_mass = -arb("inf")
    upper = max(up(most), 0.0)
    return Answer(min(_lower(place, log_mass, rest), upper), upper, (), "single event", 1, 0.0)


def delta_at(losses: Losses, epsilon: Ball) -> Answer | None:
    """The bounds of δ far below all losses, where it is all but 1; None elsewhere."""
    # elsewhere K takes integrals, and other engines are quicker
    if any(loss.takes_integrals() for loss, _ in losses):
        return None
    x = float(epsilon)
    best: tuple[float, float] = (-_FAR, 0.0)
    for tilt in _TILTS:
        with suppress(ArithmeticError, ValueError):
            best = min(best, (tilt * x + sum(count * loss.rough_cumulant(-tilt) for loss, count in losses), tilt))
    if not best[1] > 0:
        return None
    a = arb(best[1])
    missing = (a * epsilon + sum((count * loss.cumulant(-a).real for loss, count in losses), arb(0))).exp()
    return Answer(min(max(down(1 - missing), 0.0), 1.0), 1.0, (), "single event", 1, 0.0)


def deltas_at(losses: Losses, epsilons: Sequence[float], width: float) -> dict[float, Answer]:
    """The answers of `delta_at` at those of many ε's where they are this narrow: 1 − δ ≤ width."""
    if any(loss.takes_integrals() for loss, _ in losses):
        return {}
    found: dict[float, Answer] = {}
    for tilt in _TILTS:
        with suppress(ArithmeticError, ValueError):
            height = sum(count * loss.rough_cumulant(-tilt) for loss, count in losses)
            low = [x for x in epsilons if x not in found and tilt * x + height < min(-_FAR, math.log(width))]
            certain = sum((count * loss.cumulant(-arb(tilt)).real for loss, count in losses), arb(0)) if low else arb(0)
            for x in low:
                missing = (arb(tilt) * arb(x) + certain).exp()
                answer = Answer(min(max(down(1 - missing), 0.0), 1.0), 1.0, (), "single event", 1, 0.0)
                if answer.width <= width:
                    found[x] = answer
    return found


def _lower(place: Ball, log_mass: Ball, rest: Ball) -> float:
    """m + ln(1 − δ/P) for what the leaks leave of δ."""
    if not log_mass.is_finite():
        return 0.0
    if not rest > 0:
        return max(down(place), 0.0) if rest == 0 else 0.0
    # in logarithms, since both may be far below what a float can hold
    share = (rest.log() - log_mass).exp()
    return max(down(place + (-share).log1p()), 0.0) if share < 1 else 0.0
