"""Formulas on arrays of floats, each value with a bound of its absolute error.

A ball is a float and a bound of how far the truth lies from it, for every entry of an array at once: what each
operation makes of the errors of what it is given, and its own rounding (`numerics.trusted`), are added up as it goes.
The bounds are themselves computed in floats: sums and products of numbers that are not negative, some thousand
roundings at most, which `SAFETY` covers (proofs/densities.md §2). A value of which nothing is known has an infinite
bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import acb

from bursar.numerics.arrays import Array, Known
from bursar.numerics.balls import working
from bursar.numerics.formula import Term
from bursar.numerics.trusted import SAFETY, ULPS, UNIT

_TINY = 1e-300  # products and quotients that underflow are off by less
_FURTHEST = 2.0**16  # of angles: their sines are trusted up to here
_SLOPE = 1.13  # more than 2/√π, the steepest that erf is


def running(term: Term, x: Array) -> Known:
    """The values at exact floats, and bounds of their errors."""
    with np.errstate(all="ignore"):
        value, error = _value(term, x)
        known = np.isfinite(value) & np.isfinite(error)
        return np.where(known, value, 0.0), np.where(known, SAFETY * error, np.inf)


def _value(term: Term, x: Array) -> Known:
    if term.kind == "x":
        return x, np.zeros_like(x)
    if term.kind in ("number", "pi"):
        return _constant(term, x)
    if term.kind == "**":
        return _power(term, x)
    return _STEPS[term.kind](*(_value(part, x) for part in term.parts))


def _constant(term: Term, x: Array) -> Known:
    with working():
        exact = term.in_balls(acb(0), False).real
    near = float(exact)
    return np.full_like(x, near), np.full_like(x, float(exact.rad()) + 2 * UNIT * abs(near))


def _sum(a: Known, b: Known) -> Known:
    value = a[0] + b[0]
    return value, a[1] + b[1] + UNIT * np.abs(value)


def _negative(a: Known) -> Known:
    return -a[0], a[1]


def _product(a: Known, b: Known) -> Known:
    value = a[0] * b[0]
    return value, np.abs(a[0]) * b[1] + a[1] * (np.abs(b[0]) + b[1]) + UNIT * np.abs(value) + _TINY


def _quotient(a: Known, b: Known) -> Known:
    """x/y − a/b = ((x − a) − (a/b)(y − b))/y, and |y| is at least |b| less its error."""
    value, least = a[0] / b[0], np.abs(b[0]) - b[1]
    size = np.abs(value)
    return value, np.where(least > 0, (a[1] + size * b[1]) / least, np.inf) + UNIT * size + _TINY


def _exp(a: Known) -> Known:
    """Refused where the exponent is off by more than 1, because an underflow might hide how much that matters."""
    value = np.exp(a[0])
    return value, np.where(a[1] < 1, value * (np.expm1(a[1]) + ULPS * UNIT) + _TINY, np.inf)


def _log(a: Known) -> Known:
    value, least = np.log(a[0]), a[0] - a[1]
    return value, np.where(least > 0, a[1] / least, np.inf) + ULPS * UNIT * np.abs(value)


def _sqrt(a: Known) -> Known:
    """|√x − √a| ≤ |x − a|/√a, and at most √(a + error) where a may be 0."""
    value = np.sqrt(np.maximum(a[0], 0.0))
    moved = np.where(a[0] > a[1], a[1] / value, np.sqrt(np.maximum(a[0], 0.0) + a[1]))
    return value, np.where(a[0] >= -a[1], moved, np.inf) + UNIT * value


def _abs(a: Known) -> Known:
    return np.abs(a[0]), a[1]


def _sinh(a: Known) -> Known:
    """By e^{|x|} − 1, of which sinh is less sensitive than in proportion; cosh ≤ 1 + |sinh|."""
    grown = np.expm1(np.abs(a[0]))
    value = 0.5 * (grown + grown / (grown + 1))
    return np.sign(a[0]) * value, a[1] * np.exp(a[1]) * (1 + value) + (ULPS + 4) * UNIT * value + _TINY


def _cosh(a: Known) -> Known:
    value = 0.5 * (np.exp(a[0]) + np.exp(-a[0]))
    return value, value * (a[1] * np.exp(a[1]) + (ULPS + 4) * UNIT)


def _tanh(a: Known) -> Known:
    """By e^{2|x|} − 1; beyond 300 it is 1 to all digits and more."""
    grown = np.expm1(2 * np.minimum(np.abs(a[0]), 300.0))
    value = grown / (grown + 2)
    return np.sign(a[0]) * value, a[1] + (ULPS + 4) * UNIT * value + _TINY


def _turned(f: Callable[[Array], Array]) -> Callable[[Known], Known]:
    """A sine or cosine."""

    def value(a: Known) -> Known:
        return f(a[0]), np.where(np.abs(a[0]) < _FURTHEST, a[1] + ULPS * UNIT, np.inf)

    return value


def _erfc(a: Known) -> Known:
    value = np.array([math.erfc(x) for x in a[0].ravel().tolist()]).reshape(a[0].shape)
    steepest = _SLOPE * np.exp(-np.square(np.maximum(np.abs(a[0]) - a[1], 0.0)))
    return value, a[1] * steepest + ULPS * UNIT * value + _TINY


def _erf(a: Known) -> Known:
    """1 − erfc on the side where that is small."""
    rest, error = _erfc((np.abs(a[0]), a[1]))
    return np.sign(a[0]) * (1 - rest), error + UNIT


def _log_sum(a: Known, b: Known) -> Known:
    """The larger one plus ln(1 + e^{−distance}); a mean of the two errors is at most the larger one."""
    value = np.maximum(a[0], b[0]) + np.log1p(np.exp(-np.abs(a[0] - b[0])))
    return value, np.maximum(a[1], b[1]) + UNIT * (2 * ULPS + 2 + 2 * np.abs(value))


def _power(term: Term, x: Array) -> Known:
    """Products where the exponent is a whole number, else e^{b·ln a}."""
    base, exponent = term.parts
    given, whole = _value(base, x), _whole(exponent)
    if whole is None:
        return _exp(_product(_value(exponent, x), _log(given)))
    one = np.ones_like(x), np.zeros_like(x)
    result, power, left = one, given, abs(whole)
    while left:
        result = _product(result, power) if left & 1 else result
        left >>= 1
        power = _product(power, power) if left else power
    return result if whole >= 0 else _quotient(one, result)


def _whole(exponent: Term) -> int | None:
    """The exponent where it is a whole number of moderate size."""
    if not steady(exponent):
        return None
    with working():
        found = exponent.in_balls(acb(0), False)
        whole = found.unique_fmpz() if found.imag.is_zero() else None
    return int(whole) if whole is not None and abs(int(whole)) <= 64 else None


def steady(term: Term) -> bool:
    """Whether x does not occur."""
    return term.kind != "x" and all(steady(part) for part in term.parts)


_STEPS: dict[str, Callable[..., Known]] = {
    "+": _sum,
    "-": lambda a, b: _sum(a, _negative(b)),
    "*": _product,
    "/": _quotient,
    "negative": _negative,
    "exp": _exp,
    "log": _log,
    "sqrt": _sqrt,
    "abs": _abs,
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": _tanh,
    "sin": _turned(np.sin),
    "cos": _turned(np.cos),
    "erf": _erf,
    "erfc": _erfc,
    "log_sum": _log_sum,
}
