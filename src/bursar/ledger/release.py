"""What is charged: a composition read exactly, and perhaps the δ at which it is to be priced as one.

In a ledger a float means its shortest decimal and nothing else: a hundred charges of 0.01 exhaust 1.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from bursar.composition import Composition, as_composition
from bursar.errors import BursarError, InputError
from bursar.guarantees import Guarantee
from bursar.jobs.spec import parse
from bursar.ledger.amounts import written
from bursar.mechanisms._base import Mechanism
from bursar.numerics.real import Real
from bursar.numerics.validate import real

Kind = TypeVar("Kind", bound=Guarantee)


class Release:
    """A composition that is charged as one. Prices are remembered for the object, which is made once for equal ones."""

    def __init__(self, composition: Composition, text: str, delta: Fraction | None) -> None:
        self.composition, self.text, self.delta = composition, text, delta

    @property
    def relation(self) -> str:
        """The neighbour relation it is measured under."""
        return self.composition.relation

    @cached_property
    def readable(self) -> bool:
        """Whether its text can be read back; that of a mechanism of one's own cannot."""
        try:
            parse(self.text)
        except BursarError:
            return False
        return True

    def promises(self, kind: type[Kind]) -> list[tuple[Kind, int]]:
        """Each term's best promise of a kind, with its count; `ConversionRefused` names the term that has none."""
        return [(mechanism.promise(kind), count) for mechanism, count in self.composition.terms]

    def request(self) -> dict[str, Any]:
        """As the journal writes it."""
        return {"what": self.text} if self.delta is None else {"what": self.text, "delta": written(self.delta)}


def release_of(what: object, delta: object = None) -> Release:
    """A mechanism, a composition or its text form, as something to be charged."""
    point = None if delta is None else Fraction(real(delta=delta, above=0, below=1))
    if isinstance(what, Release):
        return what
    if isinstance(what, str):
        return _parsed(what, point)
    if not isinstance(what, (Mechanism, Composition)):
        return _made(as_composition(what), point)
    mine = what.__dict__.get(_MINE) if point is None else None
    if isinstance(mine, Release):  # the very object was charged before
        return mine
    text = what.text()  # equal values may be written in several ways, and a key remembers the one that it was used with
    known = _known.get((text, point))
    if known is None:
        known = _made(as_composition(what), point)
        if len(_known) > _MOST_KNOWN:
            _known.clear()
        _known[text, point] = known
    if point is None:
        what.__dict__[_MINE] = known
    return known


_known: dict[tuple[str, Fraction | None], Release] = {}
_MOST_KNOWN = 4096
_MINE = "_release"


@lru_cache(maxsize=4096)
def _parsed(text: str, delta: Fraction | None) -> Release:
    return _made(parse(text), delta)


def _made(composition: Composition, delta: Fraction | None) -> Release:
    if not composition.terms:
        raise InputError("a charge needs at least one release", argument="what")
    nominal = Composition([(_nominal(mechanism), count) for mechanism, count in composition.terms])
    return Release(nominal, composition.text(), delta)


def _nominal(value: Any) -> Any:
    """The same value with every number read as written."""
    if isinstance(value, Real):
        return Real(Fraction(value))
    if isinstance(value, tuple):
        return tuple(_nominal(item) for item in value)
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    copy = object.__new__(type(value))
    for field in dataclasses.fields(value):
        object.__setattr__(copy, field.name, _nominal(getattr(value, field.name)))
    return copy
