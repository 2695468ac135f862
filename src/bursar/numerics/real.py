"""Numbers as people give them, kept exactly.

A float means its shortest decimal: ``0.1`` is one tenth, and that is its value everywhere. Since somebody may have
meant the binary number instead, a `Real` read from a float remembers both, and every bound covers both readings.
``int``, ``Fraction``, ``Decimal`` and strings are exact.

In a text form a decimal such as ``0.1`` is read like a float (so Python and the command line agree to the last
digit), while whole numbers and ratios such as ``1/10`` are exact.
"""

from __future__ import annotations

import math
import operator
import re
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, TypeVar, Union

from bursar.errors import InputError, described

Number = Union[int, float, Fraction, Decimal, str]
_Ratio = TypeVar("_Ratio", bound=Fraction)

MAX_DIGITS = 100
MAX_EXPONENT = 1000
_EXACT = 2**53  # below, whole numbers are floats
_LONG = 1000  # bits: numbers no longer than this have quotients that are usual floats
_DECIMAL = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?\Z", re.ASCII)
_RATIO = re.compile(r"([+-]?\d+)/(\d+)\Z", re.ASCII)
_GROUPED = re.compile(r"(?<=\d)_(?=\d)", re.ASCII)  # 10_000 is 10000, as in Python


class Real(Fraction):
    """An exact value with an enclosure [low, high] of every reading of what was given."""

    __slots__ = ("high", "low")
    low: Fraction
    high: Fraction

    def __new__(cls, value: Fraction | int, low: Fraction | None = None, high: Fraction | None = None) -> Real:
        """A value, and the readings around it where there are others."""
        exact = value if type(value) is Fraction else Fraction(value)
        self = _lowest(cls, exact.numerator, exact.denominator)
        self.low = exact if low is None or low is exact else min(low, exact)
        self.high = exact if high is None or high is exact else max(high, exact)
        return self

    @classmethod
    def from_float(cls, f: float) -> Fraction:  # type: ignore[override]
        """A plain fraction: comparisons with floats go through here."""
        return Fraction.from_float(f)

    @classmethod
    def from_decimal(cls, dec: Decimal) -> Fraction:  # type: ignore[override]
        """A plain fraction: see `from_float`."""
        return Fraction.from_decimal(dec)

    @property
    def exact(self) -> bool:
        """Whether there is only one reading."""
        return self.low is self.high or self.low == self.high

    def reciprocal(self) -> Real:
        """1/x, every reading."""
        return Real(1 / Fraction(self), 1 / self.high, 1 / self.low)

    def times(self, factor: Fraction | int) -> Real:
        """factor·x for a factor of at least 0, every reading."""
        return Real(factor * Fraction(self), factor * self.low, factor * self.high)

    def half_square(self) -> Real:
        """x²/2 for x of at least 0, every reading."""
        return Real(Fraction(self) ** 2 / 2, self.low**2 / 2, self.high**2 / 2)

    def text(self) -> str:
        """The text that `read_text` turns back into this number, readings included."""
        if self._as_float():
            return repr(self.numerator / self.denominator)
        value = Fraction(self)
        if value.denominator == 1 and self.exact:
            return str(value.numerator)
        decimal = _decimal_text(value)
        if decimal is not None and _covering(value, decimal) == (self.low, self.high):
            return decimal
        return f"{value.numerator}/{value.denominator}"

    def _as_float(self) -> bool:
        """Whether it is what reading a float gives, as most are."""
        top, bottom = self.numerator, self.denominator
        if bottom == 1 or max(top.bit_length(), bottom.bit_length()) > _LONG:
            return False
        other = _from_float(top / bottom)
        return other.numerator == top and other.denominator == bottom and _readings(other) == _readings(self)

    def __repr__(self) -> str:
        return f"Real({self.text()})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Real, (Fraction(self), self.low, self.high))

    def __copy__(self) -> Real:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Real:
        return self


def _lowest(kind: type[_Ratio], numerator: int, denominator: int) -> _Ratio:
    """A fraction in lowest terms, of this kind: filled as its own arithmetic does it, since there are very many."""
    made = object.__new__(kind)
    made._numerator, made._denominator = numerator, denominator  # type: ignore[attr-defined]
    return made


def _readings(of: Real) -> tuple[int, int, int, int]:
    return of.low.numerator, of.low.denominator, of.high.numerator, of.high.denominator


def read(number: object, name: str) -> Real:
    """The number a caller gave for the argument ``name``."""
    if type(number) is Real or isinstance(number, Real):  # the second is slow to ask
        return number
    if isinstance(number, bool):
        raise InputError(f"{name} must be a number, not {described(number)}", argument=name)
    if isinstance(number, float):
        if not math.isfinite(number):
            raise InputError(f"{name} must be a finite number, not {described(number)}", argument=name)
        if number.is_integer() and abs(number) < _EXACT:
            return Real(int(number))  # its shortest decimal is the float itself
        return _from_float(float(number))  # a numpy scalar is a float whose repr is not a number
    if isinstance(number, Fraction):
        return Real(_small_enough(number, name))
    if isinstance(number, Decimal):
        if not number.is_finite():
            raise InputError(f"{name} must be a finite number, not {number}", argument=name)
        return Real(_from_text(str(number), name)[0])
    if isinstance(number, str):
        return Real(_from_text(number.strip(), name)[0])
    try:
        whole = operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(
            f"{name} must be a number, not {described(number)} ({type(number).__name__})", argument=name
        ) from None
    return Real(_small_enough(Fraction(whole), name))


def _from_float(number: float) -> Real:
    """Its shortest decimal, with the binary number beside it."""
    top, bottom = Decimal(repr(number)).as_integer_ratio()
    binary_top, binary_bottom = number.as_integer_ratio()
    self = _lowest(Real, top, bottom)
    self.low = self.high = _lowest(Fraction, top, bottom)
    apart = binary_top * bottom - top * binary_bottom
    if apart > 0:
        self.high = _lowest(Fraction, binary_top, binary_bottom)
    elif apart < 0:
        self.low = _lowest(Fraction, binary_top, binary_bottom)
    return self


def read_text(text: str, name: str) -> Real:
    """The number written in a text form: decimals cover both readings, whole numbers and ratios are exact."""
    value, decimal = _from_text(text, name)
    if not decimal:
        return Real(value)
    return Real(value, *_covering(value, _GROUPED.sub("", text)))


def _from_text(text: str, name: str) -> tuple[Fraction, bool]:
    """The exact value of a decimal or a ratio, refused before it can become a huge integer; is it a decimal?"""
    if len(text) > 3 * MAX_EXPONENT:
        raise InputError(f"{name} has too many characters ({len(text)}); at most {MAX_DIGITS} digits", argument=name)
    text = _GROUPED.sub("", text)
    if ratio := _RATIO.match(text):
        if int(ratio[2]) == 0:
            raise InputError(f"{name} divides by zero: {text}", argument=name)
        return _small_enough(Fraction(int(ratio[1]), int(ratio[2])), name), False
    plain = _DECIMAL.match(text)
    if plain is None:
        raise InputError(f"{name} must be a number such as 0.1, 1e-6 or 1/3, not {described(text)}", argument=name)
    digits, exponent = plain[1], plain[2] or "0"
    if len(digits) > MAX_DIGITS or len(exponent) > 6 or abs(int(exponent)) > MAX_EXPONENT:
        raise InputError(
            f"{name} = {text} is out of range: at most {MAX_DIGITS} digits and exponents within ±{MAX_EXPONENT}",
            argument=name,
        )
    return Fraction(text), "." in text or "e" in text.lower()


def _small_enough(value: Fraction, name: str) -> Fraction:
    """Refuse ratios whose numerator or denominator would make exact arithmetic slow."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > 4 * MAX_EXPONENT:
        raise InputError(f"{name} is out of range: exponents within ±{MAX_EXPONENT}", argument=name)
    return value


def _hull(value: Fraction, binary: Fraction) -> tuple[Fraction, Fraction]:
    return (value, binary) if value <= binary else (binary, value)


def _covering(value: Fraction, decimal: str) -> tuple[Fraction, Fraction]:
    """Both readings of a decimal: itself, and the float that it is read as (if it is one)."""
    binary = float(decimal)
    if not math.isfinite(binary) or (binary == 0 and value != 0):
        return value, value
    return _hull(value, Fraction(binary))


def _decimal_text(value: Fraction) -> str | None:
    """The finite decimal expansion of the value, as short as it can be, or None where it has none."""
    try:
        short = repr(float(value))
    except OverflowError:
        short = ""
    if short and "inf" not in short and Fraction(short) == value:
        return short[:-2] if short.endswith(".0") else short
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return None
    context = Context(prec=5 * MAX_EXPONENT)
    exact = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    text = str(exact).lower()
    return text if len(text) <= MAX_DIGITS and ("." in text or "e" in text) else None
