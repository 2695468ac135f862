"""Rényi curves of samples at rates next to 0 and to 1 and for unbounded curves: finite or infinite, never a warning."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb

import bursar as b
from bursar.guarantees.sampled_renyi import _PoissonSum
from bursar.numerics.real import Real
from support.catalogue import REPLACE

RATES = ("1e-400", "1e-300", 1e-17, "1/2", 0.9999999999999999, 1 - Fraction(1, 10**40), 1 - Fraction(1, 10**400))
BASES = (
    b.Gaussian(sigma=1),
    b.Laplace(scale="1e-30"),
    b.Declared(b.Renyi({2: "1/10", 8: "1/2"})),
    b.Declared(b.Renyi({2: 0})),
    b.Declared(b.TCDP(rho="1/10", omega=5)),
    b.Declared(b.ZCDP(rho=10**20)),
    b.Declared(b.PureDP(epsilon=10**90)),
    b.Declared(b.ApproxDP(epsilon=10**90, delta="1/10")),
)


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: str(rate)[:20])
@pytest.mark.parametrize("base", BASES, ids=lambda base: base.text()[:40])
def test_extreme_samples_are_answered_without_a_warning(base: b.Mechanism, rate: object) -> None:
    """Warnings are errors here: orders that a curve does not reach are infinite, rates that no float tells from 0 or 1
    keep their own logarithms.
    """
    what = b.PoissonSampled(base, rate=rate) * 3
    for question in ({"delta": 1e-6}, {"epsilon": 1}, {"delta": 0}):
        found = b.account(what, theorems=["renyi", "basic"], **question)
        bound = found.epsilon if "delta" in question else found.delta
        assert 0 <= bound.lower <= bound.upper


def test_a_rate_next_to_one_is_all_but_no_sampling() -> None:
    """The curve at 1 − 10⁻⁴⁰ is the base's own to all digits, and at 10⁻⁴⁰⁰ it is all but 0."""
    base = b.Declared(b.ZCDP(rho="1/10"))
    near = b.PoissonSampled(b.Laplace(scale=1), rate=1 - Fraction(1, 10**40)).promise(b.Renyi)
    own = b.Laplace(scale=1).promise(b.Renyi)
    for order in (2, 5, 17):
        assert near.rough(float(order)) == pytest.approx(own.rough(float(order)), rel=1e-9)
    rare = b.account(b.PoissonSampled(base, rate="1e-400") * 10, delta=1e-6, theorems=["renyi"]).epsilon
    assert rare.upper < 1e-12


def test_orders_that_are_not_known_are_infinite() -> None:
    """A curve known up to order 2 bounds its sample's order 2 and no higher one."""
    curve = b.PoissonSampled(b.Declared(b.Renyi({2: "1/10"})), rate="1/10").promise(b.Renyi)
    assert math.isfinite(curve.rough(2.0))
    assert curve.rough(3.0) == math.inf


@pytest.mark.parametrize("population", [2, 10**12])
def test_fixed_samples_too(population: int) -> None:
    """The same without replacement."""
    for promise in (b.Renyi({2: "1/10"}), b.ZCDP(rho=10**20), b.PureDP(epsilon=10**90), b.PureDP(epsilon=0)):
        for sample in (1, population - 1):
            base = b.Declared(promise, relation=REPLACE)
            what = b.FixedSizeSampled(base, sample=sample, population=population) * 2
            assert b.account(what, delta=1e-6, theorems=["renyi", "basic"]).epsilon.upper >= 0


def test_two_threads_that_ask_for_the_same_weight() -> None:
    """Weights that another thread has found meanwhile move no other: each order keeps its own."""
    inside = False

    def base(alpha: arb) -> arb:
        nonlocal inside
        if not inside:
            inside = True
            moments.weight(round(float(alpha)))  # as another thread might, at this very moment
            inside = False
        return alpha

    moments = _PoissonSum(base, Real(Fraction(1, 10)), 1, None)
    calm = _PoissonSum(lambda alpha: alpha, Real(Fraction(1, 10)), 1, None)
    assert moments.moment(9).mid() == calm.moment(9).mid()
    assert [moments.weight(order) for order in range(2, 9)] == [(order - 1) * order for order in range(2, 9)]
    assert moments.rough(12) == calm.rough(12)
