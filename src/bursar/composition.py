"""A composition: which mechanisms, and how many times each. The only place that knows counts.

A composition is a value, a normalised multiset: equal mechanisms are one term whatever the order in which they came,
so ``m * 7 == m + m + … + m``, and no theorem can forget a count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from bursar.errors import InputError, RelationMismatch, described
from bursar.guarantees import Guarantee
from bursar.identity import KEPT, merge_key, widest
from bursar.losses import Leaks
from bursar.numerics.balls import some_of, working
from bursar.numerics.validate import MAX_COUNT, whole
from bursar.presented import LONGEST, Named, Presented, cut
from bursar.relations import ADD_REMOVE

if TYPE_CHECKING:
    from bursar.mechanisms._base import Mechanism

Kind = TypeVar("Kind", bound=Guarantee)
_SUM = f"{KEPT}sum"
"""A composition and the terms added to it, where they are not merged yet."""
_SIZE = f"{KEPT}size"


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


@dataclass(frozen=True, repr=False)
class Term(Presented):
    """One mechanism and how often it runs."""

    mechanism: Mechanism
    count: int

    def __str__(self) -> str:
        return self.mechanism.text() if self.count == 1 else f"{self.mechanism.text()}*{self.count}"

    def __iter__(self) -> Iterator[Any]:
        yield self.mechanism
        yield self.count


@dataclass(frozen=True, init=False, repr=False)
class Composition(Named):
    """Releases about the same data, queries chosen adaptively, parameters fixed in advance. Empty is allowed, and costs
    nothing.
    """

    terms: tuple[Term, ...]

    def __init__(self, terms: Iterable[Term | tuple[Mechanism, int] | Mechanism | Composition] = ()) -> None:
        checked = []
        for given, count in _pairs(terms):
            if not _is_mechanism(given):
                raise InputError(f"a composition is made of mechanisms, not {described(given)}", argument="mechanism")
            checked.append(Term(given, whole(count=count, at_least=0, at_most=MAX_COUNT)))
        self._keep(_merged(checked))

    def _keep(self, terms: tuple[Term, ...]) -> tuple[Term, ...]:
        """Say what the terms are. Others may look meanwhile: the sum goes when they are there."""
        _check(terms)
        self.__dict__["terms"] = terms
        self.__dict__.pop(_SUM, None)
        return terms

    def __getattr__(self, name: str) -> Any:
        """The terms of a sum, which are merged when somebody looks: adding n mechanisms one by one takes n steps."""
        parts: list[tuple[Term, ...]] = []
        left: Composition = self
        while name == "terms" and "terms" not in left.__dict__:
            step = left.__dict__.get(_SUM)
            if step is not None:
                left, more = step
                parts.append(more)
            elif "terms" not in left.__dict__:  # nobody merged them meanwhile: it was never filled
                name = "terms of its own"
        if name != "terms":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self._keep(_merged([*left.terms, *(term for part in reversed(parts) for term in part)]))

    def _size(self) -> tuple[int, int]:
        """At most how many terms there are, and exactly how many releases."""
        known = self.__dict__
        if _SIZE not in known:
            known[_SIZE] = len(self.terms), sum(term.count for term in self.terms)
        size: tuple[int, int] = known[_SIZE]
        return size

    @property
    def count(self) -> int:
        """How many releases in all."""
        return self._size()[1]

    @property
    def relation(self) -> str:
        """The neighbour relation that all its mechanisms share."""
        _, last = self.__dict__.get(_SUM) or (self, self.terms)
        return last[0].mechanism.relation if last else ADD_REMOVE

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
            removed = some_of([(part.removed, count) for part, count in parts])
            same = all(part.same for part, _ in parts)
            added = removed if same else some_of([(part.added, count) for part, count in parts])
            return Leaks(removed, added, some_of([(part.shown, count) for part, count in parts]))

    def text(self) -> str:
        """The text form, which `bursar.parse` reads back."""
        if not self.terms:
            return "nothing"
        return " + ".join(map(str, self.terms))

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
        whole = " + ".join(repr(m) if count == 1 else f"{m!r} * {count}" for m, count in self.terms)
        size = f" ({len(self.terms)} different mechanisms, {self.count} releases)"
        return whole if len(whole) <= LONGEST else cut(whole, LONGEST - len(size)) + size

    def __iter__(self) -> Iterator[Term]:
        return iter(self.terms)

    def __len__(self) -> int:
        return self.count

    def __add__(self, other: object) -> Composition:
        if _is_mechanism(other):
            return self._with((Term(other, 1),), other.relation)
        if isinstance(other, Composition):
            few, many = sorted((self, other), key=lambda one: one._size()[0])
            return many._with(few.terms, few.relation) if few.terms else many
        if other == 0 and isinstance(other, int):  # so that sum() works
            return self
        return NotImplemented

    def _with(self, more: tuple[Term, ...], relation: str) -> Composition:
        """This and a few terms more, each of which is checked now and merged with the others later."""
        for term in more:
            merge_key(term.mechanism)
        size, count = self._size()
        size, count = size + len(more), count + sum(term.count for term in more)
        made = object.__new__(Composition)
        if count > MAX_COUNT or (size > len(more) and relation != self.relation):
            made._keep(_merged([*self.terms, *more]))  # which says what is wrong, if anything is
        else:
            made.__dict__.update({_SUM: (self, more), _SIZE: (size, count)})
        return made

    __radd__ = __add__

    def __mul__(self, times: int) -> Composition:
        repeats = whole(count=times, at_least=0, at_most=MAX_COUNT)
        return Composition([(mechanism, count * repeats) for mechanism, count in self.terms])

    __rmul__ = __mul__


def _pairs(terms: object) -> Iterator[tuple[Any, Any]]:
    """Each (mechanism, count), or a clear refusal."""
    if isinstance(terms, (str, bytes)) or not isinstance(terms, Iterable):
        raise InputError(
            f"a composition is a list of mechanisms, or of (mechanism, count), not {described(terms)}", argument="terms"
        )
    for term in terms:
        if isinstance(term, Composition) or _is_mechanism(term):
            yield from ((part.mechanism, part.count) for part in (term * 1).terms)
        elif not isinstance(term, (Term, tuple, list)) or len(pair := list(term)) != 2:
            raise InputError(f"a term is a mechanism or (mechanism, count), not {described(term)}", argument="terms")
        else:
            yield pair[0], pair[1]


def as_composition(what: object) -> Composition:
    """A mechanism or a composition as a composition."""
    if isinstance(what, Composition):
        return what
    if _is_mechanism(what):
        return what * 1
    hint = "; bursar.parse() reads text" if isinstance(what, str) else ""
    raise InputError(f"expected a mechanism or a composition, not {described(what)}{hint}", argument="composition")


def _merged(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Equal mechanisms as one term, in the order of their texts."""
    merged: dict[Any, Term] = {}
    for term in terms:
        key = merge_key(term.mechanism)  # a class of one's own may call itself equal to another
        before = merged.get(key)
        if before is not None:
            merged[key] = Term(widest(before.mechanism, term.mechanism), before.count + term.count)
        elif term.count:
            merged[key] = term
    if len(merged) < 2:  # no order: its text, which takes longer than all else here, may never be asked for
        return tuple(merged.values())
    return tuple(sorted(merged.values(), key=lambda term: term.mechanism.text()))


def _check(terms: tuple[Term, ...]) -> None:
    if any(term.count > MAX_COUNT for term in terms):
        raise InputError(f"count must be a whole number from 0 to {MAX_COUNT}, in each term", argument="count")
    relations = sorted({term.mechanism.relation for term in terms})
    if len(relations) > 1:
        raise RelationMismatch(
            f"releases under {' and '.join(relations)} cannot be added up: state all of them under one relation",
            argument="relation",
        )
