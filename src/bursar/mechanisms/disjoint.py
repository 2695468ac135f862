"""Parallel composition: releases about disjoint parts of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bursar.errors import ConversionRefused, InputError, LossUnknown, described
from bursar.guarantees import GDP, TCDP, ZCDP, ApproxDP, Claim, Guarantee, PureDP, Renyi
from bursar.identity import same
from bursar.losses import Directions, Leaks
from bursar.mechanisms._base import Mechanism
from bursar.mechanisms._inside import refuse_counted
from bursar.numerics.balls import maximum
from bursar.relations import ADD_REMOVE, relation_field

if TYPE_CHECKING:
    from bursar.composition import Composition

_KINDS: tuple[type[Guarantee], ...] = (PureDP, ApproxDP, ZCDP, TCDP, GDP, Renyi)


@dataclass(frozen=True, init=False, repr=False)
class Disjoint(Mechanism):
    """Blocks of the data, each with its own releases; the parts are told apart by a fixed rule on the single record.

    Adding or removing a record touches one block, so the worst block counts. Replacing one may touch two blocks, or
    one block twice, and so may zeroing one out, whose null record may belong elsewhere: with another ``relation`` the
    blocks are still given under add_remove, and the promise is the worst block's for groups of two. Partitions that
    depend on other records (quantiles, clusters) are not disjoint in this sense.
    """

    blocks: tuple[Composition, ...]
    relation: str = ADD_REMOVE
    name = "disjoint"

    def __init__(self, *blocks: Mechanism | Composition, relation: str = ADD_REMOVE) -> None:
        from bursar.composition import Composition

        if not blocks:
            raise InputError("disjoint needs at least one block", argument="blocks")
        parts = []
        for block in blocks:
            part = block * 1 if isinstance(block, Mechanism) else block
            if not isinstance(part, Composition):
                raise InputError(
                    f"a block must be a mechanism or a composition, not {described(block)}", argument="blocks"
                )
            if part.relation != ADD_REMOVE:
                raise InputError(
                    "blocks are given under add_remove, whatever the whole is seen under", argument="blocks"
                )
            if relation != ADD_REMOVE:
                refuse_counted(part, "a record that changes its block")
            parts.append(part)
        self._set(blocks=tuple(sorted(parts, key=str)), relation=relation_field(relation))

    def claims(self) -> tuple[Claim, ...]:
        """For each language that every block speaks: the worst block."""
        claims = []
        for kind in _KINDS:
            try:
                promise = kind.worst([block.promise(kind) for block in self.blocks])
                claims.append(Claim(promise if self.relation == ADD_REMOVE else promise.group(2), "McS09"))
            except ConversionRefused:
                continue
        return tuple(claims)

    def losses(self) -> Directions:
        """Known when the blocks are one and the same single release."""
        first = self.blocks[0]
        alike = all(same(block, first) for block in self.blocks) and first.count == 1
        if not alike:
            raise LossUnknown("no single pair of distributions is the worst of different blocks")
        mechanism = first.terms[0].mechanism
        if self.relation != ADD_REMOVE:
            raise LossUnknown("no loss distribution is known for a record that changes its block")
        return mechanism.losses()

    def leaks(self) -> Leaks:
        """The leakiest block's, for a record there; under other relations only what shows the record itself."""
        blocks = [block.leaks() for block in self.blocks]
        shown = maximum(*(block.shown for block in blocks))
        if self.relation != ADD_REMOVE:
            return Leaks(shown, shown, shown)
        removed = maximum(*(block.removed for block in blocks))
        added = removed if all(block.same for block in blocks) else maximum(*(block.added for block in blocks))
        return Leaks(removed, added, shown)
