"""A mechanism of your own on finitely many outcomes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from bursar.errors import InputError
from bursar.guarantees import ApproxDP, Claim, PureDP, Tightness
from bursar.guarantees._base import rounded_up
from bursar.losses import Directions, TableLoss
from bursar.losses.laws.table import both_directions
from bursar.mechanisms._base import Mechanism, renyi_of_losses
from bursar.numerics.balls import Ball, ball
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import listed, probability
from bursar.relations import ADD_REMOVE, relation_field

_ROUNDED = Fraction(1, 2**52)  # what rounding may do to a sum of floats, for each of them
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
        return both_directions(TableLoss.of(_normalised(self.p), _normalised(self.q)))


def _column(numbers: Iterable[Number], name: str) -> tuple[Real, ...]:
    column = tuple(probability(**{name: number}) for number in listed(**{name: numbers}))
    if not 1 <= len(column) <= _MOST_ROWS:
        raise InputError(f"{name} must have 1 to {_MOST_ROWS} outcomes, not {len(column)}", argument=name)
    total = sum(map(Fraction, column), Fraction(0))
    if abs(total - 1) > _ROUNDED * sum(not number.exact for number in column):
        less = f"1 {'+' if total > 1 else '−'} {float(abs(total - 1)):.3g}"
        raise InputError(
            f"{name} must sum to 1, not to {less}; give what is missing as an outcome of its own, and numbers such as "
            "one third as fractions",
            argument=name,
        )
    return column


def _normalised(column: tuple[Real, ...]) -> list[Ball]:
    """Every reading of the column, as it is and divided by that reading's sum; exact zeros stay exact."""
    low, high = sum(number.low for number in column), sum(number.high for number in column)
    whole = sum(map(Fraction, column), Fraction(0))
    readings = [
        Real(Fraction(number) / whole, min(number.low, number.low / high), max(number.high, number.high / low))
        for number in column
    ]
    return [ball(number) if number > 0 else arb(0) for number in readings]
