"""Ball arithmetic: where every certified number comes from.

A ball (python-flint's ``arb``) is a midpoint with a radius that provably contains the exact value, rounding included.
This module is the only way in (`ball`) and out (`up`, `down`, `up_fraction`); everything between is flint's own
outward rounding. Precision never decides soundness: fewer bits only make wider balls. An undetermined ball leaves as
±infinity.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Union

from flint import acb, arb, ctx, fmpq

from bursar.numerics.real import Real

Ball = arb
ComplexBall = acb
RealLike = Union[arb, Fraction, float]
"""What `ball` takes; text is read elsewhere (`numerics.real`)."""
ComplexLike = Union[acb, arb, Fraction, complex]

WORKING_BITS = 128
_SMALLEST = 8000  # bits: below 2^−4000 a fraction only gets longer
_lock = threading.RLock()


@contextmanager
def working(bits: int = WORKING_BITS) -> Iterator[None]:
    """Compute with at least this many bits. flint's precision is global, so threads take turns."""
    with _lock:
        before = ctx.prec
        ctx.prec = max(bits, before)
        try:
            yield
        finally:
            ctx.prec = before


def ball(x: RealLike) -> Ball:
    """A ball around a number: exact numbers exactly, a `Real` with all its readings."""
    if isinstance(x, arb):
        return x
    if type(x) is Real or isinstance(x, Real):  # the second is slow to ask
        low = arb(fmpq(x.low.numerator, x.low.denominator))
        return low if x.exact else low.union(arb(fmpq(x.high.numerator, x.high.denominator)))
    if isinstance(x, Fraction):
        return arb(fmpq(x.numerator, x.denominator))
    return arb(x)


def complex_ball(x: ComplexLike) -> ComplexBall:
    """A complex ball around a number."""
    return x if isinstance(x, acb) else acb(x if isinstance(x, complex) else ball(x))


def hull(*balls: Ball) -> Ball:
    """The smallest ball that contains all of these."""
    result = balls[0]
    for other in balls[1:]:
        result = result.union(other)
    return result


def up(x: Ball) -> float:
    """A float that is at least everything in the ball; infinite where nothing is known."""
    if x.is_nan():
        return math.inf
    top = x.upper()
    if top.is_nan():
        return math.inf
    near = float(top)
    return math.nextafter(near, math.inf) if near < math.inf and arb(near) < top else near


def down(x: Ball) -> float:
    """A float that is at most everything in the ball; minus infinity where nothing is known."""
    return -up(-x) + 0.0  # never −0.0


def up_fraction(x: Ball) -> Fraction:
    """A short exact fraction that is at least everything in the (finite) ball."""
    return -_fraction_below(-x.upper())


def down_fraction(x: Ball) -> Fraction:
    """A short exact fraction that is at most everything in the (finite) ball."""
    return _fraction_below(x.lower())


def _fraction_below(x: Ball) -> Fraction:
    """The exact number, or, where that would be a huge fraction for a tiny number, a short one below it."""
    if not x.is_finite():
        raise ArithmeticError("an infinite ball has no fraction")
    mantissa, exponent = (int(part) for part in x.man_exp())
    if exponent > 4 * _SMALLEST:
        raise ArithmeticError("the number is too large for a fraction")
    if exponent < -_SMALLEST:
        return Fraction(0) if mantissa >= 0 else -Fraction(1, 2 ** (_SMALLEST // 2))
    return Fraction(mantissa) * (Fraction(2) ** exponent)


def maximum(*balls: Ball) -> Ball:
    """A ball around the largest."""
    result = balls[0]
    for other in balls[1:]:
        result = result.max(other)
    return result


def minimum(*balls: Ball) -> Ball:
    """A ball around the smallest."""
    result = balls[0]
    for other in balls[1:]:
        result = result.min(other)
    return result


def positive_part(x: Ball) -> Ball:
    """max(x, 0), as a ball that never reaches below 0."""
    return x if x >= 0 else x.nonnegative_part()


def finite(x: Ball) -> bool:
    """Whether the ball is bounded."""
    return bool(x.is_finite())


def infinity() -> Ball:
    """The ball at plus infinity."""
    return arb("inf")


def square(x: Ball) -> Ball:
    """x², also for balls around 0, whose powers flint leaves undetermined."""
    return positive_part(x * x)


def relative_radius(x: Ball) -> float:
    """How far the ball reaches, relative to its middle."""
    return float((x.rad() / abs(x.mid())).upper())


def some_of(chances: Iterable[tuple[Ball, int]]) -> Ball:
    """A lower bound of the chance that any of independent events occurs."""
    kept = arb(0)
    for chance, count in chances:
        least = positive_part(chance.lower())
        if least >= 1:
            return arb(1)
        kept += count * (-least).log1p()
    return positive_part(-kept.expm1()).lower()
