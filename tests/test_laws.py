"""Laws that hold for every mechanism of the catalogue, whatever the theorems say."""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bursar as b
from bursar.guarantees import Tightness
from bursar.theorems import Bound
from support.catalogue import (
    ADD,
    CHEAPER,
    EXAMPLES,
    QUESTIONS,
    REPLACE,
    SLOW,
    account,
    compositions,
    mechanisms,
    spread,
)

every_example = pytest.mark.parametrize("mechanism", spread(EXAMPLES), ids=str)
both_questions = pytest.mark.parametrize("question", QUESTIONS[:2], ids=str)


def said(composition: b.Composition, **question: object) -> str:
    """The whole report, as machines read it."""
    return json.dumps(account(composition, **question).to_dict())


def answer(composition: b.Composition | b.Mechanism, **question: object) -> Bound:
    """The interval alone."""
    return account(composition, **question).bound


@every_example
def test_repeating_is_adding(mechanism: b.Mechanism) -> None:
    """Four times a mechanism is the mechanism added four times: one value, one hash, one text."""
    added, repeated = mechanism + mechanism + mechanism + mechanism, mechanism * 4
    assert added == repeated == 4 * mechanism == (mechanism * 2) * 2 == b.Composition([(mechanism, 1)] * 4)
    assert hash(added) == hash(repeated)
    assert str(added) == str(repeated)
    assert added.count == len(repeated) == 4


@every_example
@both_questions
def test_repeating_costs_what_adding_costs(mechanism: b.Mechanism, question: dict[str, object]) -> None:
    """A loop of four releases and one release with count four get the same report to the last digit."""
    added = sum(pickle.loads(pickle.dumps(mechanism)) for _ in range(4))
    assert said(added, **question) == said(mechanism * 4, **question)


@every_example
def test_no_theorem_forgets_a_count(mechanism: b.Mechanism) -> None:
    """Each theorem that bills one release with more than nothing bills fifty with more than one."""
    one = {row.id: row.bound for row in account(mechanism, delta=1e-6).rows if row.bound is not None}
    for row in account(mechanism * 50, delta=1e-6).rows:
        if row.bound is not None and row.id in one and 0 < one[row.id].upper < math.inf:
            assert row.bound.upper > one[row.id].upper, row.id


@given(st.permutations(EXAMPLES[::3]), st.sampled_from([ADD, REPLACE]))
@settings(max_examples=10)
def test_order_does_not_matter(mixed: list[b.Mechanism], relation: str) -> None:
    """Terms in any order are one composition with one report."""
    terms = [m for m in mixed if m.relation == relation and m.name not in SLOW]
    shuffled, ordered = sum(terms, b.Composition()), b.Composition((m, 1) for m in sorted(terms, key=str))
    assert shuffled == ordered
    assert hash(shuffled) == hash(ordered)
    assert said(shuffled, delta=1e-6) == said(ordered, delta=1e-6)


@every_example
def test_a_larger_delta_costs_no_more(mechanism: b.Mechanism) -> None:
    """As δ grows ε only falls, and as ε grows δ only falls, as far as the enclosures can tell."""
    for name, grid in (("delta", (0, 1e-9, 1e-6, 1e-3, 0.5, 1)), ("epsilon", (0, 0.01, 0.5, 2, 30))):
        bounds = [answer(mechanism * 3, **{name: x}) for x in grid]
        for dear, cheap in itertools.combinations(bounds, 2):
            assert cheap.lower <= dear.upper


@every_example
@both_questions
def test_more_releases_cost_no_less(mechanism: b.Mechanism, question: dict[str, object]) -> None:
    """As the count grows the cost only grows, as far as the enclosures can tell."""
    bounds = [answer(mechanism * count, **question) for count in (0, 1, 2, 3, 10, 100, 5000)]
    for cheap, dear in itertools.combinations(bounds, 2):
        assert cheap.lower <= dear.upper


@pytest.mark.parametrize("name", spread(CHEAPER), ids=str)
@both_questions
def test_more_noise_costs_no_more(name: str, question: dict[str, object]) -> None:
    """A noisier mechanism costs no more, as far as the enclosures can tell, once and repeated."""
    for count in (1, 3):
        bounds = [answer(mechanism * count, **question) for mechanism in CHEAPER[name]]
        for dear, cheap in itertools.combinations(bounds, 2):
            assert cheap.lower <= dear.upper


@given(st.data(), st.sampled_from([ADD, REPLACE]), st.sampled_from(QUESTIONS))
@settings(max_examples=25)
def test_one_more_release_costs_no_less(data: st.DataObject, relation: str, question: dict[str, object]) -> None:
    """Adding a release never brings the cost of the whole below what the part certainly costs."""
    part = data.draw(mechanisms(relation, leave_out=SLOW)) * data.draw(st.integers(1, 9))
    more = data.draw(mechanisms(relation, leave_out=SLOW))
    assert answer(part, **question).lower <= answer(part + more, **question).upper


EXACT = [m for m in EXAMPLES if any(c.tightness is Tightness.EXACT for c in m.claims()) and m.name != "declared"]


@pytest.mark.parametrize("mechanism", EXACT, ids=str)
@both_questions
def test_lower_bounds_grow_too(mechanism: b.Mechanism, question: dict[str, object]) -> None:
    """Where a mechanism attains its promise's worst case, one more of it never lowers the bound from below."""
    bounds = [answer(mechanism * count, **question) for count in (1, 2, 3, 4, 50, 51)]
    for part, whole in itertools.pairwise(bounds):
        assert part.lower <= whole.lower


def imply(composition: b.Composition, delta: Fraction) -> None:
    """The two questions are each other's inverse, as far as the enclosures can tell."""
    epsilon = answer(composition, delta=delta).upper
    if epsilon == math.inf:
        return
    above = Fraction(math.nextafter(epsilon, math.inf))
    back = answer(composition, epsilon=above)
    assert back.lower <= delta
    if 0 < back.upper < 1:
        assert answer(composition, delta=Fraction(back.upper)).lower <= above


@every_example
@pytest.mark.parametrize("delta", [Fraction(1, 10**6), Fraction(1, 50), Fraction(0)], ids=str)
def test_epsilon_and_delta_imply_each_other(mechanism: b.Mechanism, delta: Fraction) -> None:
    """The ε found at δ proves δ again, and the δ found at ε proves ε again."""
    imply(mechanism * 1, delta)
    imply(mechanism * 3, delta)


@given(compositions(leave_out=SLOW), st.fractions(0, 1))
@settings(max_examples=25)
def test_epsilon_and_delta_imply_each_other_anywhere(composition: b.Composition, delta: Fraction) -> None:
    """The same for random compositions."""
    imply(composition, delta)


def test_nothing_costs_nothing() -> None:
    """An empty composition costs 0 whatever is asked, and is what zero repetitions and an empty sum are."""
    empty = b.Composition()
    assert empty == b.Gaussian(sigma=1) * 0 == sum([], b.Composition()) == empty * 5 == empty + empty
    assert len(empty) == 0
    rest = b.RandomizedResponse(epsilon=0.1) * 3
    for question in QUESTIONS:
        assert (answer(empty, **question).lower, answer(empty, **question).upper) == (0, 0)
        assert said(rest + b.NameAndShame(delta=0.5) * 0, **question) == said(rest, **question)


def test_relations_do_not_mix() -> None:
    """Releases under different relations are refused together, however they are put together."""
    added, replaced = b.Laplace(scale=1), b.Gaussian(sigma=1, relation=REPLACE)
    for mix in (
        lambda: added + replaced,
        lambda: replaced * 2 + added * 3,
        lambda: sum([added, added, replaced]),
        lambda: b.Composition([(replaced, 1), (added, 1)]),
    ):
        with pytest.raises(b.errors.RelationMismatch, match="add_remove and replace_one"):
            mix()
    assert (replaced + added * 0).relation == REPLACE


def same(first: b.Composition, second: b.Composition) -> None:
    """Equal, with equal hashes and texts, and the same readings of every number."""
    assert first == second
    assert hash(first) == hash(second)
    assert str(first) == str(second)
    assert repr(first) == repr(second)
    assert json.dumps(b.to_json(first)) == json.dumps(b.to_json(second))


def round_trips(composition: b.Composition) -> list[b.Composition]:
    """The composition through every form it can take."""
    form = b.to_json(composition)
    return [
        b.parse(str(composition)),
        b.parse(f"  ({composition})*1 "),
        b.from_json(form),
        b.from_json(json.dumps(form)),
        b.from_json(json.dumps(form).encode()),
        pickle.loads(pickle.dumps(composition)),
        copy.copy(composition),
        copy.deepcopy(composition),
    ]


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=str)
def test_every_form_comes_back(mechanism: b.Mechanism) -> None:
    """Text, JSON, pickles and copies of every mechanism are the same value with the same report."""
    composition = mechanism * 3 + mechanism
    report = account(composition, delta=1e-6).to_dict()
    for other in round_trips(composition):
        same(other, composition)
    for other in (b.parse(str(composition)), b.from_json(b.to_json(composition))):
        assert account(other, delta=1e-6).to_dict() == report
    for clone in (pickle.loads(pickle.dumps(mechanism)), copy.copy(mechanism), copy.deepcopy(mechanism)):
        assert clone == mechanism
        assert hash(clone) == hash(mechanism)


@given(compositions())
@settings(max_examples=100)
def test_every_form_comes_back_whatever_the_numbers(composition: b.Composition) -> None:
    """The same for random compositions, without the report."""
    for other in round_trips(composition):
        same(other, composition)


def test_a_float_means_its_decimal_and_its_binary_value() -> None:
    """Ten times a float 0.1 covers one and ten binary 0.1s; ten times the text 0.1 is one exactly."""
    loose = answer(b.RandomizedResponse(epsilon=0.1) * 10, delta=0)
    assert loose.lower <= 1 < 10 * Fraction(0.1) <= loose.upper
    exact = answer(b.RandomizedResponse(epsilon="0.1") * 10, delta=0)
    assert (exact.lower, exact.upper) == (1, 1)


@pytest.mark.parametrize("question", [*QUESTIONS[:4], {"epsilon": 0.1}, {"epsilon": 0.3}], ids=str)
@pytest.mark.parametrize("count", [1, 3, 10])
@pytest.mark.parametrize(
    "make",
    [
        lambda x: b.RandomizedResponse(epsilon=x),
        lambda x: b.LeakyRandomizedResponse(epsilon=x, delta=x),
        lambda x: b.Gaussian(sigma=x),
        lambda x: b.Laplace(scale=x),
        lambda x: b.DiscreteLaplace(scale=x),
        lambda x: b.NameAndShame(delta=x),
        lambda x: b.Declared(b.ApproxDP(epsilon=x, delta=0)),
        lambda x: b.Declared(b.GDP(mu=x)),
        lambda x: b.PoissonSampled(b.RandomizedResponse(epsilon=1), rate=x),
    ],
    ids=lambda make: str(make(0.1)),
)
def test_both_readings_are_covered(make: object, count: int, question: dict[str, object]) -> None:
    """The interval for a float parameter meets the intervals for its decimal and for its binary value."""
    loose = answer(make(0.1) * count, **question)
    for reading in (Fraction(1, 10), Fraction(0.1)):
        exact = answer(make(reading) * count, **question)
        assert loose.lower <= exact.upper
        assert exact.lower <= loose.upper


def test_groups_and_moves_cost_what_they_are() -> None:
    """A group of k costs k times a pure promise and k² times a concentrated one; a record that is replaced may leave
    one block and enter another.
    """
    three = b.Group(b.Declared(b.PureDP("1/10")), 3)
    assert b.account(three, delta=0).epsilon.upper == pytest.approx(0.3, rel=1e-15)
    assert b.account(three, delta=0).epsilon.upper >= Fraction(3, 10)
    assert b.Group(b.Declared(b.ZCDP("1/10")), 3).promise(b.ZCDP).rho == Fraction(9, 10)
    assert b.Group(b.Exponential(epsilon="1/10"), 3).promise(b.PureDP).epsilon >= Fraction(3, 10)
    moved = b.Disjoint(b.RandomizedResponse(1), b.RandomizedResponse("1/2"), relation="replace_one")
    assert b.account(moved, delta=0).epsilon.upper == 2


def test_a_dominating_pair_proves_nothing_from_below() -> None:
    """The pair that dominates an exponential mechanism bounds compositions from above only; from below strategies that
    it attains do, and for one release the two meet.
    """
    for question in ({"delta": 1e-6}, {"epsilon": "1/10"}):
        three = b.account(b.Exponential(epsilon=1) * 3, **question)
        assert 0 < three.bound.lower < 0.999 * three.bound.upper
        assert next(row for row in three.rows if row.id == "numerical").bound.lower == 0
        one = b.account(b.Exponential(epsilon=1), **question).bound
        assert one.upper * (1 - 1e-12) <= one.lower <= one.upper
    assert b.account(b.Exponential(epsilon=1) * 3, delta=0).epsilon.lower == 3
