"""Lower ends where no engine has one: never above what engines prove, and there where engines are silent."""

from __future__ import annotations

import math

import pytest
from flint import arb

import bursar as b
from bursar.losses.engines import at_least
from bursar.losses.engines.answer import Losses

COMPOSED = [
    ("poisson(laplace(scale=0.05), rate=1e-6)*1000", "1e-4"),
    ("poisson(laplace(scale=0.05), rate=1e-12)*1000000", "1e-9"),
    ("poisson(gaussian(sigma=0.1), rate=1e-9)*1000", "1e-8"),
    ("poisson(gaussian(sigma=0.1, relation=replace_one), rate=1e-9)*1000", "1e-8"),
    ("laplace(scale=1)*3", "1e-9"),
    ("laplace(scale=30)*5000", "1e-20"),
    ("randomized_response(epsilon=3)*20", "1e-12"),
    ("leaky_randomized_response(epsilon=2, delta=1e-9)*50", "1e-6"),
    ("name_and_shame(delta=1e-7)*1000 + laplace(scale=2)", "5e-4"),
    ("table(p=[1/2, 1/2, 0], q=[1/4, 1/2, 1/4])*3", "1e-3"),
    ("discrete_gaussian(sigma=0.3)*40 + gaussian(sigma=5)*9", "1e-30"),
    ("gaussian(sigma=1)", "0.37"),
]


def _directions(text: str) -> list[Losses]:
    terms = b.parse(text).terms
    pairs = [(term.mechanism.losses(), term.count) for term in terms]
    return [[(pair.remove, count) for pair, count in pairs], [(pair.add, count) for pair, count in pairs]]


@pytest.mark.parametrize(("text", "delta"), COMPOSED)
def test_no_lower_end_is_above_what_engines_prove(text: str, delta: str) -> None:
    """Both directions, at δ and at smaller ones."""
    for size in (arb(delta), arb(delta) / 1000, arb(delta) ** 3):
        upper = b.account(text, delta=float(size)).epsilon.upper
        # the float may lie on either side of the ball, which a little more δ makes up for
        assert max(at_least.by_releases(losses, size * (1 + 1e-12)) for losses in _directions(text)) <= upper


@pytest.mark.parametrize(
    ("text", "delta", "least"),
    [
        ("poisson(laplace(scale=0.05), rate=1e-6)*1000", "1e-4", 5.0),
        ("poisson(laplace(scale=0.01), rate=1e-9)*1000000", "1e-4", 70.0),
        ("poisson(gaussian(sigma=0.07887, relation=replace_one), rate=3.696e-20)*786", "5.209e-20", 1e-6),
    ],
)
def test_one_of_many_shows_what_no_single_release_does(text: str, delta: str, least: float) -> None:
    """Each sample is rarer than δ and costs nothing alone; that some copy is a hit is likelier."""
    losses = _directions(text)[0]
    assert at_least.dominant.alone(losses, arb(delta)) == 0
    assert at_least.by_releases(losses, arb(delta)) > least


@pytest.mark.parametrize("delta", ["0.5", "0.9", "0.98"])
def test_large_deltas_have_lower_ends(delta: str) -> None:
    """Many responses: some copy almost surely shows it, which is more often than δ even where δ is above one half."""
    losses, upper = _directions("randomized_response(epsilon=9)*100")[0], 900.0
    assert 0 < at_least.by_releases(losses, arb(delta)) <= upper


@pytest.mark.parametrize("delta", ["0.1", "0.3", "0.45", "0.46"])
def test_delta_at_zero_gives_a_lower_end(delta: str) -> None:
    """One randomized response: δ(0) = tanh(ε/2), and δ(x) = (e − e^x)/(1 + e) has its root in closed form."""
    truth = math.log(math.e - float(delta) * (1 + math.e))
    found = at_least.by_delta(math.tanh(0.5), arb(delta))
    assert 0 < found <= truth


def test_delta_at_zero_below_delta_proves_nothing() -> None:
    """δ(0) ≤ δ means ε = 0."""
    assert at_least.by_delta(0.3, arb("0.3")) == 0
    assert at_least.by_delta(0.2, arb("0.3")) == 0


def test_where_no_engine_answers_there_is_a_lower_end() -> None:
    """Nearly 1e9 samples at a rate of 1e-11: one release alone proves something, and the report says that."""
    report = b.account(
        "poisson(poisson(gaussian(sigma=1.17), rate=4.755e-06), rate=2.238e-06)*986721292", delta="1e-140"
    )
    assert report.epsilon.lower > 0.02
    assert "upper by renyi" not in report.epsilon.because or "add up to -" not in report.epsilon.because


def test_where_engines_have_no_lower_end_delta_at_zero_has_one() -> None:
    """δ is a hundredth below what all of these show at ε = 0."""
    text = (
        "kary_randomized_response(epsilon=2.399e-05, categories=32900)*6 + randomized_response(epsilon=1.586e-22)*1210"
        " + kary_randomized_response(epsilon=8.183e-11, categories=102)*1554"
    )
    found = b.account(text, delta="4.430e-09").epsilon
    assert 0 < found.lower <= found.upper < 1e-9


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("fixed_size(gaussian(sigma=0.1, relation=zero_out), sample=10, population=1000)*2", "1e-5"),
        ("fixed_size(gaussian(sigma=0.12, relation=zero_out), sample=10, population=1000)*100", "1e-6"),
        ("shuffled(gaussian(sigma=0.1, relation=zero_out), steps=10)", "1e-20"),
    ],
)
def test_rows_that_may_be_impossible_prove_nothing(text: str, delta: str) -> None:
    """Cells far out, of which nobody knows whether Q has them, are no lower end: it stays below the upper one."""
    found = b.account(text, delta=delta).bound
    assert 0 < found.lower < found.upper < 1e6
