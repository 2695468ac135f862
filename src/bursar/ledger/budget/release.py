"""What is charged: a composition read exactly, and perhaps the δ at which it is to be priced as one.

A release is what its text says. Whatever is given, a value or a text, is charged as the composition that the text means
when it is read; a value of another class, or of another's name, has no such text and is refused here, once, before
anybody asks what it costs. So prices may be remembered by text.

In a ledger a float means its shortest decimal and nothing else: a hundred charges of 0.01 exhaust 1.
"""

from __future__ import annotations

import dataclasses
import inspect
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from bursar.composition import Composition, as_composition
from bursar.errors import CostInvalid, InputError, SpecError
from bursar.guarantees import Guarantee
from bursar.identity import KEPT, is_foreign, merge_key, same
from bursar.jobs.spec import parse, read_back
from bursar.jobs.spec_text import Reader
from bursar.ledger.budget.amounts import written
from bursar.mechanisms._base import Mechanism
from bursar.mechanisms._foreign import named
from bursar.numerics.real import Real
from bursar.numerics.validate import real

Kind = TypeVar("Kind", bound=Guarantee)


class Release:
    """A composition that is charged as one. To decide on it, its texts are enough; to price it, it is read."""

    def __init__(
        self,
        text: str,
        delta: Fraction | None,
        relation: str,
        terms: tuple[tuple[str, int], ...],
        order: tuple[int, ...] | None = None,
    ) -> None:
        self.text, self.delta, self.relation = text, delta, relation
        self.terms = terms
        """Each mechanism's text, with its count."""
        self.order = tuple(range(len(terms))) if order is None else order
        """The places of the terms in the order in which they are priced, one after another: by their texts with every
        number as a ratio (0.07 as 7/100). Other orders are as sound, but each has its own price, and a charge must have
        the same one whenever it is computed anew.
        """
        self.mark = (text, delta)
        self.count = sum(count for _, count in terms)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Release, (self.text, self.delta, self.relation, self.terms, self.order))

    def at(self, delta: Fraction | None) -> Release:
        """The same, to be priced at this δ, and nothing that is remembered about it."""
        return Release(self.text, delta, self.relation, self.terms, self.order)

    @cached_property
    def meant(self) -> Composition:
        """What the text means."""
        return parse(self.text)

    @cached_property
    def mechanisms(self) -> tuple[Mechanism, ...]:
        """Those of its terms, in their order, every number as written."""
        return tuple(_nominal(mechanism) for mechanism, _ in self.meant.terms)

    @cached_property
    def composition(self) -> Composition:
        """All of them; its terms may stand in another order."""
        counts = (count for _, count in self.terms)
        return Composition(list(zip(self.mechanisms, counts, strict=True)))

    def promises(self, kind: type[Kind]) -> list[Kind]:
        """Each term's best promise of a kind; `ConversionRefused` names the term that has none."""
        return [mechanism.promise(kind) for mechanism in self.mechanisms]

    def request(self) -> dict[str, Any]:
        """What is asked, as the journal writes it."""
        return {"what": self.text} if self.delta is None else {"what": self.text, "delta": written(self.delta)}


def point_of(delta: object) -> Fraction | None:
    """The δ at which a composition is to be priced as one."""
    return None if delta is None else Fraction(real(delta=delta, above=0, below=1))


def release_of(what: object, delta: object = None) -> Release:
    """A mechanism, a composition or its text form, as something to be charged."""
    point = point_of(delta)
    if isinstance(what, Release):
        return what if point in (None, what.delta) else what.at(point)
    if isinstance(what, str):
        # of the exact type: a class of one's own may call itself equal to any text that is remembered here
        text = str.__str__(what)
        return known_text(text, point) or remembered(text, point, _made(parse(text), point))
    if not isinstance(what, (Mechanism, Composition)):
        return _made(as_composition(what), point)
    mine = what.__dict__.get(_MINE) if point is None else None
    if isinstance(mine, Release):  # the very object was charged before
        return mine
    # equal values may be written in several ways, and a key remembers the one that it was used with
    key = (merge_key(what), str.__str__(what.text()), point)
    known = _values.get(key)
    if known is None:
        known = _made(as_composition(what), point)
        if len(_values) > _MOST_KNOWN:
            _values.clear()
        _values[key] = known
    if point is None:
        what.__dict__[_MINE] = known
    return known


def spelled(text: str) -> tuple[Fraction | str, ...]:
    """A text apart from the way in which its numbers are written: the same for two texts that mean the same release in
    a ledger, where 0.5 is 1/2. Nothing is made of it, so that it takes no time.
    """
    return tuple(Fraction(token.text) if token.kind == "number" else token.text for token in Reader(text).tokens)


def known_text(text: str, delta: Fraction | None) -> Release | None:
    """The release that a text means, if it was read before."""
    return _texts.get((text, delta))


def remembered(text: str, delta: Fraction | None, release: Release) -> Release:
    """Keep what a text was found to mean, here or in another process."""
    if len(_texts) > _MOST_KNOWN:
        _texts.clear()
    _texts[text, delta] = release
    return release


_values: dict[Any, Release] = {}
_texts: dict[tuple[str, Fraction | None], Release] = {}
_MOST_KNOWN = 4096
_MINE = f"{KEPT}release"


def _made(composition: Composition, delta: Fraction | None) -> Release:
    if not composition.terms:
        raise InputError("a charge needs at least one release", argument="what")
    try:
        meant = read_back(composition)
        nominal = [_nominal(mechanism) for mechanism, _ in meant.terms]
    except SpecError as problem:
        raise CostInvalid(str(problem)) from None
    terms = tuple((mechanism.text(), count) for mechanism, count in meant.terms)
    order = tuple(sorted(range(len(terms)), key=lambda term: nominal[term].text()))
    made = Release(meant.text(), delta, meant.relation, terms, order)
    made.__dict__.update(meant=meant, mechanisms=tuple(nominal))
    return made


def _nominal(value: Any) -> Any:
    """The same value with every number read as written."""
    if isinstance(value, Real):
        return value if value.exact else Real(Fraction(value))
    if isinstance(value, tuple):
        items = tuple(_nominal(item) for item in value)
        return value if all(one is other for one, other in zip(items, value, strict=True)) else items
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    given = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    fields = {name: _nominal(part) for name, part in given.items()}
    if all(fields[name] is part for name, part in given.items()):
        return value
    if is_foreign(type(value)):
        return _made_again(value, fields)
    copy = object.__new__(type(value))
    for name, part in fields.items():
        object.__setattr__(copy, name, part)
    return copy


def _made_again(value: Any, fields: dict[str, Any]) -> Any:
    """A class of one's own may keep more than its fields, derived from them: its constructor knows what."""
    kind = type(value)
    taken = {name: part for name, part in fields.items() if name in inspect.signature(kind).parameters}
    try:
        with named(f"{kind.name} cannot be made again from its fields"):
            copy = kind(**taken)
    except InputError as problem:
        raise CostInvalid(str(problem)) from problem
    if not same(tuple(getattr(copy, name, None) for name in fields), tuple(fields.values())):
        raise CostInvalid(f"{kind.name} is something else when it is made again from its fields")
    return copy
