"""A mechanism of your own on finitely many outcomes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flint import arb

from bursar.errors import InputError
from bursar.guarantees import ApproxDP, Claim, PureDP, Tightness
from bursar.guarantees._base import rounded_up
from bursar.losses import Directions, TableLoss
from bursar.losses.laws.table import both_directions
from bursar.mechanisms._base import Mechanism, renyi_of_losses
from bursar.mechanisms._weights import column, normalised
from bursar.numerics.real import Number, Real
from bursar.relations import ADD_REMOVE, relation_field

_MOST_ROWS = 100_000


@dataclass(frozen=True, init=False, repr=False)
class Table(Mechanism):
    """Outcome probabilities with the record (p) and without it (q).

    Each column must sum to 1: exactly where its numbers are exact (fractions, whole numbers, Decimals, strings); with
    floats, or decimals in a text form, up to 2^-52 for each of them, which is what rounding does. Such a column is
    divided by its sum, and every bound covers the numbers as they are, too. Mass that is missing beyond rounding is
    refused: give it as an outcome of its own.
    """

    p: tuple[Real, ...]
    q: tuple[Real, ...]
    relation: str = ADD_REMOVE
    name = "table"

    def __init__(self, p: Iterable[Number], q: Iterable[Number], *, relation: str = ADD_REMOVE) -> None:
        first, second = _column(p, "p"), _column(q, "q")
        if len(first) != len(second):
            raise InputError(f"p has {len(first)} outcomes but q has {len(second)}", argument="q")
        self._set(p=first, q=second, relation=relation_field(relation))

    def claims(self) -> tuple[Claim, ...]:
        """The largest finite loss with the mass at infinity; and the Rényi curve where there is none."""
        losses = self.losses()
        top, leak = losses.largest_loss(), losses.infinite_mass()
        epsilon = rounded_up(top.max(arb(0))) if top.is_finite() else Real(0)
        if leak <= 0:
            return Claim(PureDP(epsilon), "DMNS06", Tightness.TIGHT), renyi_of_losses(self, "Mir17")
        return (Claim(ApproxDP(epsilon, min(rounded_up(leak), Real(1))), "DKMMN06", Tightness.TIGHT),)

    def losses(self) -> Directions:
        """The table and its reverse."""
        return both_directions(TableLoss.of(normalised(self.p), normalised(self.q)))


def _column(numbers: Iterable[Number], name: str) -> tuple[Real, ...]:
    return column(numbers, name, most=_MOST_ROWS, kind="outcomes", missing="an outcome of its own")
