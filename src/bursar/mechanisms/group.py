"""Privacy of groups."""

from __future__ import annotations

from dataclasses import dataclass

from bursar.errors import ConversionRefused, InputError, LossUnknown, described
from bursar.guarantees import Claim
from bursar.losses import Directions, Leaks, grouped
from bursar.mechanisms._base import Mechanism
from bursar.mechanisms._binomial import binomial_claims, binomial_losses
from bursar.mechanisms._drawn import MOST_RECORDS, Drawn
from bursar.mechanisms._inside import inside, refuse_counted
from bursar.numerics.balls import working
from bursar.numerics.validate import whole
from bursar.relations import ADD_REMOVE, REPLACE_ONE


@dataclass(frozen=True, init=False, repr=False)
class Group(Mechanism):
    """The same release, seen by a group of ``size`` records: a household, or one person's many rows.

    Under add_remove the records of a group join or leave together: they are all there, or none is. In a Poisson sample
    of Gaussian noise each of them still takes part by itself, and how many do decides the cost, which is a
    `GaussianMixture`'s.
    """

    mechanism: Mechanism
    size: int
    name = "group"

    def __init__(self, mechanism: Mechanism, size: int) -> None:
        if not isinstance(mechanism, Mechanism):
            raise InputError(
                f"group needs one mechanism, not {described(mechanism)}; counts go outside: group(m, size=…)*10",
                argument="mechanism",
            )
        if mechanism.relation == ADD_REMOVE:
            refuse_counted(mechanism, "a group that joins or leaves")
        self._set(mechanism=mechanism, size=whole(size=size, at_least=1, at_most=10**9))

    @property
    def relation(self) -> str:
        """The neighbour relation of the mechanism inside."""
        return self.mechanism.relation

    def claims(self) -> tuple[Claim, ...]:
        """Noise against a larger sensitivity where the mechanism is of that kind, the claims of a random number of
        records where they are drawn, else each claim's own group form.
        """
        drawn = self.drawn()
        if drawn is not None and drawn.some:
            return binomial_claims(drawn, self)
        if self.size == 1:
            return self.mechanism.claims()
        larger = self.mechanism.grown(self.size)
        if larger is not None:
            return larger.claims()
        grouped = []
        for claim in self.mechanism.claims():
            try:
                promise = claim.guarantee.group(self.size)
            except ConversionRefused:
                continue
            grouped.append(Claim(promise, claim.citation))
        return tuple(grouped)

    def losses(self) -> Directions:
        """The larger sensitivity's where that is a mechanism of the same kind; those of a random number of records; or
        laws that dominate by the best split.
        """
        drawn = self.drawn()
        if drawn is not None and drawn.some:
            return binomial_losses(drawn)
        if self.size == 1:
            return self.mechanism.losses()
        larger = self.mechanism.grown(self.size)
        if larger is not None:
            return larger.losses()
        split: Directions | LossUnknown = self._remembered("_bursar_split", self._split)
        if isinstance(split, LossUnknown):
            raise split
        return split

    def _split(self) -> Directions | LossUnknown:
        """From the losses of one record, by the best split of ε over the links of the chain between the data with the
        group and without it; under add_remove all links have one direction.
        """
        try:
            with working():
                return grouped(self.mechanism.losses(), self.size, together=self.relation != REPLACE_ONE)
        except LossUnknown as unknown:
            return LossUnknown(f"no loss distribution is known for groups of {self.mechanism.text()}: {unknown}")

    def leaks(self) -> Leaks:
        """At least what a single record of the group leaks."""
        larger = self.mechanism.grown(self.size)
        return self.mechanism.leaks() if larger is None else larger.leaks()

    def drawn(self) -> Drawn | None:
        """The records of the mechanism inside, so many times."""
        each = self.mechanism.drawn() if type(self) is Group else None
        return None if each is None else each._replace(size=each.size * self.size)

    def enlarged(self, size: int) -> Mechanism | None:
        """The same release, seen by a group of ``size`` such groups."""
        return self.mechanism.grown(self.size * size)


def refuse_groups(mechanism: Mechanism, sampling: str) -> None:
    """Refuse to sample what counts a group as one unit, however deep it stands inside. Records that are known to be
    drawn by themselves may stand there, if they are not too many.
    """
    group = inside(mechanism, lambda one: isinstance(one, Group) and one.size > 1)
    if not isinstance(group, Group):
        return
    drawn = mechanism.drawn()
    if drawn is None or drawn.size > MOST_RECORDS:
        raise InputError(
            f"{sampling} cannot sample {group.text()}: each record is drawn by itself, so the {group.size} records of "
            "a group take part in any number, while inside they would count as one; put the group outside: "
            f"group({sampling}(…), size={group.size})",
            argument="mechanism",
        )
