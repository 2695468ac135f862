"""Privacy of groups."""

from __future__ import annotations

from dataclasses import dataclass

from bursar.errors import ConversionRefused, InputError, LossUnknown, described
from bursar.guarantees import Claim
from bursar.losses import Directions
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
        """The mechanism's own."""
        return self.mechanism.relation

    def claims(self) -> tuple[Claim, ...]:
        """Noise against a larger sensitivity where the mechanism is of that kind, else each claim's own group form."""
        larger = self.mechanism.enlarged(self.size)
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
        larger = self.mechanism.enlarged(self.size)
        if larger is None:
            raise LossUnknown(f"no loss distribution is known for groups of {self.mechanism.text()}")
        return larger.losses()

    def enlarged(self, size: int) -> Mechanism | None:
        """Groups of groups."""
        return self.mechanism.enlarged(self.size * size)
