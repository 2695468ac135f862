"""Gaussian noise on a group's records, of which each is drawn by itself: the number that takes part is binomial, and
records along one line are the worst case (proofs/mixtures.md §3).
"""

from __future__ import annotations

import math
from dataclasses import replace

from flint import arb

from bursar.guarantees import GDP, ZCDP, Claim, Tightness
from bursar.guarantees.sampled_renyi import sampled_curve
from bursar.losses import Directions, GaussianLoss, gaussian_mixture, symmetric
from bursar.losses.laws.mixture_place import Mixture
from bursar.mechanisms._base import Mechanism, renyi_of_losses
from bursar.mechanisms._drawn import Drawn
from bursar.numerics.balls import Ball, ball

_LIGHTEST = 1e-250  # of a weight: floats hold no lighter ones with all their digits
_FEW = 12  # records: of more, integrals of powers in balls take seconds


def binomial_losses(drawn: Drawn) -> Directions:
    """k records with probability C(m, k)·q^k·(1−q)^{m−k} shift the output by at most k."""
    if drawn.rate.high >= 1:  # by one of its readings: then all take part
        return symmetric(GaussianLoss(drawn.size / ball(drawn.sigma)), attained=False)
    rate, kept, m = ball(drawn.rate), 1 - ball(drawn.rate), drawn.size
    weights: list[Ball] = [math.comb(m, k) * rate**k * kept ** (m - k) for k in range(m + 1)]
    if all(weight > _LIGHTEST for weight in weights):
        return gaussian_mixture(Mixture(ball(drawn.sigma), tuple(map(arb, range(m + 1))), tuple(weights)))
    shifts, kept_weights = _lifted(weights)
    return replace(gaussian_mixture(Mixture(ball(drawn.sigma), shifts, kept_weights)), attained=False)


def binomial_claims(drawn: Drawn, mechanism: Mechanism) -> tuple[Claim, ...]:
    """The Rényi curve of those losses, of a few records, or a group's of one record's curve; and never more than if
    all records took part.
    """
    mu = drawn.sigma.reciprocal().times(drawn.size)
    always = Claim(GDP(mu), "CGST24"), Claim(ZCDP(mu.half_square()), "CGST24")
    if drawn.size <= _FEW:
        own = Tightness.TIGHT if mechanism.losses().attained else Tightness.BOUND
        return *always, renyi_of_losses(mechanism, "CGST24", own)
    one = symmetric(GaussianLoss(1 / ball(drawn.sigma)))
    curve = sampled_curve(mechanism.text(), one.renyi, drawn.rate, factor=1, rough=one.rough_renyi)
    return *always, Claim(curve.group(drawn.size), "MTZ19")


def _lifted(weights: list[Ball]) -> tuple[tuple[Ball, ...], tuple[Ball, ...]]:
    """Shifts and weights that floats can hold: what is lighter moves up, to the next shift that is not or else to the
    largest, which never costs less.
    """
    found: list[tuple[int, Ball]] = []
    carried = arb(0)
    for k, weight in enumerate(weights[:-1]):
        carried += weight
        if weight > _LIGHTEST:
            found.append((k, carried))
            carried = arb(0)
    last = carried + weights[-1]
    top = last if last > _LIGHTEST else arb(_LIGHTEST)
    heaviest = max(range(len(found)), key=lambda i: float(found[i][1]), default=0)
    # what the largest is given beyond its own comes from the heaviest of the others
    found = [(k, weight - (top - last) if i == heaviest else weight) for i, (k, weight) in enumerate(found)]
    return tuple(arb(k) for k, _ in [*found, (len(weights) - 1, top)]), (*(weight for _, weight in found), top)
