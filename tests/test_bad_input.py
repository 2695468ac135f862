"""Bad input is refused before any theorem sees it, with the argument's name and what is allowed."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import bursar as b
from bursar.guarantees import ProbabilisticDP, probabilistic
from bursar.numerics.interval import Interval
from bursar.theorems import Bound
from support.catalogue import ADD, EXAMPLES, REPLACE
from support.patience import within

RR = b.RandomizedResponse(epsilon=1)
NAN, INF = float("nan"), float("inf")
HUGE = (10**5000, "1e999999", "9" * 300, Fraction(1, 10**5000), Decimal("1e999999"))
NO_NUMBER = ([], "abc", "", object(), True, b"1", 1j, {}, "1/0", "0x10", "1__0", "_1", "١", Decimal("sNaN"), type)
REFUSED = (NAN, INF, -INF, "nan", "inf", Decimal("Infinity"), *HUGE, *NO_NUMBER)
NO_REAL = (None, *REFUSED)
NOT: dict[str, tuple[Any, ...]] = {
    "noise": (*NO_REAL, -1, -0.5, "-1/3", 0, 0.0, -0.0, "0", 1e-31, 1e31),
    "step": (*NO_REAL, 0, -1),
    "asked_probability": (*REFUSED, -1e-12, -1, 1.0000001),
    "asked_size": (*REFUSED, -1, "-1/3", 1e31),
    "size": (*NO_REAL, -1, -1e-300, "-1/3", 1e101),
    "probability": (*NO_REAL, -1e-12, -1, 1.0000001, 2, "11/10"),
    "rate": (*NO_REAL, 0, 0.0, -0.1, 1.0000001, 2),
    "order": (*NO_REAL, 1, 1.0, 0, -2),
    "odds": (*NO_REAL, 0.999, 0, -2),
    "count": (-1, 1.5, 2.5, 1e16, True, "3", None, [], 10**12 + 1, 10**5000, NAN, Fraction(1, 2), Decimal(2), object()),
    "positive": (0, -1, 1.5, 2.5, 1e16, True, "3", None, [], 10**12 + 1, 10**5000, NAN, Fraction(7, 2), object()),
    "relation": (10**5000, "", "add", "ADD_REMOVE", None, 1, [], object()),
    "added": (10**5000, "", "add", None, 1, [], object(), REPLACE),
    "utility": (10**5000, "", "any", None, 1, []),
    "mechanism": (None, 1, 10**5000, "gaussian(sigma=1)", [], RR * 2, b.PureDP(epsilon=1), b.Gaussian, object()),
    "replaced": (None, 1, "x", [], RR, RR * 2),
    "normal": (None, 1, "x", [], RR, RR * 2, b.Gaussian(sigma=1) * 1, b.Laplace(scale=1)),
    "held": (None, 1, "x", [], RR, RR * 2, b.Gaussian(sigma=1)),
    "promise": (None, 1, 10**5000, "pure_dp(epsilon=1)", [], RR, b.PureDP, object()),
    "block": (None, 1, 10**5000, "gaussian(sigma=1)", [], [RR], b.PureDP(epsilon=1), object()),
    "law": (None, 1, 10**5000, "1", "abc", [], [0.5], ["x"], [NAN, 1], [-1, 2], [2], [None], object(), [[1]], b"1"),
    "low": NO_REAL,
    "high": NO_REAL,
    "formula": (None, 1, "", " ", "x +", "y", "__import__('os')", "x.real", "lambda: 1", "1" * 500, [], "exp(x, x)"),
    "breaks": (None, 1, ["x"], [NAN], [9], "0", [None], object()),
}

FINE: dict[str, Any] = {
    "step": 1, "asked_probability": 0.5, "asked_size": 1,
    "noise": 1, "size": 1, "probability": Fraction(1, 2), "rate": 0.5, "order": 2, "odds": 2, "count": 2, "positive": 3,
    "relation": ADD, "utility": "general", "mechanism": RR, "replaced": b.Gaussian(sigma=1, relation=REPLACE),
    "normal": b.Gaussian(sigma=1), "held": b.Gaussian(sigma=1, relation="zero_out"),
    "promise": b.ApproxDP(epsilon=1, delta=0), "block": RR * 2, "law": [Fraction(1, 2)] * 2, "formula": "1",
    "low": -1, "high": 1, "breaks": [0], "added": ADD,
}  # fmt: skip

# Each call with what kind of argument each of its parameters is.
CALLS: dict[str, tuple[Callable[..., Any], str]] = {
    "Gaussian": (b.Gaussian, "sigma:noise relation"),
    "Laplace": (b.Laplace, "scale:noise relation"),
    "RandomizedResponse": (b.RandomizedResponse, "epsilon:noise relation"),
    "KaryRandomizedResponse": (b.KaryRandomizedResponse, "epsilon:noise categories:positive relation"),
    "LeakyRandomizedResponse": (b.LeakyRandomizedResponse, "epsilon:size delta:probability relation"),
    "NameAndShame": (b.NameAndShame, "delta:probability relation"),
    "DiscreteGaussian": (b.DiscreteGaussian, "sigma:noise sensitivity:positive relation"),
    "DiscreteLaplace": (b.DiscreteLaplace, "scale:noise sensitivity:positive relation"),
    "Exponential": (b.Exponential, "epsilon:noise utility relation"),
    "PoissonSampled": (b.PoissonSampled, "mechanism rate"),
    "FixedSizeSampled": (b.FixedSizeSampled, "mechanism:replaced sample:positive population:positive"),
    "WithReplacementSampled": (b.WithReplacementSampled, "mechanism:replaced draws:positive population:positive"),
    "TruncatedPoisson": (
        lambda rate, most, population: b.TruncatedPoisson(b.Gaussian(1), rate, most=most, population=population),
        "rate most:positive population:positive",
    ),
    "Allocated": (b.Allocated, "mechanism:normal steps:positive times:positive"),
    "Shuffled": (b.Shuffled, "mechanism:held steps:positive"),
    "Disjoint": (lambda block, relation: b.Disjoint(RR, block, relation=relation), "block relation"),
    "Group": (b.Group, "mechanism size:positive"),
    "Declared": (b.Declared, "guarantee:promise relation"),
    "GaussianMixture": (
        lambda sigma, shift, weights, relation: b.GaussianMixture(
            sigma, shifts=[0, shift], weights=weights, relation=relation
        ),
        "sigma:noise shift:size weights:law relation:added",
    ),
    "Table": (b.Table, "p:law q:law relation"),
    "Densities": (b.Densities, "p:formula q:formula low high breaks relation"),
    "PureDP": (b.PureDP, "epsilon:size"),
    "ApproxDP": (b.ApproxDP, "epsilon:size delta:probability"),
    "ProbabilisticDP": (ProbabilisticDP, "epsilon:size delta:probability"),
    "BoundedRange": (b.BoundedRange, "eta:size"),
    "ZCDP": (b.ZCDP, "rho:size delta:probability"),
    "TCDP": (b.TCDP, "rho:size omega:order"),
    "GDP": (b.GDP, "mu:size"),
    "Renyi": (lambda order, value: b.Renyi(orders=[order], values=[value]), "order value:size"),
    "Profile": (lambda epsilon, delta: b.Profile([(epsilon, delta)]), "epsilon:size delta:probability"),
    "repeat": (lambda count: RR * count, "count"),
    "repeat from the left": (lambda count: count * RR, "count"),
    "repeat again": (lambda count: (RR + RR) * count, "count"),
    "Composition": (lambda mechanism, count: b.Composition([(mechanism, count)]), "mechanism count"),
    "account for ε": (lambda delta: b.account(RR, delta=delta), "delta:asked_probability"),
    "account for δ": (lambda epsilon: b.account(RR, epsilon=epsilon), "epsilon:asked_size"),
    "convert at δ": (lambda delta: b.convert(b.GDP(mu=1), b.ApproxDP, delta=delta), "delta:asked_probability"),
    "convert at ε": (lambda epsilon: b.convert(b.GDP(mu=1), b.ApproxDP, epsilon=epsilon), "epsilon:asked_size"),
    "probabilistic": (probabilistic, "promise eta:step"),
    "worst_case": (lambda epsilon: b.lecture.worst_case([epsilon]), "epsilon:noise"),
    "delta_needed": (lambda epsilon: b.lecture.worst_case([1]).delta_needed(epsilon), "epsilon:size"),
    "LaplaceSimulation": (b.lecture.LaplaceSimulation, "epsilon:noise"),
    "simulation_map": (b.lecture.simulation_map, "p:law q:law odds delta:probability"),
}
KINDS = {
    name: {(part := word.partition(":"))[0]: part[2] or part[0] for word in words.split()}
    for name, (_, words) in CALLS.items()
}
ALLOWED = re.compile(r"above|at least|at most|below|range|from \d|one of|digits|finite|such as|may use|needs|must|give")


def _show(value: object) -> str:
    long = isinstance(value, (int, Fraction)) and max(abs(value.numerator), value.denominator) > 10**20
    return type(value).__name__ if long or type(value) is object else f"{type(value).__name__} {str(value)[:20]}"


def call(name: str, **changed: Any) -> Any:
    """One call with some arguments changed and the others fine."""
    return CALLS[name][0](**{**{argument: FINE[kind] for argument, kind in KINDS[name].items()}, **changed})


@pytest.mark.parametrize("name", CALLS)
def test_good_input_is_accepted(name: str) -> None:
    """The calls below fail because of the one bad argument, not for another reason."""
    assert call(name) is not None


@pytest.mark.parametrize("name", CALLS)
def test_bad_input_is_refused_by_name(name: str, subtests: pytest.Subtests) -> None:
    """One bad argument raises an InputError that names it and says what is allowed."""
    for argument, kind in KINDS[name].items():
        for value in NOT[kind]:
            with subtests.test(argument=argument, value=_show(value)):
                with pytest.raises(b.InputError) as caught:
                    call(name, **{argument: value})
                message = str(caught.value)
                assert re.search(rf"\b{argument}s?\b", message) or caught.value.argument == argument, message
                shown = _show(value).partition(" ")[2]
                assert ALLOWED.search(message) or shown in message or ", not " in message, message
                assert len(message) < 600


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.fractions(),
    st.decimals(),
    st.complex_numbers(),
    st.text(max_size=12),
    st.from_regex(r"-?[0-9]{1,400}(\.[0-9]*)?([eE][+-]?[0-9]{1,7})?(/[0-9]{1,3})?", fullmatch=True),
    st.binary(max_size=4),
    st.lists(st.one_of(st.floats(), st.text(max_size=3), st.none()), max_size=3),
    st.dictionaries(st.text(max_size=3), st.floats(), max_size=2),
    st.sampled_from([*HUGE[1:3], 10**400, b.Gaussian, RR, RR * 3, b.PureDP(epsilon=1), Interval(0, 1), object()]),
    st.sampled_from(EXAMPLES),
)


@pytest.mark.parametrize("name", CALLS)
@given(data=st.data())
@settings(max_examples=60, phases=[Phase.generate])
def test_nothing_else_escapes(name: str, data: st.DataObject) -> None:
    """Whatever is given for any argument, a call returns or raises a BursarError."""
    changed = data.draw(st.dictionaries(st.sampled_from(list(KINDS[name])), JUNK, min_size=1))
    with within(40), contextlib.suppress(b.BursarError):
        assert call(name, **changed) is not None


@pytest.mark.parametrize("question", [{}, {"delta": 1e-6, "epsilon": 1}], ids=str)
def test_one_question_at_a_time(question: dict[str, float]) -> None:
    """Neither and both of delta and epsilon are refused, and the message says how to ask."""
    with pytest.raises(b.InputError, match=r"delta= .*epsilon="):
        b.account(RR, **question)


@pytest.mark.parametrize("what", [None, 1, b"gaussian(sigma=1)", [RR], b.PureDP(epsilon=1), b.Gaussian], ids=_show)
@pytest.mark.parametrize("job", [lambda what: b.account(what, delta=0), b.to_json], ids=["account", "to_json"])
def test_only_compositions_are_accounted(what: object, job: Callable[[Any], object]) -> None:
    """Anything but a mechanism or a composition is refused."""
    with pytest.raises(b.InputError, match="composition"):
        job(what)


@pytest.mark.parametrize("ids", [["nonsense"], ["basic", "x"], [], "basic", 5, [None], [["basic"]]], ids=_show)
def test_unknown_theorems_are_refused(ids: object) -> None:
    """Unknown theorem ids are refused with the list of those that exist."""
    with pytest.raises(b.InputError, match=r"(?s)theorem.*basic") as caught:
        b.account(RR, delta=0, theorems=ids)  # type: ignore[arg-type]
    assert "theorem ;" not in str(caught.value)


@pytest.mark.parametrize("ends", [(NAN, 1), (0, NAN), (2, 1), ("a", "b"), (None, 1)], ids=str)
@pytest.mark.parametrize("kind", [Interval, lambda lower, upper: Bound(lower, upper, "")], ids=["Interval", "Bound"])
def test_intervals_are_intervals(kind: Callable[..., object], ends: tuple[Any, Any]) -> None:
    """An interval with its ends the wrong way round, or not a number, is refused."""
    with pytest.raises(b.InputError):
        kind(*ends)


@pytest.mark.parametrize("many", [None, 5, object(), [5], [[RR]], [(RR,)], [(RR, 1, 2)], "ab", [None]], ids=_show)
def test_compositions_are_made_of_pairs(many: object) -> None:
    """A composition refuses what is not a list of (mechanism, count)."""
    with pytest.raises(b.InputError, match="mechanism"):
        b.Composition(many)  # type: ignore[arg-type]


WRONG = [
    "b.lecture.worst_case(None)",
    'b.lecture.worst_case("12")',
    "b.lecture.worst_case([])",
    "b.Renyi(5)",
    "b.Renyi({})",
    "b.Renyi(orders=5, values=5)",
    "b.Renyi(orders=[2, 2], values=[1, 1])",
    "b.Renyi(orders=[2, 3], values=[1])",
    "b.Renyi({2: 1}, orders=[2], values=[1])",
    'b.Renyi(orders="23", values="11")',
    "b.Profile(None)",
    "b.Profile(5)",
    "b.Profile([])",
    'b.Profile(["ab"])',
    "b.Profile([(1, 2, 3)])",
    "b.Disjoint()",
    "b.Disjoint(b.Gaussian(sigma=1, relation=REPLACE))",
    "b.FixedSizeSampled(RR, sample=1, population=2)",
    "b.Allocated(RR, steps=2)",
    "b.Allocated(b.Gaussian(sigma=1), steps=0)",
    "b.Allocated(b.Gaussian(sigma=1), steps=2, times=3)",
    "b.Allocated(b.Gaussian(sigma=1, relation=REPLACE), steps=5, times=2)",
    "b.Allocated(b.Group(b.Gaussian(sigma=1), 2), steps=2)",
    "b.Shuffled(b.Gaussian(sigma=1), steps=2)",
    "b.Shuffled(b.Laplace(scale=1, relation=REPLACE), steps=2)",
    "b.FixedSizeSampled(b.Gaussian(sigma=1, relation=REPLACE), sample=3, population=2)",
    'b.Densities("1", "1", low=1, high=-1)',
    'b.Densities("1/x", "1", low=-1, high=1)',
    'b.Densities("0", "1", low=-1, high=1)',
    'b.Densities("x", "1", low=-1, high=1)',
    'b.Densities("x + 1/2", "1", low=-1, high=1)',
    "b.Table([1], [0.5, 0.5])",
    "b.GaussianMixture(1, shifts=[], weights=[])",
    "b.GaussianMixture(1, shifts=[0], weights=[1])",
    "b.GaussianMixture(1, shifts=[0, 1], weights=[1, 0])",
    "b.GaussianMixture(1, shifts=[0, 1], weights=[1])",
    "b.GaussianMixture(1, shifts=[0, 1], weights=[0.5, 0.4])",
    'b.GaussianMixture(1, shifts=[0, 1], weights=["1/3", "0.6667"])',
    "b.GaussianMixture(1, shifts=[0, -1], weights=[0.5, 0.5])",
    'b.GaussianMixture(1, shifts="01", weights=[0.5, 0.5])',
    "b.GaussianMixture(1, shifts=range(1001), weights=[1] + 1000 * [0])",
    "b.GaussianMixture(1e-20, shifts=[0, 1e20], weights=[0.5, 0.5])",
    'b.convert("x", b.PureDP)',
    'b.convert("x", b.ApproxDP, delta=0.5)',
    'b.convert(b.PureDP(epsilon=1), "PureDP of mine")',
    "b.convert(b.PureDP(epsilon=1), None)",
    "b.convert(b.GDP(mu=1), b.ApproxDP)",
    "b.convert(b.GDP(mu=1), b.ZCDP, delta=0.5)",
    "b.lecture.simulation_map([1, 0], [0, 1], odds=2, delta=0)",
    "b.lecture.LaplaceSimulation(epsilon=1).density(0.5, 2)",
]


@pytest.mark.parametrize("call", WRONG)
def test_calls_of_the_wrong_shape_are_refused(call: str) -> None:
    """Lists, pairs and words that do not fit together are refused with an InputError."""
    with pytest.raises(b.InputError, match=r"\w"):
        eval(call)


HOUSEHOLD = b.Group(b.Laplace(scale=5, relation=REPLACE), size=3)
FAMILY = b.Group(b.Laplace(scale=5), size=3)
SAMPLES_OF_GROUPS: dict[str, Callable[[], Any]] = {
    "poisson": lambda: b.PoissonSampled(FAMILY, rate=0.1),
    "poisson of everybody": lambda: b.PoissonSampled(FAMILY, rate=1),
    "poisson under replacement": lambda: b.PoissonSampled(HOUSEHOLD, rate=0.1),
    "fixed size": lambda: b.FixedSizeSampled(HOUSEHOLD, sample=1, population=10),
    "groups of groups": lambda: b.PoissonSampled(b.Group(b.Group(b.Laplace(scale=5), 2), 2), rate=0.1),
    "group of one around another": lambda: b.PoissonSampled(b.Group(FAMILY, 1), rate=0.1),
    "in a block": lambda: b.PoissonSampled(b.Disjoint(b.Laplace(scale=1), FAMILY * 2 + b.Laplace(scale=3)), rate=0.1),
    "twice sampled": lambda: b.FixedSizeSampled(b.PoissonSampled(HOUSEHOLD, rate=0.1), sample=1, population=2),
}


@pytest.mark.parametrize("name", SAMPLES_OF_GROUPS)
def test_a_sample_of_a_group_is_refused(name: str) -> None:
    """Records are drawn one by one, so what counts several as one unit cannot be sampled; the message says what can."""
    with pytest.raises(b.InputError, match=r"cannot sample group\(.*put the group outside: group\("):
        SAMPLES_OF_GROUPS[name]()


def test_written_samples_of_groups_are_refused_too() -> None:
    """Text and JSON name the reason as a SpecError; the group of a sample, and a sample of groups of one, stay."""
    inside = {"name": "group", "mechanism": {"name": "laplace", "scale": "5"}, "size": 3}
    form = {"bursar": 1, "terms": [{"mechanism": {"name": "poisson", "mechanism": inside, "rate": "0.1"}, "count": 2}]}
    for give in (
        lambda: b.parse("gaussian(sigma=1) + poisson(group(laplace(scale=5), size=3), rate=0.1)"),
        lambda: b.from_json(form),
    ):
        with pytest.raises(b.errors.SpecError, match="cannot sample group"):
            give()
    assert b.account(b.parse("group(poisson(laplace(scale=5), rate=0.1), size=3)"), delta=0).epsilon.upper < 0.07
    one = b.parse("poisson(group(laplace(scale=5), size=1), rate=0.1)")
    plain = b.parse("poisson(laplace(scale=5), rate=0.1)")
    assert b.account(one, delta=0).epsilon.upper == pytest.approx(b.account(plain, delta=0).epsilon.upper)


THIRD = Fraction(1, 3)
COLUMNS: dict[str, tuple[list[Any], bool]] = {
    "thirds as floats": ([1 / 3] * 3, True),
    "floats of a sum": ([0.1 + 0.2, 0.7], True),
    "decimals": ([0.1, 0.2, 0.7], True),
    "sevenths": ([1 / 7] * 7, True),
    "thirds": ([THIRD] * 3, True),
    "a third that was rounded": ([THIRD, THIRD, 1 / 3], True),
    "a little is missing": ([0.5, 0.4999999999], False),
    "a little too much": ([0.5, 0.5000000001], False),
    "single precision": ([0.10000000149011612, 0.20000000298023224, 0.699999988079071], False),
    "exact and short": ([Fraction(1, 2), Fraction(1, 2) - Fraction(1, 10**30)], False),
    "exact and long": ([Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**30)], False),
    "rounded strings": (["0.3333333333333333"] * 3, False),
    "rounded Decimals": ([Decimal(1) / 3] * 3, False),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_columns_of_a_table_sum_to_one(name: str) -> None:
    """Exactly where the numbers are exact, up to rounding where they are floats; what passes can be read back."""
    column, whole = COLUMNS[name]
    even = [Fraction(1, len(column))] * len(column)
    for p, q in ((column, even), (even, column)):
        if not whole:
            with pytest.raises(b.InputError, match=r"must sum to 1, not to 1 [+−].*outcome of its own"):
                b.Table(p, q)
            continue
        table = b.Table(p, q)
        assert b.parse(table.text()) == table * 1
        assert b.account(table, epsilon=0).delta.upper < 0.4


def test_written_tables_that_leave_out_mass_are_refused() -> None:
    """In a text form too, where decimals are read like floats."""
    for text in ("table(p=[0.5, 0.4999999999], q=[0.5, 0.5])", "table(p=[1/2, 1/2], q=[1/2, 49/100])"):
        with pytest.raises(b.errors.SpecError, match="must sum to 1"):
            b.parse(text)
