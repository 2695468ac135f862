"""Laws that hold whatever the theorems say: for every mechanism and theorem by `bursar.testing`, and for random
compositions of them.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
import pickle
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bursar as b
from bursar.guarantees import Tightness
from bursar.testing import check
from bursar.theorems import THEOREMS, Bound, Theorem
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
from support.patience import within

random_compositions, any_question = compositions(leave_out=SLOW), st.sampled_from(QUESTIONS)


def answer(composition: b.Composition | b.Mechanism, **question: object) -> Bound:
    """The interval alone."""
    return account(composition, **question).bound


@pytest.mark.parametrize("mechanism", spread(EXAMPLES), ids=str)
def test_every_mechanism_obeys_every_law(mechanism: b.Mechanism) -> None:
    """Counts are kept, costs are ordered, questions are inverse, promises agree with the loss, a ledger charges it."""
    check(mechanism)


@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda theorem: theorem.id)
def test_every_theorem_obeys_every_law(theorem: Theorem) -> None:
    """It contradicts no other, forgets no count, and proves no less at a larger δ."""
    check(theorem)


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=str)
def test_repeating_is_adding(mechanism: b.Mechanism) -> None:
    """Four times a mechanism is the mechanism added four times: one value, one hash, one text, one report."""
    added, repeated = mechanism + mechanism + mechanism + mechanism, mechanism * 4
    assert added == repeated == 4 * mechanism == (mechanism * 2) * 2 == b.Composition([(mechanism, 1)] * 4)
    assert (hash(added), str(added), added.count, len(added)) == (hash(repeated), str(repeated), 4, 4)
    loop = sum(pickle.loads(pickle.dumps(mechanism)) for _ in range(4))
    assert account(loop, delta=1e-6).to_dict() == account(repeated, delta=1e-6).to_dict()


@pytest.mark.parametrize("name", spread(CHEAPER), ids=str)
def test_more_noise_costs_no_more(name: str) -> None:
    """Along each family, from dear to cheap, as far as the enclosures can tell."""
    for count, question in itertools.product((1, 3), QUESTIONS[:2]):
        bounds = [answer(mechanism * count, **question) for mechanism in CHEAPER[name]]
        for dear, cheap in itertools.combinations(bounds, 2):
            assert cheap.lower <= dear.upper


EXACT = [m for m in EXAMPLES if any(c.tightness is Tightness.EXACT for c in m.claims()) and m.name != "declared"]


@pytest.mark.parametrize("mechanism", EXACT, ids=str)
def test_lower_bounds_grow_too(mechanism: b.Mechanism) -> None:
    """Where a mechanism attains its promise's worst case, one more of it never lowers the bound from below."""
    for question in QUESTIONS[:2]:
        bounds = [answer(mechanism * count, **question) for count in (1, 2, 3, 4, 50, 51)]
        assert all(part.lower <= whole.lower for part, whole in itertools.pairwise(bounds))


@given(random_compositions, any_question)
@settings(max_examples=60)
def test_theorems_agree(composition: b.Composition, question: dict[str, object]) -> None:
    """Whatever is composed, no theorem raises, each interval starts at 0 or above, all of them meet, and the answer is
    where they do; it comes at once.
    """
    with within(40):
        report = account(composition, **question)
    bounds = [row.bound for row in report.rows if row.bound is not None]
    for bound in (*bounds, report.bound):
        assert 0 <= bound.lower <= bound.upper <= (math.inf if "delta" in question else 1)
        assert math.copysign(1, bound.lower) == math.copysign(1, bound.upper) == 1, "a bound is never -0.0"
    assert report.bound.lower == max((bound.lower for bound in bounds), default=0)
    assert report.bound.upper == min((bound.upper for bound in bounds), default=report.bound.upper)


@given(random_compositions, st.fractions(0, 1))
@settings(max_examples=25)
def test_epsilon_and_delta_imply_each_other(composition: b.Composition, delta: Fraction) -> None:
    """The ε found at δ proves δ again, and the δ found at ε proves ε again."""
    epsilon = answer(composition, delta=delta).upper
    if epsilon < math.inf:
        above = Fraction(math.nextafter(epsilon, math.inf))
        back = answer(composition, epsilon=above)
        assert back.lower <= delta
        if 0 < back.upper < 1:
            assert answer(composition, delta=Fraction(back.upper)).lower <= above


@given(st.data(), st.sampled_from([ADD, REPLACE]), any_question)
@settings(max_examples=25)
def test_one_more_release_costs_no_less(data: st.DataObject, relation: str, question: dict[str, object]) -> None:
    """Adding a release never brings the cost of the whole below what the part certainly costs."""
    part, more = (data.draw(mechanisms(relation, leave_out=SLOW)) for _ in range(2))
    several = part * data.draw(st.integers(1, 9))
    assert answer(several, **question).lower <= answer(several + more, **question).upper


@given(st.permutations(EXAMPLES[::3]), st.sampled_from([ADD, REPLACE]))
@settings(max_examples=10)
def test_order_does_not_matter(mixed: list[b.Mechanism], relation: str) -> None:
    """Terms in any order are one composition with one report."""
    terms = [m for m in mixed if m.relation == relation and m.name not in SLOW]
    one, other = sum(terms, b.Composition()), b.Composition((m, 1) for m in sorted(terms, key=str))
    assert (one, hash(one)) == (other, hash(other))
    assert account(one, delta=1e-6).to_dict() == account(other, delta=1e-6).to_dict()


def comes_back(composition: b.Composition) -> None:
    """Every form gives an equal value, with the same texts and the same readings of every number."""
    form = b.to_json(composition)
    text, written = str(composition), json.dumps(form)
    for other in (
        b.parse(text),
        b.parse(f"  ({text})*1 "),
        b.from_json(form),
        b.from_json(written),
        b.from_json(written.encode()),
        pickle.loads(pickle.dumps(composition)),
        copy.copy(composition),
        copy.deepcopy(composition),
    ):
        assert (other, hash(other)) == (composition, hash(composition))
        assert (str(other), repr(other), json.dumps(b.to_json(other))) == (text, repr(composition), written)


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=str)
def test_every_form_comes_back(mechanism: b.Mechanism) -> None:
    """Text, JSON, pickles and copies of every mechanism are the same value, with the same report."""
    composition = mechanism * 3
    comes_back(composition)
    report = account(composition, delta=1e-6).to_dict()
    for other in (b.parse(str(composition)), b.from_json(b.to_json(composition))):
        assert account(other, delta=1e-6).to_dict() == report


@given(compositions())
@settings(max_examples=100)
def test_every_form_comes_back_whatever_the_numbers(composition: b.Composition) -> None:
    """The same for random compositions, without the report."""
    comes_back(composition)


def test_nothing_costs_nothing() -> None:
    """An empty composition costs 0 whatever is asked, and is what zero repetitions and an empty sum are."""
    empty = b.Composition()
    assert empty == b.Gaussian(sigma=1) * 0 == sum([], b.Composition()) == empty * 5 == empty + empty
    rest = b.RandomizedResponse(epsilon=0.1) * 3
    for question in QUESTIONS:
        assert (answer(empty, **question).lower, answer(empty, **question).upper) == (0, 0)
        assert rest + b.NameAndShame(delta=0.5) * 0 == rest


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


def test_a_float_means_its_decimal_and_its_binary_value() -> None:
    """Ten times a float 0.1 covers one and ten binary 0.1s; ten times the text 0.1 is one exactly."""
    loose = answer(b.RandomizedResponse(epsilon=0.1) * 10, delta=0)
    assert loose.lower <= 1 < 10 * Fraction(0.1) <= loose.upper
    exact = answer(b.RandomizedResponse(epsilon="0.1") * 10, delta=0)
    assert (exact.lower, exact.upper) == (1, 1)


MAKERS: tuple[Callable[..., b.Mechanism], ...] = (
    lambda x: b.RandomizedResponse(epsilon=x),
    lambda x: b.LeakyRandomizedResponse(epsilon=x, delta=x),
    lambda x: b.Gaussian(sigma=x),
    lambda x: b.Laplace(scale=x),
    lambda x: b.DiscreteLaplace(scale=x),
    lambda x: b.NameAndShame(delta=x),
    lambda x: b.Declared(b.ApproxDP(epsilon=x, delta=0)),
    lambda x: b.Declared(b.GDP(mu=x)),
    lambda x: b.PoissonSampled(b.RandomizedResponse(epsilon=1), rate=x),
)


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: str(make(0.1)))
def test_both_readings_are_covered(make: Callable[..., b.Mechanism]) -> None:
    """The interval for a float parameter meets the intervals for its decimal and for its binary value."""
    for question, count in itertools.product((*QUESTIONS[:4], {"epsilon": 0.1}, {"epsilon": 0.3}), (1, 3, 10)):
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
    assert Fraction(3, 10) <= b.account(three, delta=0).epsilon.upper == pytest.approx(0.3, rel=1e-15)
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
