"""Sums of many mechanisms: as many steps as there are mechanisms, and the same value however it was added up."""

from __future__ import annotations

import copy
import operator
import pickle
import threading
from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bursar as b
from bursar import composition
from bursar.numerics.validate import MAX_COUNT

KINDS: tuple[Callable[[int], b.Mechanism], ...] = (
    lambda i: b.Gaussian(10 + i),
    lambda i: b.Laplace(20 + i),
    lambda i: b.RandomizedResponse(f"{i + 1}/1000"),
    lambda i: b.PoissonSampled(b.Gaussian(1 + i), "1/100"),
)


def mechanisms(n: int) -> list[b.Mechanism]:
    """So many different ones, of four kinds."""
    return [KINDS[i % 4](i) for i in range(n)]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many terms each merging had to look at."""
    seen: list[int] = []
    merged = composition._merged

    def counted(terms: Any) -> Any:
        listed = list(terms)
        seen.append(len(listed))
        return merged(listed)

    monkeypatch.setattr(composition, "_merged", counted)
    return seen


@pytest.mark.parametrize(
    "add",
    [
        lambda parts: sum(parts, b.Composition()),
        sum,
        lambda parts: reduce(operator.add, parts),
        lambda parts: reduce(lambda whole, one: one + whole, parts),
        lambda parts: reduce(operator.add, [part * 1 for part in parts]),
    ],
    ids=["sum from nothing", "sum", "plus", "plus from the left", "compositions"],
)
def test_a_sum_takes_as_many_steps_as_it_has_terms(steps: list[int], add: Callable[[Any], b.Composition]) -> None:
    """What is merged, in all, grows as the number of mechanisms does, whichever way they are added."""
    work = {}
    for n in (500, 2000):
        parts = mechanisms(n)
        steps.clear()
        assert len(add(parts).terms) == n
        work[n] = sum(steps)
    assert work[2000] <= 5 * work[500] <= 5 * 4 * 500


DOINGS: dict[str, Callable[[b.Composition], Any]] = {
    "hash": hash,
    "str": str,
    "repr": repr,
    "to_json": b.to_json,
    "equality": lambda c: c == copy.copy(c),
    "times": lambda c: c * 3,
}


@pytest.mark.parametrize("do", DOINGS.values(), ids=DOINGS)
def test_what_is_done_with_a_sum_is_linear(steps: list[int], do: Callable[[b.Composition], Any]) -> None:
    """Hashing, writing, comparing and repeating merge the terms a few times at most."""
    whole = sum(mechanisms(300), b.Composition())
    steps.clear()
    do(whole)
    assert sum(steps) <= 4 * 300


def test_a_hundred_thousand_mechanisms() -> None:
    """They are added, merged and forgotten again, without running out of stack."""
    parts = [b.Gaussian(1 + i % 1000) for i in range(1000)] * 100
    whole = sum(parts, b.Composition())
    assert whole.count == len(parts)
    assert len(whole.terms) == 1000
    assert all(term.count == 100 for term in whole)
    del whole


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3)), max_size=12), st.randoms(use_true_random=False))
def test_however_it_is_added_up_it_is_the_same(pairs: list[tuple[int, int]], rng: Any) -> None:
    """Lists, sums in any order and sums of sums are one value, with one hash, one text and one count."""
    pool = mechanisms(9)
    terms = [(pool[i], count) for i, count in pairs]
    listed = b.Composition(terms)
    parts: list[Any] = [one * count for one, count in terms] + [b.Composition()]
    while len(parts) > 1:
        rng.shuffle(parts)
        one, other = parts.pop(), parts.pop()
        if rng.random() < 0.3:
            _ = one.terms  # somebody looked
        parts.append(one + other)
    assert parts[0].count == listed.count == len(listed)
    assert parts[0].relation == listed.relation
    assert parts[0] == listed
    assert hash(parts[0]) == hash(listed)
    assert str(parts[0]) == str(listed)
    assert pickle.loads(pickle.dumps(parts[0] + pool[0])) == listed + pool[0]


def test_readings_are_joined_whenever_they_are_merged() -> None:
    """0.1 as a float and 0.1 exactly are one mechanism, which covers both readings, also where it is merged late."""
    late = b.Laplace(0.1) + b.Gaussian(1) + b.Laplace("0.1")
    (wide,) = [term for term in late if term.mechanism.name == "laplace"]
    assert wide.count == 2
    assert wide.mechanism.scale.low < wide.mechanism.scale.high


def test_mistakes_are_told_where_they_are_made() -> None:
    """Relations that differ, and counts beyond the limit, are refused by the very addition, not by who looks later."""
    whole = b.Gaussian(1) + b.Laplace(1)
    with pytest.raises(b.errors.RelationMismatch):
        whole + b.Gaussian(1, relation="replace_one")
    with pytest.raises(b.errors.RelationMismatch):
        whole + (b.Gaussian(1, relation="replace_one") + b.Gaussian(2, relation="replace_one"))
    with pytest.raises(b.InputError, match="count must be"):
        b.Gaussian(1) * MAX_COUNT + b.Gaussian(1)
    assert (b.Gaussian(1) * MAX_COUNT + b.Gaussian(2)).count == MAX_COUNT + 1
    with pytest.raises(TypeError):
        whole + 1  # type: ignore[operator]


def test_two_who_add_to_the_same_sum_do_not_meet() -> None:
    """Sums share what they have in common, and nothing else; many may look at the same one at once."""
    common = sum(mechanisms(200), b.Composition())
    one, other = common + b.Gaussian("1/3"), common + b.Gaussian("1/7")
    assert len({*one} - {*other}) == len({*other} - {*one}) == 1
    shared, found = sum(mechanisms(2000), b.Composition()), []
    threads = [threading.Thread(target=lambda: found.append(len(shared.terms))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2000] * 8


def test_an_unfilled_value_has_no_terms() -> None:
    """A composition that nobody filled says so, as objects do, instead of searching for what it was made of."""
    empty = object.__new__(b.Composition)
    assert not hasattr(empty, "terms")
    assert not hasattr(b.Composition(), "nothing_like_it")
