"""Privacy of groups."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from bursar.errors import ConversionRefused, InputError, LossUnknown, described
from bursar.guarantees import Claim
from bursar.losses import Directions, Leaks
from bursar.mechanisms._base import Mechanism
from bursar.numerics.validate import whole


@dataclass(frozen=True, init=False, repr=False)
class Group(Mechanism):
    """The same release, seen by a group of ``size`` records: a household, or one person's many rows."""

    mechanism: Mechanism
    size: int
    name = "group"

    def __init__(self, mechanism: Mechanism, size: int) -> None:
        if not isinstance(mechanism, Mechanism):
            raise InputError(
                f"group needs one mechanism, not {described(mechanism)}; counts go outside: group(m, size=…)*10",
                argument="mechanism",
            )
        self._set(mechanism=mechanism, size=whole(size=size, at_least=1, at_most=10**9))

    @property
    def relation(self) -> str:
        """The neighbour relation of the mechanism inside."""
        return self.mechanism.relation

    def claims(self) -> tuple[Claim, ...]:
        """Noise against a larger sensitivity where the mechanism is of that kind, else each claim's own group form."""
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
        """The larger sensitivity's, where that is a mechanism of the same kind."""
        larger = self.mechanism.grown(self.size)
        if larger is None:
            raise LossUnknown(f"no loss distribution is known for groups of {self.mechanism.text()}")
        return larger.losses()

    def leaks(self) -> Leaks:
        """At least what a single record of the group leaks."""
        larger = self.mechanism.grown(self.size)
        return self.mechanism.leaks() if larger is None else larger.leaks()

    def enlarged(self, size: int) -> Mechanism | None:
        """The same release, seen by a group of ``size`` such groups."""
        return self.mechanism.grown(self.size * size)


def refuse_groups(mechanism: Mechanism, sampling: str) -> None:
    """Refuse to sample what counts a group as one unit, however deep it stands inside."""
    group = _inside(mechanism)
    if group is not None:
        raise InputError(
            f"{sampling} cannot sample {group.text()}: each record is drawn by itself, so the {group.size} records of "
            "a group take part in any number, while inside they would count as one; put the group outside: "
            f"group({sampling}(…), size={group.size})",
            argument="mechanism",
        )


def _inside(value: object) -> Group | None:
    """A group of more than one record somewhere in a mechanism, a composition or their fields."""
    if isinstance(value, Group) and value.size > 1:
        return value
    if isinstance(value, (tuple, list)):
        parts = list(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
    else:
        return None
    return next((found for found in map(_inside, parts) if found is not None), None)
