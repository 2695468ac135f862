"""Amounts are whole numbers of a unit; floats never decide.

A line's unit is its limit divided by N = 5·lcm(1…40): sixteen digits, and limit/k is a whole number of units for every
k up to 40 and for 100, 200, 500 and 1000, so that k charges of limit/k exhaust it exactly. A cost rounds up, a limit
down; what is shown as spent rounds up, what is shown as left down. Raising a limit keeps the unit.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction

from bursar.errors import InputError
from bursar.numerics.real import read

PARTS = 5 * math.lcm(*range(1, 41))
MOST = 2**63 - 1
"""The largest amount that a store keeps."""


def units_up(cost: Fraction, unit: Fraction) -> int:
    """The smallest whole number of units that covers a cost."""
    return -((-cost.numerator * unit.denominator) // (cost.denominator * unit.numerator))


def units_down(limit: Fraction, unit: Fraction) -> int:
    """The largest whole number of units within a limit."""
    units = (limit.numerator * unit.denominator) // (limit.denominator * unit.numerator)
    if units > MOST:
        raise InputError("the limit is more than 345 times the first one: open a new scope", argument="limit")
    return units


def exact(value: object, name: str) -> Fraction:
    """A number as people give it, a float as its shortest decimal."""
    return Fraction(read(value, name))


def written(value: Fraction) -> str:
    """An exact number in text: a whole number, or p/q."""
    return str(value.numerator) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"


def shown(value: Fraction, *, up: bool, digits: int = 6) -> str:
    """A number for people, rounded away from optimism."""
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    wide = Context(prec=200, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    number = context.plus(wide.divide(wide.create_decimal(value.numerator), wide.create_decimal(value.denominator)))
    plain = number.normalize()
    return format(plain, "f") if -6 <= plain.adjusted() <= 6 else format(plain, "e").replace("e+", "e")
