"""Random allocation: every record takes part in a few of many steps, drawn at random ("balls in bins")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from bursar.errors import InputError, LossUnknown, described
from bursar.guarantees import GDP, Claim, Tightness
from bursar.losses import (
    Directions,
    GaussianLoss,
    allocated_gaussian,
    grouped,
    repeated,
    replaced_gaussian,
    sampled_gaussian,
    symmetric,
)
from bursar.mechanisms._base import Mechanism, renyi_of_losses
from bursar.mechanisms.gaussian import Gaussian
from bursar.numerics.balls import Ball, ball, working
from bursar.numerics.real import Real
from bursar.numerics.validate import whole
from bursar.relations import REPLACE_ONE

MOST_STEPS = 10**7


@dataclass(frozen=True, init=False, repr=False)
class Allocated(Mechanism):
    """An epoch of ``steps`` releases with Gaussian noise, where each record takes part in ``times`` of them, drawn
    uniformly and independently of all else: one bin of ``steps`` an epoch. Several epochs with fresh draws are a count
    outside: allocated(gaussian(sigma=1), steps=1000)*10.

    Batches then have random sizes. Batches of a fixed size, cut from a permutation, are ``shuffled``; the same bins in
    each of E epochs are one release with noise σ/√E. The steps may be chosen adaptively, their noise may not; what
    shows who took part (sizes of batches, divisors that depend on them) must stay hidden. Under replace_one the new
    record draws its own step, so that replacing is taking one out and putting one in, which costs about twice as much.
    """

    mechanism: Gaussian
    steps: int
    times: int = 1
    name = "allocated"

    def __init__(self, mechanism: Mechanism, *, steps: int, times: int = 1) -> None:
        step = only_gaussian(mechanism, self.name)
        total, taken = whole(steps=steps, at_least=1, at_most=MOST_STEPS), whole(times=times, at_least=1)
        if taken > total:
            raise InputError(f"times must be at most the {total} steps, not {taken}", argument="times")
        if step.relation == REPLACE_ONE and 1 < taken < total:
            raise InputError(
                f"under replace_one a record's one step is analysed, not {taken} of them; give gaussian "
                "relation=add_remove or relation=zero_out",
                argument="times",
            )
        self._set(mechanism=step, steps=total, times=taken)

    @property
    def relation(self) -> str:
        """The neighbour relation of the mechanism inside."""
        return self.mechanism.relation

    def claims(self) -> tuple[Claim, ...]:
        """At most what the steps taken cost if all were told which they are; and the Rényi curve of the losses."""
        announced = self.mechanism.claims()[0].guarantee
        assert isinstance(announced, GDP)
        claims = [Claim(GDP.compose([(announced, self.times)]), "DRS22")]
        if self.times < self.steps and self.relation != REPLACE_ONE:
            claims.append(renyi_of_losses(self, "CGHLKKMSZ24", Tightness.BOUND))
        return tuple(claims)

    def losses(self) -> Directions:
        """The mean of the steps' likelihood ratios. For several times the pair of as many independent draws, each from
        its own part of the steps: which parts is drawn at random, and telling it costs no less.
        """
        sigma, times = ball(self.mechanism.sigma), self.times
        if times == self.steps:
            return symmetric(GaussianLoss(ball(times).sqrt() / sigma))
        if self.relation == REPLACE_ONE:
            least, noise = self._alone(replaced_gaussian), self.mechanism.sigma
            return replace(_taken_out_and_put_in(noise.low, noise.high, self.steps), least=least)
        once = allocated_gaussian(sigma, self.steps // times)
        return once if times == 1 else replace(repeated(once, times), least=self._alone(sampled_gaussian))

    def _alone(self, sampled: Callable[[Ball, Ball], Directions]) -> tuple[Directions, ...]:
        """What the sum of all steps tells, and what a single step does, in which the record takes part by chance."""
        sigma, times, steps = ball(self.mechanism.sigma), self.times, ball(self.steps)
        return symmetric(GaussianLoss(times / (sigma * steps.sqrt()))), sampled(sigma, times / steps)


@lru_cache(maxsize=32)
def _taken_out_and_put_in(low: Fraction, high: Fraction, steps: int) -> Directions:
    """A record leaves and another one joins, each half of what replacing moves: the best split over these two links,
    for every reading of σ. Equal mechanisms may cover different ones, so that these are what is remembered.
    """
    with working():
        sigma = ball(Real(low, low, high))
        try:
            return grouped(allocated_gaussian(2 * sigma, steps), 2, together=False)
        except LossUnknown:  # too little or too much noise for lists: both in one step, and that is told
            return symmetric(GaussianLoss(1 / sigma), attained=False)


def only_gaussian(mechanism: object, name: str) -> Gaussian:
    """The noise of each step. Refuse anything but Gaussian noise: a subclass may release more than its noise says."""
    if not isinstance(mechanism, Mechanism):
        raise InputError(
            f"{name} needs one mechanism, not {described(mechanism)}; epochs go outside: {name}(m, steps=…)*10",
            argument="mechanism",
        )
    if type(mechanism) is not Gaussian:
        raise InputError(f"{name} is analysed for gaussian(…) steps only, not {mechanism.text()}", argument="mechanism")
    return mechanism
