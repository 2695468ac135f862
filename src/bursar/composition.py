"""A composition: which mechanisms, and how many times each. The only place that knows counts.

A composition is a value, a normalised multiset: equal mechanisms are one term whatever the order in which they came,
so ``m * 7 == m + m + … + m``, and no theorem can forget a count.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from flint import arb

from bursar.errors import InputError, RelationMismatch, described
from bursar.guarantees import Guarantee
from bursar.identity import KEPT, is_foreign, merge_key
from bursar.losses import Leaks
from bursar.numerics.balls import Ball, positive_part, working
from bursar.numerics.real import Real
from bursar.numerics.validate import MAX_COUNT, whole
from bursar.relations import ADD_REMOVE

if TYPE_CHECKING:
    from bursar.mechanisms._base import Mechanism

Kind = TypeVar("Kind", bound=Guarantee)
_MERGED = f"{KEPT}merged"


class Composable:
    """What compositions are made of: ``m * 7`` and ``m + n`` make one. Every `Mechanism` is."""

    def __mul__(self, count: int) -> Composition:
        assert _is_mechanism(self)
        return Composition([(self, count)])

    __rmul__ = __mul__

    def __add__(self, other: object) -> Composition:
        return self * 1 + other

    __radd__ = __add__


def _is_mechanism(value: object) -> TypeGuard[Mechanism]:
    """Whether a value can be composed: mechanisms alone can, and build on this module."""
    return isinstance(value, Composable)


@dataclass(frozen=True)
class Term:
    """One mechanism and how often it runs."""

    mechanism: Mechanism
    count: int

    def __iter__(self) -> Iterator[Any]:
        yield self.mechanism
        yield self.count


def _written(term: Term) -> str:
    return term.mechanism.text()


@dataclass(frozen=True, init=False, repr=False)
class Composition:
    """Releases about the same data, queries chosen adaptively, parameters fixed in advance. Empty is allowed, and costs
    nothing.
    """

    terms: tuple[Term, ...]

    def __init__(self, terms: Iterable[Term | tuple[Mechanism, int]] = ()) -> None:
        merged: dict[Any, Term] = {}
        for given, count in _pairs(terms):
            if not _is_mechanism(given):
                raise InputError(f"a composition is made of mechanisms, not {described(given)}", argument="mechanism")
            times = whole(count=count, at_least=0, at_most=MAX_COUNT)
            key = merge_key(given)  # a class of one's own may call itself equal to another
            before = merged.get(key)
            if before is not None:
                merged[key] = Term(_widest(before.mechanism, given), before.count + times)
            elif times:
                merged[key] = Term(given, times)
        object.__setattr__(self, "terms", tuple(sorted(merged.values(), key=_written)))
        object.__setattr__(self, _MERGED, merged)
        _check(self.terms)

    @property
    def count(self) -> int:
        """How many releases in all."""
        return sum(term.count for term in self.terms)

    @property
    def relation(self) -> str:
        """The neighbour relation that all its mechanisms share."""
        return self.terms[0].mechanism.relation if self.terms else ADD_REMOVE

    def promise(self, kind: type[Kind]) -> Kind:
        """The promise of this kind for the whole: every term's best one, composed. `ConversionRefused` names the term
        that has none.
        """
        promises = []
        for mechanism, count in self.terms:
            promises.append((mechanism.promise(kind), count))
        return kind.compose(promises)

    def leaks(self) -> Leaks:
        """How likely at least some release certainly reveals everything: 1 − Π(1 − leak)^count, by direction."""
        with working():
            parts = [(mechanism.leaks(), count) for mechanism, count in self.terms]
            removed = _some([(part.removed, count) for part, count in parts])
            same = all(part.same for part, _ in parts)
            added = removed if same else _some([(part.added, count) for part, count in parts])
            return Leaks(removed, added, _some([(part.shown, count) for part, count in parts]))

    def text(self) -> str:
        """The text form, which `bursar.parse` reads back."""
        if not self.terms:
            return "nothing"
        return " + ".join(
            mechanism.text() if count == 1 else f"{mechanism.text()}*{count}" for mechanism, count in self.terms
        )

    def to_dict(self) -> list[dict[str, Any]]:
        """The terms in JSON form."""
        return [{"mechanism": mechanism.to_dict(), "count": count} for mechanism, count in self.terms]

    def __getstate__(self) -> dict[str, Any]:
        return {"terms": self.terms}  # what others remember about this object is not its copies'

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        if not self.terms:
            return "Composition()"
        return " + ".join(repr(m) if count == 1 else f"{m!r} * {count}" for m, count in self.terms)

    def __iter__(self) -> Iterator[Term]:
        return iter(self.terms)

    def __len__(self) -> int:
        return self.count

    def __add__(self, other: object) -> Composition:
        if _is_mechanism(other):
            found = self._with(other, 1)
            return Composition([*self.terms, (other, 1)]) if found is None else found
        if isinstance(other, Composition):
            found = self._with(*other.terms[0]) if len(other.terms) == 1 else None
            return Composition([*self.terms, *other.terms]) if found is None else found
        if other == 0 and isinstance(other, int):  # so that sum() works
            return self
        return NotImplemented

    def _with(self, one: Mechanism, count: int) -> Composition | None:
        """The same with one more term, in its place: long sums need not be sorted anew; None where that is not all."""
        known: dict[Any, Term] = getattr(self, _MERGED, {})
        if not known or one.relation != self.relation:
            return None
        before, terms = known.get(key := merge_key(one)), list(self.terms)
        if before is None:
            bisect.insort_right(terms, term := Term(one, count), key=_written)
        elif _widest(before.mechanism, one) is before.mechanism and before.count + count <= MAX_COUNT:
            terms[terms.index(before)] = term = Term(before.mechanism, before.count + count)
        else:
            return None
        made = object.__new__(Composition)
        object.__setattr__(made, "terms", tuple(terms))
        object.__setattr__(made, _MERGED, {**known, key: term})
        return made

    __radd__ = __add__

    def __mul__(self, times: int) -> Composition:
        repeats = whole(count=times, at_least=0, at_most=MAX_COUNT)
        return Composition([(mechanism, count * repeats) for mechanism, count in self.terms])

    __rmul__ = __mul__


def _some(chances: Iterable[tuple[Ball, int]]) -> Ball:
    """A lower bound of the chance that any of independent events occurs."""
    kept = arb(0)
    for chance, count in chances:
        least = positive_part(chance.lower())
        if least >= 1:
            return arb(1)
        kept += count * (-least).log1p()
    return positive_part(-kept.expm1()).lower()


def _pairs(terms: object) -> Iterator[tuple[Any, Any]]:
    """Each (mechanism, count), or a clear refusal."""
    if isinstance(terms, (str, bytes)) or not isinstance(terms, Iterable):
        raise InputError(f"a composition is a list of (mechanism, count), not {described(terms)}", argument="terms")
    for term in terms:
        if not isinstance(term, (Term, tuple, list)) or len(pair := list(term)) != 2:
            raise InputError(f"a term must be (mechanism, count), not {described(term)}", argument="terms")
        yield pair[0], pair[1]


def as_composition(what: object) -> Composition:
    """A mechanism or a composition as a composition."""
    if isinstance(what, Composition):
        return what
    if _is_mechanism(what):
        return what * 1
    hint = "; bursar.parse() reads text" if isinstance(what, str) else ""
    raise InputError(f"expected a mechanism or a composition, not {described(what)}{hint}", argument="composition")


def _check(terms: tuple[Term, ...]) -> None:
    if any(term.count > MAX_COUNT for term in terms):
        raise InputError(f"count must be a whole number from 0 to {MAX_COUNT}, in each term", argument="count")
    relations = sorted({term.mechanism.relation for term in terms})
    if len(relations) > 1:
        raise RelationMismatch(
            f"releases under {' and '.join(relations)} cannot be added up: state all of them under one relation",
            argument="relation",
        )


def _widest(a: Any, b: Any) -> Any:
    """Of two equal values the one that covers the readings of both: 0.1 as a float and 0.1 exactly are one number."""
    if a is b:
        return a
    if isinstance(a, Real) and isinstance(b, Real):
        if a.low <= b.low and b.high <= a.high:
            return a
        return Real(a, min(a.low, b.low), max(a.high, b.high))
    if isinstance(a, tuple):
        wide = tuple(_widest(x, y) for x, y in zip(a, b, strict=True))
        return a if all(x is y for x, y in zip(wide, a, strict=True)) else wide
    if not dataclasses.is_dataclass(a) or is_foreign(type(a)):  # those are merged only where all readings are the same
        return a
    mine = {field.name: getattr(a, field.name) for field in dataclasses.fields(a)}
    wider = {name: _widest(value, getattr(b, name)) for name, value in mine.items()}
    if all(wider[name] is value for name, value in mine.items()):
        return a
    copy = object.__new__(type(a))
    for name, value in wider.items():
        object.__setattr__(copy, name, value)
    return copy
