"""What is the same is decided field by field and by exact types, not by what a class says of its own equality."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any

import pytest

import bursar as b
from bursar.composition import Composition
from bursar.identity import beside, difference, merge_key, same
from support.catalogue import EXAMPLES


class Colour(Enum):
    """A value of an own kind that cannot be forged."""

    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Own(b.Mechanism):
    """A class that leaves a field out of its comparison."""

    name = "own"
    one: Any
    other: Any = field(default=0, compare=False)
    relation = "add_remove"

    def claims(self) -> tuple[Any, ...]:
        """Its second field."""
        return (b.guarantees.Claim(b.PureDP(Fraction(self.other)), "declared"),)

    @cached_property
    def derived(self) -> list[int]:
        """Computed once, and no part of what it is."""
        return [1]


@dataclass(frozen=True)
class Equal(Own):
    """A class that is equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


@pytest.mark.parametrize("kind", [Own, Equal])
def test_nothing_is_merged_because_it_says_so(kind: type[Own]) -> None:
    """Every field counts, alone and in wrappers, and nothing is counted for less than it claims."""
    cheap, dear = kind(1, Fraction(1, 100)), kind(1, 1)
    for wrap in (
        lambda one: one,
        lambda one: b.Group(one, size=1),
        lambda one: b.PoissonSampled(one, rate=1),
        b.Disjoint,
        lambda one: b.Disjoint(b.Group(one, size=1), b.Laplace(scale=10**6)),
    ):
        for pair in ((cheap, dear), (dear, cheap)):
            both = Composition([(wrap(pair[0]), 1), (wrap(pair[1]), 20)])
            assert len(both.terms) == 2
        assert b.account(wrap(cheap) + wrap(dear) * 20, delta=0).epsilon.upper >= 20.01
    assert len((kind(1, 1) + kind(1, 1)).terms) == 1


def test_values_of_other_types_are_others() -> None:
    """1 is not True, 0.0 is not -0.0, and a ratio is no number that was read."""
    values = [1, True, 1.0, Fraction(1), b.Laplace(scale=1).scale, "1", (1,), ((1,),), None, Colour.RED, Colour.BLUE]
    values += [0.0, -0.0, b.Laplace(scale=1), b.Laplace(scale=2), b.PureDP(1)]
    owns = [Own(value) for value in values]
    for i, one in enumerate(owns):
        assert [same(one, other) for other in owns] == [i == j for j in range(len(owns))]
    assert len({merge_key(own) for own in owns}) == len(owns)


def test_whatever_is_kept_beside_fields_counts() -> None:
    """Unless it was computed from them once, by the class itself or by bursar."""
    plain, asked, more = Own(1), Own(1), Own(1)
    assert asked.derived == [1]
    asked.promise(b.PureDP), asked.text(), merge_key(asked)
    more._set(sens=[20])
    assert beside(asked) == {}
    assert beside(more) == {"sens": [20]}
    assert same(plain, asked)
    assert len((plain + asked).terms) == 1
    assert not same(plain, more)
    assert len((plain + more).terms) == 2
    assert difference(more, plain) == "own holds sens beside its fields"


def test_values_of_unknown_kinds_are_never_read_back() -> None:
    """Nobody knows what they hide: equal ones that are written alike are merged, and none is taken for another."""

    class Foreign:
        def __str__(self) -> str:
            return "word"

    thing = Foreign()
    assert not same(Own(Foreign()), Own(Foreign()))
    assert len((Own(thing) + Own(thing)).terms) == 1
    assert len((Own(thing) + Own(Foreign())).terms) == 2


@pytest.mark.parametrize("changing", [[1], {"a": 1}, {1}, ([1],)])
def test_a_field_that_may_change_is_named(changing: Any) -> None:
    """A list, also inside a tuple: a sentence, when something is composed of it."""
    with pytest.raises(b.InputError, match=r"own holds .* in its field one, a (list|dict|set|tuple), which may change"):
        Own(changing) * 2


def test_a_field_that_was_left_out_is_named() -> None:
    """A constructor that forgot one."""

    @dataclass(frozen=True, init=False)
    class Forgot(Own):
        name = "forgot"

        def __init__(self) -> None:
            self._set(other=1)

    with pytest.raises(b.InputError, match="forgot was made without its field one"):
        Forgot() * 2


def test_two_readings_of_a_number_are_one_in_the_catalogue_alone() -> None:
    """0.1 and 1/10 become one term that covers both; a class of one's own cannot be made so, and stays two terms."""
    for wide, exact in ((b.Laplace(scale=0.3), b.Laplace(scale="0.3")), (b.Laplace(scale="0.3"), b.Laplace(scale=0.3))):
        (term,) = (wide + exact).terms
        assert term.count == 2
        assert (term.mechanism.scale.low, term.mechanism.scale.high) == (Fraction(0.3), Fraction(3, 10))
    assert len((Own(b.Laplace(scale=0.3)) + Own(b.Laplace(scale="0.3"))).terms) == 2
    assert len((b.Group(Own(b.PureDP(0.3).epsilon), size=2) + b.Group(Own(b.PureDP("0.3").epsilon), size=2)).terms) == 2


def test_every_mechanism_is_the_same_as_its_copy() -> None:
    """A law over the catalogue: made again it is the same, and different ones have different keys."""
    for one in EXAMPLES:
        again = b.from_json(b.to_json(one)).terms[0].mechanism
        assert same(one, again)
        assert merge_key(one) == merge_key(again)
        assert difference(one, again) == ""
    assert len({merge_key(one) for one in EXAMPLES}) == len(set(EXAMPLES))
