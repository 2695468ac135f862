"""Every mechanism and every promise, as fixed examples and as random ones: what the tests of laws run over."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import strategies as st

import bursar as b
from bursar.theorems import THEOREMS

ADD, REPLACE, ZERO = "add_remove", "replace_one", "zero_out"
QUESTIONS = ({"delta": 1e-6}, {"epsilon": 1}, {"delta": 0}, {"epsilon": 0}, {"delta": "1"}, {"delta": Fraction(1, 3)})
SLOW = (  # what takes seconds an example is left to the fixed examples
    "densities", "allocated", "shuffled", "gaussian_mixture", "with_replacement", "truncated_poisson",
)  # fmt: skip
COSTLY = ("with_replacement", "truncated_poisson", "allocated", "shuffled", "gaussian_mixture")


def spread(examples: Iterable[Any]) -> list[Any]:
    """Examples, or names of them, as parameters of a test; the costly ones are left to `make soak`."""
    names = [(one, one if isinstance(one, str) else one.name) for one in examples]
    return [pytest.param(one, marks=pytest.mark.soak if name in COSTLY else ()) for one, name in names]


EXAMPLES: tuple[b.Mechanism, ...] = (
    b.Gaussian(sigma=2.0),
    b.Gaussian(sigma="0.7", relation=REPLACE),
    b.Laplace(scale=Fraction(10, 3)),
    b.RandomizedResponse(epsilon=0.1),
    b.RandomizedResponse(epsilon="0.1", relation=REPLACE),
    b.KaryRandomizedResponse(epsilon=1, categories=5),
    b.LeakyRandomizedResponse(epsilon=0.5, delta=1e-7),
    b.NameAndShame(delta=1e-8),
    b.DiscreteGaussian(sigma=2.5, sensitivity=2),
    b.DiscreteLaplace(scale=10.0),
    b.DiscreteLaplace(scale=3, sensitivity=2),
    b.Exponential(epsilon=0.5),
    b.Exponential(epsilon=0.5, utility="monotone", relation=REPLACE),
    b.PoissonSampled(b.Gaussian(sigma=1.0), rate=0.01),
    b.PoissonSampled(b.Gaussian(sigma=1.0, relation=REPLACE), rate=0.01),
    b.PoissonSampled(b.LeakyRandomizedResponse(epsilon=0.5, delta=1e-7), rate="1/10"),
    b.PoissonSampled(b.Declared(b.ZCDP(rho=0.1)), rate=0.1),
    b.FixedSizeSampled(b.Laplace(scale=1.0, relation=REPLACE), sample=10, population=1000),
    b.WithReplacementSampled(b.Gaussian(sigma=2, relation=REPLACE), draws=2, population=1000),
    b.TruncatedPoisson(b.Gaussian(sigma=1), rate=0.01, most=15, population=1000),
    b.TruncatedPoisson(b.Gaussian(sigma=1, relation=ZERO), rate=0.01, most=15, population=1000),
    b.Allocated(b.Gaussian(sigma=1.0), steps=20),
    b.Shuffled(b.Gaussian(sigma=2, relation="zero_out"), steps=20),
    b.Disjoint(b.Gaussian(sigma=2) * 3 + b.Laplace(scale=7), b.Laplace(scale=2)),
    b.Disjoint(b.RandomizedResponse(epsilon=1), relation=REPLACE),
    b.Group(b.Laplace(scale=5), 3),
    b.Group(b.Exponential(epsilon=0.1), 2),
    b.Table(p=[0.5, 0.2, 0.3], q=[0.3, 0.5, 0.2]),
    b.Table(p=["1/2", "1/2", 0], q=[Fraction(1, 4), "0.5", "0.25"]),
    b.Densities("1 + x/4", "1", low=-1, high=1),
    b.GaussianMixture(sigma=1.5, shifts=[0, 1, 2], weights=["0.81", "0.18", "0.01"]),
    b.GaussianMixture(sigma=2, shifts=[1, "3/2"], weights=[0.7, 0.3]),
    b.Declared(b.PureDP(epsilon=0.1)),
    b.Declared(b.ApproxDP(epsilon=0.1, delta=1e-7)),
    b.Declared(b.BoundedRange(eta=0.2)),
    b.Declared(b.Renyi({2: 0.1, 8: 0.5})),
    b.Declared(b.ZCDP(rho=0.01)),
    b.Declared(b.ZCDP(rho=0.01, delta=1e-8), relation=REPLACE),
    b.Declared(b.TCDP(rho=0.01, omega=50)),
    b.Declared(b.GDP(mu=0.3)),
    b.Declared(b.Profile([(0.1, 1e-3), (1, 1e-6), (2, 0)])),
)

# From dear to cheap: each next one adds noise, or samples less, or promises more.
CHEAPER: dict[str, tuple[b.Mechanism, ...]] = {
    "gaussian": tuple(b.Gaussian(sigma=s) for s in (0.5, 2, 2.0000001, 30)),
    "laplace": tuple(b.Laplace(scale=s) for s in (0.5, 2, 2.0000001, 30)),
    "randomized_response": tuple(b.RandomizedResponse(epsilon=e) for e in (3, 0.5, 0.4999999, 0.01)),
    "kary_randomized_response": tuple(b.KaryRandomizedResponse(epsilon=e, categories=4) for e in (3, 0.5, 0.01)),
    "leaky_randomized_response": tuple(
        b.LeakyRandomizedResponse(epsilon=e, delta=d) for e, d in ((1, 1e-7), (0.5, 1e-7), (0.5, 1e-9), (0.1, 0))
    ),
    "name_and_shame": tuple(b.NameAndShame(delta=d) for d in (1e-3, 1e-8, 0)),
    "discrete_gaussian": tuple(b.DiscreteGaussian(sigma=s) for s in (0.5, 2, 30)),
    "discrete_laplace": tuple(b.DiscreteLaplace(scale=s, sensitivity=2) for s in (0.5, 2, 30)),
    "exponential": tuple(b.Exponential(epsilon=e) for e in (3, 0.5, 0.01)),
    "poisson": tuple(b.PoissonSampled(b.Gaussian(sigma=1), rate=r) for r in (1, 0.5, 0.01)),
    "fixed_size": tuple(
        b.FixedSizeSampled(b.Laplace(scale=1, relation=REPLACE), sample=n, population=1000) for n in (1000, 100, 1)
    ),
    "with_replacement": tuple(
        b.WithReplacementSampled(b.Gaussian(sigma=1, relation=REPLACE), draws=n, population=1000) for n in (3, 2, 1)
    ),
    "truncated_poisson": tuple(
        b.TruncatedPoisson(b.Gaussian(sigma=s), rate="1/10", most=30, population=200) for s in (1, 2, 9)
    ),
    "allocated": tuple(b.Allocated(b.Gaussian(sigma=1), steps=n) for n in (1, 4, 40)),
    "shuffled": tuple(b.Shuffled(b.Gaussian(sigma=s, relation=REPLACE), steps=4) for s in (0.5, 2, 30)),
    "disjoint": tuple(b.Disjoint(b.Gaussian(sigma=s), b.Laplace(scale=s)) for s in (1, 2, 30)),
    "group": tuple(b.Group(b.Laplace(scale=5), n) for n in (4, 2, 1)),
    "table": tuple(b.Table(p=[p, 1 - p], q=[1 - p, p]) for p in (Fraction(9, 10), Fraction(3, 4), Fraction(1, 2))),
    "gaussian_mixture": tuple(
        b.GaussianMixture(sigma=2, shifts=[0, 1, 3], weights=weights)
        for weights in (
            ("0.1", "0.1", "0.8"),
            ("0.1", "0.7", "0.2"),
            ("0.9", "0.08", "0.02"),
            ("0.99", "0.009", "0.001"),
        )
    ),
    "densities": tuple(b.Densities(f"1 + x/{n}", "1", low=-1, high=1) for n in (2, 4, 9)),
    "declared": (b.Declared(b.PureDP(epsilon=1)), b.Declared(b.BoundedRange(eta=1)), b.Exponential(epsilon=1)),
}


# Written forms that must keep their meaning: text, canonical text where it differs, and ε at δ = 1e-6 to six digits.
# The bounds may become narrower in a later version, and nothing else.
GOLDEN = """
gaussian(sigma=1) | | 4.88655 | 4.88656
3*gaussian(sigma=2.0) | gaussian(sigma=2)*3 | 4.15181 | 4.15182
gaussian(sigma=0.70, relation='replace_one') | gaussian(sigma=0.7, relation=replace_one) | 7.37264 | 7.37265
laplace(scale=20/6) | laplace(scale=10/3) | 0.299997 | 0.299998
randomized_response(epsilon=0.1)*10*10 | randomized_response(epsilon=0.1)*100 | 4.77456 | 4.77457
kary_randomized_response(epsilon=1, categories=5) | | 0.999997 | 0.999998
leaky_randomized_response(epsilon=0.5, delta=1e-08)*30 | | 13.9771 | 13.9772
name_and_shame(delta=1e-08)*3 + randomized_response(epsilon=0.3)*9 | | 2.69985 | 2.69986
discrete_gaussian(sigma=2.5, sensitivity=2) | | 3.79941 | 3.79942
discrete_laplace(scale=3, sensitivity=2) | | 0.666664 | 0.666665
exponential(epsilon=0.5) | | 0.498745 | 0.498746
exponential(epsilon=0.5, utility=monotone) | | 0.249059 | 0.249060
poisson(gaussian(sigma=1), rate=0.01) | | 0.363947 | 0.363948
fixed_size(laplace(scale=1, relation=replace_one), sample=10, population=1000)*4 | | 0 | 0.0681320
allocated(gaussian(sigma=1), steps=1000) | | 0.171727 | 0.171730
allocated(gaussian(sigma=1), times=2, steps=50)*2 | allocated(gaussian(sigma=1), steps=50, times=2)*2 | 0 | 2.83500
shuffled(gaussian(sigma=1, relation=zero_out), steps=10)*2 | | 7.11 | 7.28609
disjoint(laplace(scale=2)*2, randomized_response(epsilon=1)) | | 0 | 0.999999
group(gaussian(sigma=5), size=3)*2 | | 4.05739 | 4.05740
table(p=[0.5, 0.2, 0.3], q=[0.3, 0.5, 0.2]) | | 0.916288 | 0.916289
gaussian_mixture(sigma=1, shifts=[0, 1, 2], weights=[0.81, 0.18, 0.01])*2 | | 5.16430 | 5.16432
densities("1 + x/4", "1", low=-1, high=1) | | 0.286527 | 0.286528
declared(pure_dp(epsilon=0.1))*20 | | 1.78860 | 1.78861
declared(approx_dp(epsilon=0.1, delta=1e-08))*20 | | 1.79282 | 1.79283
declared(bounded_range(eta=0.2)) | | 0.199148 | 0.199149
declared(renyi(orders=[8, 2], values=[0.5, 0.1])) | declared(renyi(orders=[2, 8], values=[0.1, 0.5])) | 0 | 2.03867
declared(zcdp(rho=0.01))*10 | | 0 | 2.14194
declared(zcdp(rho=0.01, delta=1e-08))*10 | | 0 | 2.15181
declared(tcdp(rho=0.01, omega=50))*10 | | 0 | 2.14194
declared(gdp(mu=0.3))*10 | | 4.60267 | 4.60268
declared(profile(points=[[0.1, 0.001], [1, 1e-06], [2, 0]])) | | 0.999999 | 1.00001
""".strip().splitlines()


def account(composition: b.Composition | b.Mechanism, **question: Any) -> b.Report:
    """What it costs, leaving out the theorems that integrate a user's own densities many times over."""
    if "densities(" in composition.text():
        question["theorems"] = [t.id for t in THEOREMS if t.id not in ("renyi", "numerical")]
    return b.account(composition, **question)


def numbers(low: float, high: float) -> st.SearchStrategy[Any]:
    """A number between the two, in any of the types that people give."""
    ways = [
        st.floats(low, high),
        st.fractions(Fraction(str(low)), Fraction(str(high)), max_denominator=1000),
        st.decimals(str(low), str(high), places=6),
    ]
    if math.ceil(low) <= math.floor(high):
        ways.append(st.integers(math.ceil(low), math.floor(high)))
    return st.one_of(*ways, ways[-1].map(str))


EPSILONS, NOISES, DELTAS, RATES = numbers(0.01, 3), numbers(0.3, 50), numbers(0, 0.01), numbers(0.001, 1)


@st.composite
def tables(draw: st.DrawFn, relation: str = ADD) -> b.Table:
    """Random laws on a few outcomes, as fractions or as floats that sum to 1 only nearly."""
    size = draw(st.integers(1, 5))
    columns = []
    for _ in range(2):
        weights = draw(st.lists(st.integers(0, 20), min_size=size, max_size=size).filter(any))
        column = [Fraction(w, sum(weights)) for w in weights]
        columns.append(list(map(float, column)) if draw(st.booleans()) else column)
    return b.Table(*columns, relation=relation)


@st.composite
def mixtures(draw: st.DrawFn) -> b.GaussianMixture:
    """Random contributions of a few sizes, the smallest perhaps none."""
    shifts = draw(st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True).filter(any))
    weights = draw(st.lists(st.integers(1, 20), min_size=len(shifts), max_size=len(shifts)))
    return b.GaussianMixture(
        draw(numbers(0.5, 50)), shifts=shifts, weights=[Fraction(weight, sum(weights)) for weight in weights]
    )


@st.composite
def densities(draw: st.DrawFn, relation: str = ADD) -> b.Densities:
    """Densities whose loss is nowhere flat."""
    slope, end = draw(st.integers(2, 30)), draw(st.integers(1, 3))
    p, q = draw(st.sampled_from([("exp(x/{0})", "exp(-x/{0})"), ("{0} + x/4", "1"), ("1", "x**2 + {0}")]))
    return b.Densities(p.format(slope), q.format(slope), low=-1, high=end, relation=relation)


def promises() -> dict[str, st.SearchStrategy[Any]]:
    """A strategy for every kind of promise, by name."""
    points = st.lists(st.tuples(EPSILONS, DELTAS), min_size=1, max_size=4)
    curves = st.dictionaries(st.integers(2, 64), EPSILONS, min_size=1, max_size=4)
    return {
        "pure_dp": st.builds(b.PureDP, epsilon=EPSILONS),
        "approx_dp": st.builds(b.ApproxDP, epsilon=EPSILONS, delta=DELTAS),
        "bounded_range": st.builds(b.BoundedRange, eta=EPSILONS),
        "renyi": curves.map(b.Renyi),
        "zcdp": st.builds(b.ZCDP, rho=EPSILONS, delta=st.one_of(st.just(0), DELTAS)),
        "tcdp": st.builds(b.TCDP, rho=EPSILONS, omega=numbers(1.5, 1000)),
        "gdp": st.builds(b.GDP, mu=EPSILONS),
        "profile": points.map(b.Profile),
    }


def plain(relation: str) -> dict[str, st.SearchStrategy[Any]]:
    """A strategy for every mechanism that holds no other, by name."""
    seen = {"relation": st.just(relation)}
    noise, many = st.builds(b.Gaussian, sigma=NOISES, **seen), st.integers(2, 40)
    added = {
        "gaussian_mixture": mixtures(),
        "allocated": st.builds(b.Allocated, noise, steps=many),
        "truncated_poisson": st.builds(b.TruncatedPoisson, noise, rate=RATES, most=many, largest_population=many),
    }
    return {
        **(added if relation == ADD else {}),
        "gaussian": st.builds(b.Gaussian, sigma=NOISES, **seen),
        "laplace": st.builds(b.Laplace, scale=NOISES, **seen),
        "randomized_response": st.builds(b.RandomizedResponse, epsilon=EPSILONS, **seen),
        "kary_randomized_response": st.builds(
            b.KaryRandomizedResponse, epsilon=EPSILONS, categories=st.integers(2, 100), **seen
        ),
        "leaky_randomized_response": st.builds(b.LeakyRandomizedResponse, epsilon=EPSILONS, delta=DELTAS, **seen),
        "name_and_shame": st.builds(b.NameAndShame, delta=DELTAS, **seen),
        "discrete_gaussian": st.builds(b.DiscreteGaussian, sigma=NOISES, sensitivity=st.integers(1, 5), **seen),
        "discrete_laplace": st.builds(b.DiscreteLaplace, scale=NOISES, sensitivity=st.integers(1, 5), **seen),
        "exponential": st.builds(
            b.Exponential, epsilon=EPSILONS, utility=st.sampled_from(["general", "monotone"]), **seen
        ),
        "table": tables(relation),
        "densities": densities(relation),
        "declared": st.builds(b.Declared, st.one_of(*promises().values()), **seen),
    }


def holding(
    relation: str, inside: st.SearchStrategy[Any], blocks: st.SearchStrategy[Any]
) -> dict[str, st.SearchStrategy[Any]]:
    """A strategy for every mechanism that holds others, by name; blocks are under add_remove, always."""
    parts = st.lists(blocks, min_size=1, max_size=3)
    # samples of groups, and of what is for one number of records, are refused
    refused = ("group(", "fixed_size(", "with_replacement(")
    single = inside.filter(lambda mechanism: not any(name in mechanism.text() for name in refused))
    ways: dict[str, st.SearchStrategy[Any]] = {
        "poisson": st.builds(b.PoissonSampled, single, rate=RATES),
        "group": st.builds(b.Group, inside, size=st.integers(1, 5)),
        "disjoint": parts.map(lambda found: b.Disjoint(*found, sum(found), relation=relation)),
    }
    if relation == REPLACE:
        ways["fixed_size"] = st.builds(
            b.FixedSizeSampled, single, sample=st.integers(1, 100), population=st.integers(100, 1000)
        )
        noise = st.builds(b.Gaussian, sigma=NOISES, relation=st.just(REPLACE))
        ways["shuffled"] = st.builds(b.Shuffled, noise, steps=st.integers(2, 40))
        ways["with_replacement"] = st.builds(
            b.WithReplacementSampled, noise, draws=st.integers(1, 9), population=st.integers(10, 99)
        )
    return ways


def mechanisms(relation: str, *, leave_out: tuple[str, ...] = ()) -> st.SearchStrategy[Any]:
    """Any mechanism under a relation, nested up to two deep."""
    base, blocks = (
        st.one_of(*(way for name, way in plain(seen).items() if name not in leave_out)) for seen in (relation, ADD)
    )

    def around(inner: st.SearchStrategy[Any]) -> list[st.SearchStrategy[Any]]:
        return [way for name, way in holding(relation, inner, blocks).items() if name not in leave_out]

    once = st.one_of(*around(base))
    return st.one_of(base, base, once, *around(once))


def compositions(*, leave_out: tuple[str, ...] = ()) -> st.SearchStrategy[b.Composition]:
    """Up to three terms under one relation."""
    terms = {
        relation: st.tuples(mechanisms(relation, leave_out=leave_out), st.integers(1, 40))
        for relation in (ADD, REPLACE)
    }
    return st.one_of(*(st.lists(term, min_size=1, max_size=3) for term in terms.values())).map(b.Composition)
