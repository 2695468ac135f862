"""Shuffled epochs: a permutation of the records, cut into batches of a fixed size."""

from __future__ import annotations

from dataclasses import dataclass

from bursar.errors import InputError
from bursar.guarantees import Claim, Tightness
from bursar.losses import Directions, allocated_gaussian, largest_of_steps
from bursar.mechanisms._base import Mechanism
from bursar.mechanisms.allocated import MOST_STEPS, only_gaussian
from bursar.mechanisms.gaussian import Gaussian
from bursar.numerics.balls import ball
from bursar.numerics.validate import whole
from bursar.relations import ADD_REMOVE, REPLACE_ONE


@dataclass(frozen=True, init=False, repr=False)
class Shuffled(Mechanism):
    """An epoch of ``steps`` releases with Gaussian noise on batches of fixed size, cut from a fresh permutation, each
    used once: what most training loops do. Epochs are a count outside.

    Nobody has proved that shuffling so makes it cheaper than a single release, so that is the upper end; the lower one
    is what some data certainly cost. Accounting such a loop as Poisson sampling claims more than is proved, and for
    little noise more than is true. For a proved amplification draw each record's step by itself: ``allocated``.
    """

    mechanism: Gaussian
    steps: int
    name = "shuffled"

    def __init__(self, mechanism: Mechanism, *, steps: int) -> None:
        step = only_gaussian(mechanism, self.name)
        if step.relation == ADD_REMOVE:
            raise InputError(
                "batches of a fixed size have no room for one record more; give gaussian relation=zero_out or "
                "relation=replace_one",
                argument="mechanism",
            )
        self._set(mechanism=step, steps=whole(steps=steps, at_least=1, at_most=MOST_STEPS))

    @property
    def relation(self) -> str:
        """The neighbour relation of the mechanism inside."""
        return self.mechanism.relation

    def claims(self) -> tuple[Claim, ...]:
        """What one step promises: given the permutation, the record is in one of them."""
        tight = self.mechanism.claims()
        return tight if self.steps == 1 else tuple(Claim(one.guarantee, one.citation, Tightness.BOUND) for one in tight)

    def losses(self) -> Directions:
        """One step's, which dominate; with a single step they are its own.

        From below: where all other records are alike, the record is in one of the steps and nothing tells which, as in
        random allocation. Under zero_out they may push the other way, so that the record shows where it is: then the
        largest output tells a lot.
        """
        once = self.mechanism.losses()
        if self.steps == 1:
            return once
        sigma = ball(self.mechanism.sigma)
        pairs = (allocated_gaussian(sigma, self.steps),)
        least = pairs if self.relation == REPLACE_ONE else (*pairs, largest_of_steps(sigma, self.steps))
        return Directions(once.remove, once.add, False, least=least)
