"""Laws that hold for every mechanism of the catalogue, whatever the theorems say."""

from __future__ import annotations

import itertools
import json
import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bursar as b
from bursar.guarantees import KINDS, Tightness
from bursar.mechanisms import CATALOGUE
from catalogue import (
    ADD,
    CHEAPER,
    EXAMPLES,
    REPLACE,
    account,
    compositions,
    holding,
    mechanisms,
    plain,
    promises,
    within,
)

QUESTIONS = ({"delta": 1e-6}, {"epsilon": 1}, {"delta": 0}, {"epsilon": 0}, {"delta": "1"}, {"delta": Fraction(1, 3)})
QUICK = ("densities",)  # what takes seconds an example is left to the fixed examples

every_example = pytest.mark.parametrize("mechanism", EXAMPLES, ids=str)
every_question = pytest.mark.parametrize("question", QUESTIONS, ids=str)


def said(composition: b.Composition, **question: object) -> str:
    """The whole report, as machines read it."""
    return json.dumps(account(composition, **question).to_dict())


def answer(composition: b.Composition | b.Mechanism, **question: object) -> b.Bound:
    """The interval alone."""
    return account(composition, **question).bound


def test_nothing_of_the_catalogue_is_missing() -> None:
    """The examples, the random examples and the chains of cheaper ones cover every mechanism and every promise."""
    assert {m.name for m in EXAMPLES} == set(CATALOGUE) == set(CHEAPER)
    assert {m.guarantee.name for m in EXAMPLES if isinstance(m, b.Declared)} == set(KINDS) == set(promises())
    assert {*plain(REPLACE), *holding(REPLACE, st.nothing(), st.nothing())} == set(CATALOGUE)


@every_example
def test_repeating_is_adding(mechanism: b.Mechanism) -> None:
    """Four times a mechanism is the mechanism added four times: one value, one hash, one text."""
    added, repeated = mechanism + mechanism + mechanism + mechanism, mechanism * 4
    assert added == repeated == 4 * mechanism == (mechanism * 2) * 2 == b.Composition([(mechanism, 1)] * 4)
    assert hash(added) == hash(repeated)
    assert str(added) == str(repeated)
    assert added.count == len(repeated) == 4


@every_example
@pytest.mark.parametrize("question", QUESTIONS[:2], ids=str)
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
    terms = [m for m in mixed if m.relation == relation and m.name not in QUICK]
    shuffled, ordered = sum(terms, b.Composition()), b.Composition((m, 1) for m in sorted(terms, key=str))
    assert shuffled == ordered
    assert hash(shuffled) == hash(ordered)
    assert said(shuffled, delta=1e-6) == said(ordered, delta=1e-6)


@every_example
@every_question
def test_every_row_meets_every_other(mechanism: b.Mechanism, question: dict[str, object]) -> None:
    """All rows are intervals from 0 on, any two of them meet, and the answer is inside each of them."""
    for count in (1, 3, 200):
        report = account(mechanism * count, **question)
        bounds = [row.bound for row in report.rows if row.bound is not None]
        for bound in (*bounds, report.bound):
            assert 0 <= bound.lower <= bound.upper
            assert bound.upper <= (math.inf if "delta" in question else 1)
        for first, second in itertools.permutations(bounds, 2):
            assert first.lower <= second.upper
        assert report.bound.lower == max((bound.lower for bound in bounds), default=0)
        assert report.bound.upper == min((bound.upper for bound in bounds), default=report.bound.upper)


@given(compositions(leave_out=QUICK), st.sampled_from(QUESTIONS))
@settings(max_examples=80)
def test_every_composition_has_an_answer(composition: b.Composition, question: dict[str, object]) -> None:
    """Whatever is composed, no theorem raises, no two contradict each other, and the answer comes at once."""
    with within(10):
        bound = answer(composition, **question)
    assert 0 <= bound.lower <= bound.upper


@pytest.mark.parametrize("mechanism", [m for m in EXAMPLES if m.name == "densities"], ids=str)
@pytest.mark.parametrize("question", QUESTIONS[:2], ids=str)
def test_own_densities_are_answered_soon(mechanism: b.Mechanism, question: dict[str, object]) -> None:
    """Every theorem together answers about a user's own densities within seconds."""
    with within(5):
        assert b.account(mechanism * 2, **question).bound.lower >= 0


@pytest.mark.parametrize("question", QUESTIONS[:2], ids=str)
def test_flat_losses_are_answered_soon(question: dict[str, object]) -> None:
    """Laplace noise written as densities, whose loss is flat beyond its corners, is answered within seconds."""
    laplace = b.Densities("exp(-abs(x))", "exp(-abs(x - 1))", low=-20, high=20, breaks=[0, 1])
    with within(5):
        bound = account(laplace, **question).bound
    exact = answer(b.Laplace(scale=1), **question)
    assert bound.lower <= exact.upper + 1e-6
    assert exact.lower <= bound.upper + 1e-6


@every_example
def test_a_larger_delta_costs_no_more(mechanism: b.Mechanism) -> None:
    """As δ grows ε only falls, and as ε grows δ only falls, as far as the enclosures can tell."""
    for name, grid in (("delta", (0, 1e-9, 1e-6, 1e-3, 0.5, 1)), ("epsilon", (0, 0.01, 0.5, 2, 30))):
        bounds = [answer(mechanism * 3, **{name: x}) for x in grid]
        for dear, cheap in itertools.combinations(bounds, 2):
            assert cheap.lower <= dear.upper


@every_example
@pytest.mark.parametrize("question", QUESTIONS[:2], ids=str)
def test_more_releases_cost_no_less(mechanism: b.Mechanism, question: dict[str, object]) -> None:
    """As the count grows the cost only grows, as far as the enclosures can tell."""
    bounds = [answer(mechanism * count, **question) for count in (0, 1, 2, 3, 10, 100, 5000)]
    for cheap, dear in itertools.combinations(bounds, 2):
        assert cheap.lower <= dear.upper


@pytest.mark.parametrize("name", CHEAPER)
@pytest.mark.parametrize("question", QUESTIONS[:2], ids=str)
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
    part = data.draw(mechanisms(relation, leave_out=QUICK)) * data.draw(st.integers(1, 9))
    more = data.draw(mechanisms(relation, leave_out=QUICK))
    assert answer(part, **question).lower <= answer(part + more, **question).upper


EXACT = [m for m in EXAMPLES if any(c.tightness is Tightness.EXACT for c in m.claims()) and m.name != "declared"]


@pytest.mark.parametrize("mechanism", EXACT, ids=str)
@pytest.mark.parametrize("question", QUESTIONS[:2], ids=str)
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


@given(compositions(leave_out=QUICK), st.fractions(0, 1))
@settings(max_examples=25)
def test_epsilon_and_delta_imply_each_other_anywhere(composition: b.Composition, delta: Fraction) -> None:
    """The same for random compositions."""
    imply(composition, delta)


def test_nothing_costs_nothing() -> None:
    """An empty composition costs 0 whatever is asked, and is what zero repetitions and an empty sum are."""
    empty = b.Composition()
    assert empty == b.Gaussian(sigma=1) * 0 == sum([], b.Composition()) == empty * 5 == empty + empty
    assert len(empty) == 0
    for question in QUESTIONS:
        assert (answer(empty, **question).lower, answer(empty, **question).upper) == (0, 0)
    assert b.Gaussian(sigma=1) * 0 + b.Gaussian(sigma=2) == b.Gaussian(sigma=2) * 1


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_nothing_adds_nothing(question: dict[str, object]) -> None:
    """Zero repetitions of anything leave no trace in the report."""
    rest = b.RandomizedResponse(epsilon=0.1) * 3
    assert said(rest + b.NameAndShame(delta=0.5) * 0, **question) == said(rest, **question)
