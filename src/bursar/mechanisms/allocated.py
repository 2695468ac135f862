"""Random allocation: every record takes part in a few of many steps, drawn at random ("balls in bins")."""

from __future__ import annotations

from dataclasses import dataclass

from bursar.errors import InputError, described
from bursar.guarantees import GDP, Claim, Tightness
from bursar.losses import Directions, GaussianLoss, allocated_gaussian, repeated, symmetric
from bursar.mechanisms._base import Mechanism, renyi_of_losses
from bursar.mechanisms.gaussian import Gaussian
from bursar.numerics.balls import ball
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
    shows who took part (sizes of batches, divisors that depend on them) must stay hidden.
    """

    mechanism: Mechanism
    steps: int
    times: int = 1
    name = "allocated"

    def __init__(self, mechanism: Mechanism, *, steps: int, times: int = 1) -> None:
        only_gaussian(mechanism, self.name)
        if mechanism.relation == REPLACE_ONE:
            raise InputError(
                "random allocation is analysed for a record that is there or not; give gaussian relation=add_remove or "
                "relation=zero_out",
                argument="mechanism",
            )
        total, taken = whole(steps=steps, at_least=1, at_most=MOST_STEPS), whole(times=times, at_least=1)
        if taken > total:
            raise InputError(f"times must be at most the {total} steps, not {taken}", argument="times")
        self._set(mechanism=mechanism, steps=total, times=taken)

    @property
    def relation(self) -> str:
        """The neighbour relation of the mechanism inside."""
        return self.mechanism.relation

    @property
    def sigma(self) -> Real:
        """The noise of a step."""
        assert isinstance(self.mechanism, Gaussian)
        return self.mechanism.sigma

    def claims(self) -> tuple[Claim, ...]:
        """At most what the steps taken cost if all were told which they are; and the Rényi curve of the losses."""
        announced = Gaussian(self.sigma, relation=self.relation).claims()[0].guarantee
        assert isinstance(announced, GDP)
        claims = [Claim(GDP.compose([(announced, self.times)]), "DRS22")]
        if self.times < self.steps:
            claims.append(renyi_of_losses(self, "CGHLKKMSZ24", Tightness.BOUND))
        return tuple(claims)

    def losses(self) -> Directions:
        """The mean of the steps' likelihood ratios. For several times the pair of as many independent draws, each from
        its own part of the steps: which parts is drawn at random, and telling it costs no less.
        """
        sigma, times = ball(self.sigma), self.times
        if times == self.steps:
            return symmetric(GaussianLoss(ball(times).sqrt() / sigma))
        once = allocated_gaussian(sigma, self.steps // times)
        return once if times == 1 else repeated(once, times)


def only_gaussian(mechanism: object, name: str) -> None:
    """Refuse anything but Gaussian noise: a subclass may release more than its noise says."""
    if not isinstance(mechanism, Mechanism):
        raise InputError(
            f"{name} needs one mechanism, not {described(mechanism)}; epochs go outside: {name}(m, steps=…)*10",
            argument="mechanism",
        )
    if type(mechanism) is not Gaussian:
        raise InputError(f"{name} is analysed for gaussian(…) steps only, not {mechanism.text()}", argument="mechanism")
