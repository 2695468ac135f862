"""Numbers for people: few digits, rounded to the safe side."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal


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
