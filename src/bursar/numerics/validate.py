"""The one keyword validator: ``real(sigma=2.0, above=0)`` reads an argument, checks it, names it when it is wrong."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeGuard

from bursar.errors import InputError, described, nearest
from bursar.numerics.real import Real, read

MAX_COUNT = 10**12
MAX_MAGNITUDE = 10**30
_SMALLEST = Fraction(1, MAX_MAGNITUDE)
MAX_PROMISE = 10**100  # what 10^12 releases at the largest parameters may add up to


def real(
    *,
    above: int | None = None,
    at_least: int | Fraction | None = None,
    below: int | None = None,
    at_most: int | Fraction | None = None,
    largest: int = MAX_MAGNITUDE,
    **argument: Any,
) -> Real:
    """The named argument as a `Real` within the given limits (every reading of it)."""
    ((name, given),) = argument.items()
    value = read(given, name)
    fits = (
        (above is None or _less(above, value.low))
        and (at_least is None or not _less(value.low, at_least))
        and (below is None or _less(value.high, below))
        and (at_most is None or not _less(at_most, value.high))
    )
    if not fits:
        allowed = _range(above, at_least, below, at_most)
        raise InputError(f"{name} must be {allowed}, not {_shown(given)}", argument=name)
    if _less(largest, value) or _less(value, -largest):
        raise InputError(f"{name} must be at most {float(largest):.0e} in size, not {_shown(given)}", argument=name)
    return value


def _less(one: int | Fraction, other: int | Fraction) -> bool:
    """one < other, by whole numbers: a fraction's own comparison asks what the other one is, which takes longer."""
    return one.numerator * other.denominator < other.numerator * one.denominator


def noise(**argument: Any) -> Real:
    """A noise scale or a privacy parameter that divides: above 0, and not absurdly small."""
    ((name, given),) = argument.items()
    value = real(above=0, **argument)
    if _less(value.low, _SMALLEST):
        raise InputError(f"{name} must be at least 1e-30, not {_shown(given)}", argument=name)
    return value


def probability(**argument: Any) -> Real:
    """A probability: 0 to 1, both allowed."""
    return real(at_least=0, at_most=1, **argument)


def whole(*, at_least: int, at_most: int = MAX_COUNT, **argument: Any) -> int:
    """The named argument as a whole number within the limits; a float that is whole (``1e3``) is one too, as far as
    floats tell neighbouring whole numbers apart.
    """
    ((name, given),) = argument.items()
    if isinstance(given, bool):
        raise InputError(f"{name} must be a whole number, not {described(given)}", argument=name)
    try:
        value = operator.index(given)
    except TypeError:
        if (isinstance(given, Fraction) and given.denominator == 1) or _whole_float(given):
            value = int(given)
        else:
            raise InputError(
                f"{name} must be a whole number, not {_shown(given)} ({type(given).__name__})", argument=name
            ) from None
    if not at_least <= value <= at_most:
        raise InputError(
            f"{name} must be a whole number from {at_least} to {at_most}, not {_shown(given)}", argument=name
        )
    return value


def _whole_float(given: object) -> TypeGuard[float]:
    return isinstance(given, float) and given.is_integer() and abs(given) < 2**53


def listed(**argument: Any) -> list[Any]:
    """The named argument as a list; text and single values are refused."""
    ((name, given),) = argument.items()
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise InputError(f"{name} must be a list, not {described(given)}", argument=name)
    return list(given)


def choice(*, among: tuple[str, ...], **argument: Any) -> str:
    """One of a closed list of words."""
    ((name, given),) = argument.items()
    word = str.__str__(given) if isinstance(given, str) else None
    if word not in among:
        hint = nearest(given, among)
        raise InputError(f"{name} must be one of {', '.join(among)}, not {described(given)}{hint}", argument=name)
    return word


def _range(above: Any, at_least: Any, below: Any, at_most: Any) -> str:
    parts = [
        f"above {above}" if above is not None else "",
        f"at least {at_least}" if at_least is not None else "",
        f"below {below}" if below is not None else "",
        f"at most {at_most}" if at_most is not None else "",
    ]
    return " and ".join(part for part in parts if part)


def _shown(given: object) -> str:
    return given.text() if isinstance(given, Real) and len(given.text()) <= 60 else described(given)
