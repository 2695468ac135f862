"""Gaussian noise on a group's records, of which each is drawn by itself: the number that takes part is binomial, and
records along one line are the worst case (proofs/mixtures.md §3).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from flint import arb

from bursar.guarantees import GDP, ZCDP, Claim
from bursar.guarantees.sampled_renyi import sampled_curve
from bursar.losses import Directions, GaussianLoss, gaussian_mixture, symmetric
from bursar.mechanisms._base import Mechanism, renyi_of_losses
from bursar.numerics.balls import Ball, ball
from bursar.numerics.real import Real

MOST_RECORDS = 64
"""Of a group that is priced by how many of its records are drawn; a larger one is by what holds for any release."""

_LIGHTEST = 1e-250  # of a weight: floats hold no lighter ones with all their digits

_FEW = 12  # records: of more, integrals of powers in balls take seconds


class Drawn(NamedTuple):
    """``size`` records that each move the output by at most 1/σ of the noise, and take part with this probability."""

    sigma: Real
    rate: Real
    size: int

    @property
    def some(self) -> bool:
        """Whether a random number of records takes part, more than one of them perhaps."""
        return 1 < self.size <= MOST_RECORDS and self.rate < 1

    def losses(self) -> Directions:
        """k records with probability C(m, k)·q^k·(1−q)^{m−k} shift the output by at most k."""
        if self.rate.high >= 1:  # by one of its readings: then all take part
            return symmetric(GaussianLoss(self.size / ball(self.sigma)), attained=False)
        rate, kept, m = ball(self.rate), 1 - ball(self.rate), self.size
        weights: list[Ball] = [math.comb(m, k) * rate**k * kept ** (m - k) for k in range(m + 1)]
        if all(weight > _LIGHTEST for weight in weights):
            return gaussian_mixture(ball(self.sigma), tuple(map(arb, range(m + 1))), tuple(weights))
        shifts, kept_weights = _lifted(weights)
        return replace(gaussian_mixture(ball(self.sigma), shifts, kept_weights), attained=False)

    def claims(self, mechanism: Mechanism) -> tuple[Claim, ...]:
        """The Rényi curve of those losses, of a few records, or a group's of one record's curve; and never more than if
        all records took part.
        """
        mu = self.sigma.reciprocal().times(self.size)
        always = Claim(GDP(mu), "CGST24"), Claim(ZCDP(mu.half_square()), "CGST24")
        if self.size <= _FEW:
            return *always, renyi_of_losses(mechanism, "CGST24")
        one = symmetric(GaussianLoss(1 / ball(self.sigma)))
        curve = sampled_curve(mechanism.text(), one.renyi, self.rate, factor=1, rough=one.rough_renyi)
        return *always, Claim(curve.group(self.size), "MTZ19")


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
