"""What makes two written values the same: exact types and fields, one by one, and nobody's own equality.

A class of one's own may leave fields out of its comparison, call itself equal to anything, or keep something beside its
fields. Whatever is merged, remembered or charged as something else must be the same by what is said here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from bursar.errors import InputError, described
from bursar.numerics.real import Real

KEPT = "_bursar_"
"""How the names begin under which something worth computing once is kept with a value: no part of what it is."""
_KEY = f"{KEPT}key"
_PLAIN = frozenset({int, bool, bytes, Fraction, Decimal, type(None)})


class _Shape(NamedTuple):
    """What a dataclass has."""

    fields: tuple[str, ...]
    computed: frozenset[str]
    """What it computes once and keeps under its own name."""
    foreign: bool


class _This:
    """Something that is the same as itself alone."""

    def __init__(self, one: object) -> None:
        self.one = one

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _This) and self.one is other.one

    def __hash__(self) -> int:
        return id(self.one)


def is_foreign(kind: type) -> bool:
    """Whether a class is not bursar's own."""
    return not kind.__module__.startswith("bursar.")


def _shape(kind: type) -> _Shape | None:
    if kind not in _shapes:
        _shapes[kind] = _looked_at(kind)
    return _shapes[kind]


_shapes: dict[type, _Shape | None] = {}  # which is never cleared: classes are few


def _looked_at(kind: type) -> _Shape | None:
    if not dataclasses.is_dataclass(kind):
        return None
    above = [vars(base).items() for base in kind.__mro__]
    computed = {name for members in above for name, member in members if isinstance(member, cached_property)}
    return _Shape(tuple(field.name for field in dataclasses.fields(kind)), frozenset(computed), is_foreign(kind))


def beside(value: object) -> dict[str, Any]:
    """What an object holds beside its fields, and beside what is computed from them once."""
    shape = _shape(type(value))
    if shape is None:
        return {}
    return {
        name: kept
        for name, kept in list(getattr(value, "__dict__", {}).items())
        if name not in shape.fields and not name.startswith(KEPT) and name not in shape.computed
    }


def merge_key(value: object) -> Any:
    """The same for two values only if one may be counted for the other; `InputError` where a field may change."""
    held = getattr(value, "__dict__", {})
    known = held.get(_KEY)
    if known is None:
        known = _key(value, merging=True, readings=False)
        if _shape(type(value)) is not None:
            held[_KEY] = known
    return known


def same(one: object, other: object) -> bool:
    """Whether two values are made of the same types and, field by field, of the same values."""
    return bool(_key(one, merging=False, readings=False) == _key(other, merging=False, readings=False))


def _key(value: Any, *, merging: bool, readings: bool) -> Any:
    """``merging`` counts values of unknown classes as the same if they say so and are written alike; otherwise none is
    the same as another. ``readings`` counts 0.1 exactly and 0.1 as a float as two.
    """
    kind = type(value)
    if kind is Real:  # as whole numbers: the hash of a fraction takes longer than all else here
        return (value, value.low, value.high) if readings else (value.numerator, value.denominator)
    if kind is str:
        return value
    if kind is tuple:
        return (kind, *[_key(item, merging=merging, readings=readings) for item in value])
    if kind in _PLAIN:
        return (kind, value)
    if kind is float:
        return (kind, repr(value))
    shape = _shape(kind)
    if shape is not None:
        # a class of one's own cannot be made again from both readings of its numbers: they are no longer one number
        if merging and (shape.foreign or not readings):
            known = getattr(value, "__dict__", {}).get(_KEY)
            if known is not None:
                return known
        return _of_fields(value, shape, merging, merging and (readings or shape.foreign))
    if isinstance(value, Enum):
        return (kind, value.name)
    if not merging:
        return _This(value)
    hash(value)  # what cannot be hashed may change: a TypeError, which names its field above
    return (kind, str(value), value)


def _of_fields(value: Any, shape: _Shape, merging: bool, readings: bool) -> tuple[Any, ...]:
    kind, parts = type(value), []
    for name in shape.fields:
        try:
            parts.append(_key(getattr(value, name), merging=merging, readings=readings))
        except TypeError:
            given = getattr(value, name)
            raise InputError(
                f"{_named(kind)} holds {described(given)} in its field {name}, a {type(given).__name__}, which may "
                "change: let its constructor make a tuple of it",
                argument=name,
            ) from None
        except AttributeError:
            raise InputError(f"{_named(kind)} was made without its field {name}", argument=name) from None
    more = beside(value)
    return (kind, *parts, *((name, _loose(more[name])) for name in sorted(more)))


def _loose(value: Any) -> Any:
    """The key of something beside the fields, which may be anything; of an unknown kind it is only itself."""
    if isinstance(value, (tuple, list)):
        return (type(value), *map(_loose, value))
    if isinstance(value, dict):
        return (type(value), *((_loose(name), _loose(one)) for name, one in value.items()))
    if isinstance(value, (set, frozenset)):
        return (type(value), frozenset(map(_loose, value)))
    try:
        return _key(value, merging=False, readings=False)
    except InputError:
        return _This(value)


def _named(kind: type) -> str:
    return str(getattr(kind, "name", kind.__qualname__))


def kinds_in(value: object) -> Iterator[type]:
    """The exact types that a value is made of."""
    yield type(value)
    if isinstance(value, tuple):
        for item in value:
            yield from kinds_in(item)
    elif (shape := _shape(type(value))) is not None:
        for name in shape.fields:
            yield from kinds_in(getattr(value, name, None))


def difference(one: Any, other: Any) -> str:
    """Where a value is not what its written form was read back as, as a part of a sentence; empty where it is."""
    if same(one, other):
        return ""
    shape = _shape(type(one))
    if type(one) is not type(other) or (shape is None and not isinstance(one, tuple)):
        kinds = f"({type(one).__name__}) and would be read back as {described(other)} ({type(other).__name__})"
        return f"is {described(one)} {kinds}"
    if shape is None:
        if len(one) != len(other):
            return f"it would be read back as {len(other)} of {len(one)} parts"
        return next(found for found in map(difference, one, other) if found)
    more, its = beside(one), beside(other)
    for name in shape.fields:
        if found := difference(getattr(one, name, None), getattr(other, name, None)):
            return found if type(one).__module__ == "bursar.composition" else f"{_named(type(one))}'s {name} {found}"
    odd = [name for name in dict.fromkeys([*more, *its]) if _loose(more.get(name)) != _loose(its.get(name))]
    return f"{_named(type(one))} holds {', '.join(odd)} beside its fields"


def widest(a: Any, b: Any) -> Any:
    """Of two equal values the one that covers the readings of both: 0.1 as a float and 0.1 exactly are one number."""
    if a is b:
        return a
    if isinstance(a, Real) and isinstance(b, Real):
        if a.low <= b.low and b.high <= a.high:
            return a
        return Real(a, min(a.low, b.low), max(a.high, b.high))
    if isinstance(a, tuple):
        wide = tuple(widest(x, y) for x, y in zip(a, b, strict=True))
        return a if all(x is y for x, y in zip(wide, a, strict=True)) else wide
    if not dataclasses.is_dataclass(a) or is_foreign(type(a)):  # those are merged only where all readings are the same
        return a
    mine = {field.name: getattr(a, field.name) for field in dataclasses.fields(a)}
    wider = {name: widest(value, getattr(b, name)) for name, value in mine.items()}
    if all(wider[name] is value for name, value in mine.items()):
        return a
    copy = object.__new__(type(a))
    for name, value in wider.items():
        object.__setattr__(copy, name, value)
    return copy
