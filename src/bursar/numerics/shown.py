"""Numbers for people: few digits, rounded to the safe side."""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

_OF_NUMBERS = re.compile(r"(.*?)(?:\.(\d+))?([eEfFgG%]?)\Z", re.DOTALL)
"""A format of floats: the sign, the width and the commas; how many digits; which kind."""


def shown_exactly(x: Fraction, *, up: bool, digits: int = 6) -> str:
    """`shown` of a fraction, which need not be a float."""
    near = float(x)
    if up != (Fraction(near) >= x) and Fraction(near) != x:
        near = math.nextafter(near, math.inf if up else -math.inf)
    return shown(near, up=up, digits=digits)


def shown(x: float, *, up: bool, digits: int = 6) -> str:
    """x with a few significant digits, never below it if ``up``, never above it otherwise."""
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    if x == 0:
        return "0"
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    value = context.plus(Decimal(x))
    if 1e-4 <= abs(x) < 1e9:
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, _, exponent = f"{value:e}".partition("e")
    short = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{short}e{int(exponent):d}"


def outward(lower: float, upper: float, form: str) -> str:
    """[lower, upper], each end in a format of floats such as ".3f", rounded away from the other; "" where the format
    says nothing about numbers.
    """
    found = _OF_NUMBERS.fullmatch(form)
    if found is None or not (found[2] or found[3]):
        return ""
    each = f"{found[1]}.{found[2] or 6}{found[3] or 'g'}"
    return f"[{_rounded(lower, each, ROUND_FLOOR)}, {_rounded(upper, each, ROUND_CEILING)}]"


def _rounded(x: float, form: str, way: str) -> str:
    """x in a format, rounded this way."""
    if math.isinf(x):
        return format(x, form)
    with localcontext() as context:
        context.rounding = way
        return format(Decimal(x), form)
