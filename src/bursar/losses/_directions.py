"""Both ordered pairs of a neighbour relation, and what a mechanism has to do with them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bursar.losses._base import Loss
from bursar.numerics.balls import Ball, RealLike


@dataclass(frozen=True)
class Directions:
    """Both ordered pairs of a neighbour relation: a record removed (P has it, Q does not), and added.

    ``attained`` says that the mechanism itself produces this pair (or that it is the worst case of what was
    declared), so that the pair bounds its cost from below too; otherwise it only dominates. ``pointwise`` says that it
    produces, for each single ε, some pair with the same δ(ε): then one release costs exactly this, but several may not.
    ``least`` are pairs that it does produce, where its own only dominates: from below each of these counts.
    """

    remove: Loss
    add: Loss
    attained: bool
    pointwise: bool = False
    least: tuple[Directions, ...] = ()

    @property
    def same(self) -> bool:
        """Whether both directions are known to have one law."""
        return self.remove is self.add

    @property
    def exact_alone(self) -> bool:
        """Whether one release costs as much as its pair says."""
        return self.attained or self.pointwise

    def profile(self, epsilon: RealLike) -> Ball:
        """The worse direction's δ(ε)."""
        if self.remove is self.add:
            return self.remove.profile(epsilon)
        return self.remove.profile(epsilon).max(self.add.profile(epsilon))

    def renyi(self, alpha: RealLike) -> Ball:
        """The worse direction's D_α."""
        if self.remove is self.add:
            return self.remove.renyi(alpha)
        return self.remove.renyi(alpha).max(self.add.renyi(alpha))

    def rough_renyi(self, alpha: float) -> float:
        """The worse direction's D_α in floats, for searching."""
        if self.remove is self.add:
            return self.remove.rough_renyi(alpha)
        return max(self.remove.rough_renyi(alpha), self.add.rough_renyi(alpha))

    def bracket(self) -> tuple[Directions, Directions] | None:
        """Both directions with laws that cost no more, and with laws that cost no less; None where neither needs it."""
        remove, add = self.remove.bracket(), self.add.bracket()
        if remove is None and add is None:
            return None
        first, second = remove or (self.remove, self.remove), add or (self.add, self.add)
        below, above = (Directions(first[i], second[i], self.attained, self.pointwise, self.least) for i in (0, 1))
        return below, above

    def suited(self, log_delta: float) -> Directions:
        """Both directions for questions about δ of about this size."""
        remove = self.remove.suited(log_delta)
        return replace(self, remove=remove, add=remove if self.same else self.add.suited(log_delta))

    def infinite_mass(self) -> Ball:
        """The worse direction's P(L = ∞)."""
        return self.remove.infinite_mass().max(self.add.infinite_mass())

    def largest_loss(self) -> Ball:
        """The worse direction's largest finite loss."""
        return self.remove.support()[1].max(self.add.support()[1])


def symmetric(loss: Loss, *, attained: bool = True, pointwise: bool = False) -> Directions:
    """The two directions of a pair whose laws are one."""
    return Directions(loss, loss, attained, pointwise)
