"""What went wrong elsewhere must not go wrong here; and the optimum for very many releases."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator
from fractions import Fraction

import mpmath
import pytest
from flint import arb
from mpmath import mpf

import bursar as b
from bursar.mechanisms import CATALOGUE
from bursar.numerics.balls import working
from bursar.theorems import THEOREMS, Bound
from bursar.theorems.optimal import Responses
from support.responses import exact, optimum

LN3 = "1.098612288668109691395245236922525704647490557822749451734694"
EXAMPLES = (
    b.Gaussian(10),
    b.Laplace(20),
    b.RandomizedResponse(LN3),
    b.KaryRandomizedResponse("1/10", 5),
    b.LeakyRandomizedResponse("1/10", "1e-9"),
    b.NameAndShame("1e-9"),
    b.DiscreteGaussian(10),
    b.DiscreteLaplace(20, sensitivity=2),
    b.Exponential(1),
    b.PoissonSampled(b.Gaussian(2), "1/100"),
    b.FixedSizeSampled(b.Gaussian(2, relation="replace_one"), sample=10, population=1000),
    b.WithReplacementSampled(b.Gaussian(2, relation="replace_one"), draws=2, population=1000),
    b.TruncatedPoisson(b.Gaussian(2), "1/100", most=15, population=1000),
    b.Allocated(b.Gaussian(2), steps=20),
    b.Shuffled(b.Gaussian(10, relation="zero_out"), steps=20),
    b.GaussianMixture(10, shifts=[0, 1], weights=["1/2", "1/2"]),
    b.Disjoint(b.Laplace(20), b.Gaussian(10) * 2),
    b.Group(b.Laplace(20), 2),
    b.Declared(b.ApproxDP("1/10", "1e-9")),
    b.Table(["1/2", "1/2"], ["2/5", "3/5"]),
    b.Densities("1 + x/4", "1 - x/4", low=-1, high=1),
)


@pytest.fixture(autouse=True)
def _fifty_digits() -> Iterator[None]:
    with mpmath.workdps(50):
        yield


def rows(what: b.Composition | b.Mechanism, **question: Fraction | str) -> dict[str, Bound]:
    """Every theorem's bound that is one."""
    names = [theorem.id for theorem in THEOREMS]
    return {row.id: row.bound for row in b.account(what, **question, theorems=names).rows if row.bound is not None}


def test_the_examples_cover_the_catalogue() -> None:
    """Every mechanism of the catalogue is among the examples."""
    assert {type(example) for example in EXAMPLES} == set(CATALOGUE.values())


@pytest.mark.parametrize("mechanism", EXAMPLES, ids=lambda mechanism: mechanism.name)
@pytest.mark.parametrize("question", [{"delta": "1e-6"}, {"epsilon": "1"}], ids=str)
def test_a_count_is_a_loop(mechanism: b.Mechanism, question: dict[str, str]) -> None:
    """A peer ignored the count of some mechanisms, so that a hundred releases cost as much as one."""
    counted, looped = mechanism * 100, functools.reduce(operator.add, [mechanism] * 99, mechanism)
    assert counted == looped
    few = ["basic", "kov15", "optimal", "zcdp", "gdp"] if mechanism.name == "densities" else None  # quadrature is slow
    report, again, once = (b.account(what, **question, theorems=few) for what in (counted, looped, mechanism))
    assert report.bound == again.bound
    assert [row.result for row in report.rows] == [row.result for row in again.rows]
    assert report.bound.upper > once.bound.upper or report.bound.upper in (0.0, 1.0)


def test_a_hundred_randomized_responses() -> None:
    """A peer says 1.0987 for a hundred randomized responses with odds 3 at δ = 1e-6 if they are counted, not looped."""
    bound = b.account(b.RandomizedResponse(LN3, relation="replace_one") * 100, delta="1e-6").bound
    truth = optimum(100, Fraction(LN3))
    assert 94.28 < bound.lower <= bound.upper < 94.298
    assert truth(exact(bound.lower)) >= mpf("1e-6") >= truth(exact(bound.upper))
    assert b.account(b.Exponential(1) * 100, delta="1e-6").bound.upper > 10


@pytest.mark.parametrize(("epsilon", "printed", "wrong"), [(1, 83.53, 72.12), (2, 199.61, 112.1)])
def test_pure_privacy_contains_the_truth(epsilon: int, printed: float, wrong: float) -> None:
    """A peer's intervals for a hundred pure mechanisms, [71.92, 72.12] and [111.9, 112.1], exclude the truth."""
    bound = b.account(b.Declared(b.PureDP(epsilon)) * 100, delta="1e-6").bound
    assert bound.lower > wrong
    assert abs(bound.upper - printed) < 0.005
    truth = optimum(100, Fraction(epsilon))
    assert truth(exact(bound.lower)) >= mpf("1e-6") >= truth(exact(bound.upper))


def test_pure_privacy_at_no_delta() -> None:
    """A peer loses pure privacy: one Laplace release of scale 1 at δ = 0 gets ε = ∞, where ε = 1 holds."""
    assert b.account(b.Laplace(1), delta=0).bound.lower == b.account(b.Laplace(1), delta=0).bound.upper == 1.0
    several = b.account(b.Laplace(1) * 3 + b.RandomizedResponse("1/2"), delta=0).bound
    assert several.lower == several.upper == 3.5


@pytest.mark.parametrize(("k", "epsilon"), [(1000, "1/10"), (700, "1"), (2000, "1/100"), (5000, "1/1000")], ids=str)
@pytest.mark.parametrize("delta", ["1e-6", "1e-100", "1/10"])
def test_no_overflow(k: int, epsilon: str, delta: str) -> None:
    """A peer's optimal composition overflows for these counts."""
    bound = rows(b.RandomizedResponse(epsilon) * k, delta=delta)["optimal"]
    truth = optimum(k, Fraction(epsilon))
    assert truth(exact(bound.upper)) <= exact(delta)
    assert bound.upper - bound.lower <= 1e-12 * bound.upper
    assert truth(exact(bound.lower)) >= exact(delta) or bound.lower == 0


def test_one_meaning_of_sigma() -> None:
    """A peer's σ means two things: its accountants say 10.997 and 5.2215 for one replace-one Gaussian of σ = 1."""
    first, second = (rows(b.Gaussian(1, relation=name), delta="1e-6") for name in ("add_remove", "replace_one"))
    assert {name: (x.lower, x.upper) for name, x in first.items()} == {n: (x.lower, x.upper) for n, x in second.items()}
    assert {"single", "renyi", "zcdp", "gdp"} <= set(first)
    assert all(4.8865541 < bound.upper < 5.2216 for bound in first.values())
    assert first["gdp"].lower - 1e-14 <= 4.88655411746221 <= first["gdp"].upper + 1e-14


def test_no_negative_epsilon() -> None:
    """A peer's Rényi accountant says ε = −0.105 for one sampled Gaussian step at δ = 0.1."""
    bounds = rows(b.PoissonSampled(b.Gaussian(100), "1/1000"), delta="1/10")
    assert bounds["renyi"].upper == 0
    assert all(bound.lower >= 0 for bound in bounds.values())


@pytest.mark.parametrize("question", [{"delta": "0"}, {"delta": "1e-6"}, {"epsilon": "0"}, {"epsilon": "1"}], ids=str)
def test_an_empty_history(question: dict[str, str]) -> None:
    """A peer raises on an empty history; nothing released costs nothing, by every theorem."""
    report = b.account(b.Composition(), **question)
    assert all((row.bound.lower, row.bound.upper) == (0, 0) for row in report.rows if row.bound is not None)
    assert (report.bound.lower, report.bound.upper) == (0, 0)


@pytest.mark.parametrize("sigma", ["1e-6", "1/1000", "1/10", "1", "1e3", "1e9"])
@pytest.mark.parametrize(
    "question", [{"delta": "1e-300"}, {"delta": "9/10"}, {"epsilon": "0"}, {"epsilon": "1e9"}], ids=str
)
def test_extreme_gaussians(sigma: str, question: dict[str, str]) -> None:
    """A peer's Gaussian accountant raises at very low and very high ε; here every answer is an interval."""
    report = b.account(b.Gaussian(sigma) * 10, **question)
    assert 0 <= report.bound.lower <= report.bound.upper < math.inf
    assert report.bound.upper - report.bound.lower <= max(1e-9 * report.bound.upper, math.ulp(0.0))


def test_the_lecture_example() -> None:
    """For k = 100, ε = 0.1, δ = 1e-6 the closed forms and the optimum are the known ones, and 17.67 is nowhere."""
    bounds = rows(b.Declared(b.PureDP("1/10")) * 100, delta="1e-6")
    for name, value in (("strong", 5.75610551933573), ("drv10", 6.30823095051341), ("optimal", 4.77456758810799)):
        assert bounds[name].upper == pytest.approx(value, rel=1e-14)
    assert bounds["optimal"].lower == pytest.approx(4.77456758810799, rel=1e-14)
    assert not any(17 < end < 18 for bound in bounds.values() for end in (bound.lower, bound.upper))


@pytest.mark.parametrize(
    ("k", "epsilon", "delta"),
    [
        (10**4, "1/50", "1e-12"),
        (10**5, "1/100", "1e-40"),
        (10**6, "1/1000", "1e-9"),
        (10**6, "1/100", "1/10"),
        (10**7, "1/10000", "1e-6"),
        (10**7, "1/1000", "1e-15"),
    ],
)
def test_very_many_releases(k: int, epsilon: str, delta: str) -> None:
    """Up to ten million releases the optimum's interval encloses a term-by-term sum at 50 digits, and is narrow."""
    truth, what = optimum(k, Fraction(epsilon)), b.RandomizedResponse(epsilon) * k
    found = rows(what, delta=delta)["optimal"]
    assert truth(exact(found.lower)) >= exact(delta) >= truth(exact(found.upper))
    assert found.upper - found.lower <= 1e-12 * found.upper
    at = rows(what, epsilon=Fraction(found.upper))["optimal"]
    assert exact(at.lower) <= truth(exact(found.upper)) <= exact(at.upper)
    assert at.upper - at.lower <= 1e-12 * at.upper


@pytest.mark.parametrize(("k", "epsilon", "x"), [(60, "1/3", "2"), (500, "1/20", "1"), (2000, "1/50", "3")])
def test_incomplete_beta(k: int, epsilon: str, x: str) -> None:
    """The optimum is also a difference of incomplete beta functions."""
    e, point = exact(epsilon), exact(x)
    lies = int(mpmath.ceil((k - point / e) / 2)) - 1
    truth = 1 / (1 + mpmath.exp(-e))
    p, q = (mpmath.betainc(k - lies, lies + 1, 0, chance, regularized=True) for chance in (truth, 1 - truth))
    bound = rows(b.RandomizedResponse(epsilon) * k, epsilon=x)["optimal"]
    assert exact(bound.lower) <= p - mpmath.exp(point) * q <= exact(bound.upper)
    assert mpmath.almosteq(p - mpmath.exp(point) * q, optimum(k, Fraction(epsilon))(point), rel_eps=mpf(10) ** -30)


def test_more_releases_than_the_sum_is_kept_to() -> None:
    """Beyond ten million copies the exact sum abstains with its reason, and others still answer."""
    report = b.account(b.RandomizedResponse("1/100000") * (10**7 + 1), delta="1e-6")
    assert {row.id: row for row in report.rows}["optimal"].reason is not None
    assert 0 < report.bound.upper < 1


@pytest.mark.parametrize(
    ("promise", "room"),
    [(b.PureDP(1000), "1e-45"), (b.ApproxDP(1000, "1/2"), "2e-45"), (b.BoundedRange(1000), "25e-92")],
)
def test_delta_next_to_one(promise: b.PureDP | b.ApproxDP | b.BoundedRange, room: str) -> None:
    """A δ that differs from 1 by less than the working precision still needs its large ε: 1000 + ln(room)."""
    found = b.convert(promise, b.ApproxDP, delta=1 - Fraction("1e-45"))
    assert exact(found.epsilon) >= (1000 + mpmath.log(exact(room))) * (1 - mpf(10) ** -30)


def test_an_empty_block() -> None:
    """A block of the data about which nothing is released costs nothing, beside the others or alone."""
    empty, other = b.Laplace(1) * 0, b.Laplace(1) * 2
    assert b.account(b.Disjoint(empty, other), delta=0).bound.upper == 2.0
    assert b.account(b.Disjoint(empty), delta="1e-6").bound.upper == 0.0


def test_a_wrong_guess_of_the_deciding_event_costs_only_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Floats choose the event that decides ε; where they choose another one, balls notice."""
    with working():
        right = Responses(arb("0.1"), 100).epsilon_at(arb("1e-6"))
        for guess in (0, 10, 30, 49):
            monkeypatch.setattr(Responses, "_search", lambda self, _, m=guess: m)
            found = Responses(arb("0.1"), 100).epsilon_at(arb("1e-6"))
            assert found.lower <= right.upper
            assert found.upper >= right.lower
