"""Reading dimensions and ranges as people give them; each refused by name where it cannot be meant."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bursar.errors import InputError, described
from bursar.ledger.journal.blocks import MOST_BLOCKS

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")
_TAKEN = ("self", "what", "key", "by", "delta", "ledger", "name", "count")
_MOST_DIMENSIONS = 8


def dimensions_of(given: Any) -> list[tuple[str, int]]:
    """Names and sizes of a new grid."""
    if not isinstance(given, Mapping) or not 1 <= len(given) <= _MOST_DIMENSIONS:
        raise InputError(
            f"dimensions must be one to {_MOST_DIMENSIONS} names with sizes, such as {{'day': 365}}, not "
            f"{described(given)}",
            argument="dimensions",
        )
    sizes: dict[str, int] = {}
    for name, size in given.items():
        if not isinstance(name, str) or not _NAME.match(name) or name in _TAKEN:
            raise InputError(
                "a dimension's name is a lower-case word that is no other argument's name "
                f"({', '.join(_TAKEN)}), not {described(name)}",
                argument="dimensions",
            )
        many = _number(size)
        if many is None or many.denominator != 1 or many < 1:
            raise InputError(
                f"the size of {name} must be a whole number from 1 on, not {described(size)}", argument="dimensions"
            )
        sizes[name] = int(many)
    blocks = math.prod(sizes.values())
    if blocks > MOST_BLOCKS:
        raise InputError(f"these are {blocks} blocks, more than {MOST_BLOCKS}", argument="dimensions")
    return list(sizes.items())


def ranges_of(dimensions: Sequence[tuple[str, int]], given: Mapping[str, Any]) -> tuple[tuple[int, int], ...]:
    """A half-open range for each dimension, rounded outward; a dimension that is not named is meant whole."""
    sizes: dict[str, int] = dict(dimensions)
    for name in given:
        if name not in sizes:
            raise InputError(f"there is no dimension {name!r}, only {', '.join(sizes)}", argument=name)
    return tuple(_range(name, given.get(name), size) for name, size in sizes.items())


def _range(name: str, given: Any, size: int) -> tuple[int, int]:
    if given is None:
        return 0, size
    whole = _number(given)
    if whole is not None and whole.denominator == 1:
        first, last = int(whole), int(whole) + 1
    elif isinstance(given, (tuple, list)) and len(given) == 2 and None not in (ends := [_number(end) for end in given]):
        first, last = math.floor(ends[0] or 0), math.ceil(ends[1] or 0)
    else:
        raise InputError(
            f"{name} must be a whole number, or a range (first, end) without its end, not {described(given)}",
            argument=name,
        )
    if not 0 <= first < last <= size:
        raise InputError(f"{name} must lie within (0, {size}) and not be empty, not {described(given)}", argument=name)
    return first, last


def _number(given: Any) -> Fraction | None:
    """An exact number; None where there is none."""
    if isinstance(given, bool):
        return None
    if isinstance(given, Fraction) or (isinstance(given, float) and math.isfinite(given)):
        return Fraction(given)
    try:
        return Fraction(operator.index(given))
    except TypeError:
        return None
