"""Lists of probabilities that must sum to 1."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from flint import arb

from bursar.errors import InputError
from bursar.numerics.balls import Ball, ball
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import listed, probability

_ROUNDED = Fraction(1, 2**52)  # what rounding may do to a sum of floats, for each of them


def column(numbers: Iterable[Number], name: str, *, most: int, kind: str, missing: str) -> tuple[Real, ...]:
    """Probabilities that sum to 1: exactly where they are exact, else up to rounding; ``missing`` says what to do with
    mass that is missing, ``kind`` what the probabilities are of.
    """
    read = tuple(probability(**{name: number}) for number in listed(**{name: numbers}))
    if not 1 <= len(read) <= most:
        raise InputError(f"{name} must have 1 to {most} {kind}, not {len(read)}", argument=name)
    total = sum(map(Fraction, read), Fraction(0))
    if abs(total - 1) > _ROUNDED * sum(not number.exact for number in read):
        less = f"1 {'+' if total > 1 else '−'} {float(abs(total - 1)):.3g}"
        raise InputError(
            f"{name} must sum to 1, not to {less}; give what is missing as {missing}, and numbers such as one third as "
            "fractions",
            argument=name,
        )
    return read


def normalised(read: tuple[Real, ...]) -> list[Ball]:
    """Every reading of the column, as it is and divided by that reading's sum; exact zeros stay exact."""
    low, high = sum(number.low for number in read), sum(number.high for number in read)
    whole = sum(map(Fraction, read), Fraction(0))
    readings = [
        Real(Fraction(number) / whole, min(number.low, number.low / high), max(number.high, number.high / low))
        for number in read
    ]
    return [ball(number) if number > 0 else arb(0) for number in readings]
