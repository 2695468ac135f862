"""Formulas on floats with bounds of their errors, against the same formulas in balls."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from flint import acb, arb

from bursar.numerics.balls import working
from bursar.numerics.formula import FUNCTIONS, Formula, Term
from bursar.numerics.logarithm import logarithm
from bursar.numerics.running import running
from bursar.numerics.trusted import UNIT


def drawn(rng: random.Random, depth: int) -> str:
    """A random formula."""
    if depth == 0:
        return rng.choice(["x", "x", "pi", "2", "0.3", "1e-3", "7/3", str(rng.randint(1, 9)), f"{rng.random():.5f}"])
    kind = rng.choice(["+", "-", "*", "/", "**", "negative", *FUNCTIONS])
    inner = drawn(rng, depth - 1)
    if kind in FUNCTIONS:
        return f"{kind}({inner})"
    if kind == "negative":
        return f"(-({inner}))"
    other = rng.choice(["2", "3", "-2", "0.5", "x"]) if kind == "**" else drawn(rng, rng.randint(0, depth - 1))
    return f"(({inner}) {kind} ({other}))"


def off(term: Term, x: float, value: float, error: float) -> bool:
    """Whether the truth, where balls know it, certainly lies outside the bound."""
    with working(400):
        true = term.in_balls(acb(x), False)
        if not (true.is_finite() and true.imag.contains(0)):
            return False
        return not true.real.overlaps(arb(value, error))


def test_random_formulas_lie_within_their_bounds() -> None:
    """Random formulas at random places: wherever a bound is finite the value in balls lies within it."""
    rng, finite, close = random.Random(17), 0, 0
    for _ in range(500):
        try:
            term = Formula(drawn(rng, rng.randint(1, 4))).term
        except ZeroDivisionError:
            continue
        x = np.array([rng.choice([rng.uniform(-3, 3), rng.uniform(0, 40), 10 ** rng.uniform(-9, 2)]) for _ in range(8)])
        value, error = running(term, x)
        for place, found, bound in zip(x.tolist(), value.tolist(), error.tolist(), strict=True):
            if math.isfinite(bound):
                finite += 1
                close += bound < 1e-11 * abs(found) + 1e-13
                assert not off(term, place, found, bound), (term, place)
    assert close > 0.8 * finite > 800


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_each_function_is_as_close_as_floats_allow(name: str) -> None:
    """At exact arguments the bound of a single function is a few roundings, and the value lies within it."""
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(0.01, 20, 150), 10.0 ** rng.uniform(-8, 2, 150)])
    term = Formula(f"{name}(x)").term
    value, error = running(term, x)
    assert np.all(error <= 40 * UNIT * (np.abs(value) + 1) + 1e-299)
    for place, found, bound in zip(x.tolist(), value.tolist(), error.tolist(), strict=True):
        assert not off(term, place, found, bound)


@pytest.mark.parametrize("source", ["exp(-x*x/2)", "exp(x/3)**3", "sinh(x*x/9)", "cosh(x*x/9)", "log(1 + x*x/1e9)"])
def test_errors_of_what_is_given_are_passed_on(source: str) -> None:
    """Where a rounded argument moves the value by more than a function's own rounding, the bound covers that too."""
    term, x = Formula(source).term, np.random.default_rng(8).uniform(10, 30, 300)
    value, error = running(term, x)
    for place, found, bound in zip(x.tolist(), value.tolist(), error.tolist(), strict=True):
        assert not off(term, place, found, bound)


@pytest.mark.parametrize("source", ["1/(x-1)", "log(x-1)", "sqrt(x-2)", "exp(1000*x)", "sin(1e9*x)", "(x-2)**0.5"])
def test_what_is_not_known_has_no_bound(source: str) -> None:
    """At a pole, outside the domain, beyond the floats, and for huge angles nothing is claimed."""
    assert running(Formula(source).term, np.array([1.0]))[1][0] == math.inf


LOGS = [
    "exp(-x*x/2)",
    "exp(-x*x/2)/sqrt(2*pi)",
    "0.99*exp(-x*x/2) + 0.01*exp(-(x-1)^2/2)",
    "(1 + x*x)**(-3)",
    "(2 - cos(x))*exp(-abs(x))",
    "cosh(x)**(-2)",
    "erfc(x/9)",
    "(-1 - x*x)*(-2)",
]


@pytest.mark.parametrize("source", LOGS)
def test_logarithms_are_those_of_the_formula(source: str) -> None:
    """The logarithm taken apart, in floats and in balls, is the logarithm of the value."""
    formula = Formula(source)
    term = logarithm(formula.term, np.linspace(-5, 5, 9))
    x = np.linspace(-4.9, 4.7, 61)
    value, error = running(term, x)
    assert np.all(error < 1e-13 * (1 + np.abs(value)))
    with working():
        for place, found, bound in zip(x.tolist(), value.tolist(), error.tolist(), strict=True):
            true = formula.at(arb(place)).log()
            assert true.overlaps(arb(found, bound))
            assert true.overlaps(term.in_balls(acb(place), True).real)


def test_logarithms_reach_where_values_underflow() -> None:
    """Far in the tail of a mixture of Gaussians its value is 0 in floats, but the logarithm keeps its digits."""
    term = logarithm(Formula(LOGS[2]).term, np.linspace(-60, 60, 9))
    value, error = running(term, np.array([-50.0, 50.0]))
    assert np.all(error < 1e-11)
    with working():
        assert abs(arb(float(value[0])) - (arb("0.99").log() - 1250)) < 1e-10
