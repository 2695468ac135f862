"""The whole curve, the trade-off function and the attacker's readings, against closed forms and against each other."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import bursar as b
from bursar.losses.engines import meet as engines
from bursar.losses.engines.answer import Precision
from bursar.numerics.balls import working
from bursar.theorems.numerical import composed
from support.catalogue import EXAMPLES, SLOW

RATES = [0.0, 1e-6, 0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 1.0]


@pytest.mark.parametrize("what", [b.Gaussian(1) * 1, b.Gaussian(2) * 4, b.Gaussian(10) * 100], ids=str)
def test_gaussian_trade_off_is_the_closed_form(what: b.Composition) -> None:
    """f(a) = Φ(Φ⁻¹(1 − a) − 1) lies inside, and so do advantage 2Φ(½) − 1 and the Bayes risk Φ(−½) at even odds."""
    curve = b.profile(what)
    band = curve.trade_off(RATES)
    for rate, lower, upper in zip(RATES[1:-1], band.lower[1:-1], band.upper[1:-1], strict=True):
        quantile = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(rate))
        assert lower <= mpmath.ncdf(quantile - 1) <= upper
        assert upper - lower < 2e-3
    assert band.upper[-1] == 0
    advantage, risk = curve.advantage(), curve.bayes_risk("1/2")
    assert advantage.lower <= 2 * mpmath.ncdf(0.5) - 1 <= advantage.upper
    assert risk.lower <= mpmath.ncdf(-0.5) <= risk.upper


def test_randomized_response_attacker_by_hand() -> None:
    """One response: TPR = e^ε·FPR up to the truth's chance, Bayes risk min(prior, 1 − truth)."""
    e = math.exp(1)
    curve = b.profile(b.RandomizedResponse(epsilon=1), np.linspace(0, 1.5, 61))
    truth = e / (1 + e)
    for rate in (0.01, 0.1, 0.25):
        found = curve.true_positive_rate(rate)
        assert found.lower - 1e-15 <= e * rate <= found.upper + 1e-15
    assert curve.advantage().lower <= 2 * truth - 1 + 1e-15
    assert curve.advantage().upper >= 2 * truth - 1 - 1e-15
    even = curve.bayes_risk(Fraction(1, 2))
    assert even.lower <= 1 - truth + 1e-15
    assert even.upper >= 1 - truth - 1e-15
    assert curve.bayes_risk("0.1").upper == pytest.approx(0.1)


@pytest.mark.parametrize("mechanism", [m for m in EXAMPLES if m.name not in SLOW], ids=str)
def test_curves_agree_with_account_and_with_themselves(mechanism: b.Mechanism) -> None:
    """Every δ of a curve meets `account`'s at the same ε, falls, and is convex in e^ε as far as the ends tell."""
    curve = b.profile(mechanism * 3, [0, 0.1, 0.5, 1.0, 2.0], effort="low")
    assert np.all(curve.lower <= curve.upper)
    for i in (1, 3):
        bound = b.account(mechanism * 3, epsilon=float(curve.epsilons[i]), effort="low").delta
        assert bound.lower <= curve.upper[i] * (1 + 1e-15)
        assert curve.lower[i] <= max(bound.upper, 0) * (1 + 1e-15)
    assert np.all(curve.lower[1:] <= curve.upper[:-1])
    band = curve.trade_off(RATES)
    assert np.all(band.lower <= band.upper)
    assert np.all(band.lower[1:] <= band.upper[:-1] + 1e-15)
    assert np.all(band.upper <= 1 - np.array(RATES) + 1e-12)


def test_each_direction_has_its_own_curve() -> None:
    """Sampling tells removing a record from adding it, and the worse of the two is the curve."""
    curve = b.profile(b.PoissonSampled(b.Gaussian(1), "0.01") * 1000, np.linspace(0, 3, 13))
    removed, added = curve.directions
    assert np.all(removed.lower[2:] > added.upper[2:])
    assert np.array_equal(curve.upper, np.maximum(removed.upper, added.upper))
    assert float(np.max((curve.upper - curve.lower) / curve.upper)) < 1e-6


def test_both_engines_give_one_curve() -> None:
    """Forced through either engine the bounds of δ meet at every ε of a range."""
    what = b.Gaussian(5) * 10 + b.Laplace(20) * 30
    grid = [0.1, 1.0, 2.0, 3.5, 5.0]
    with working():
        (losses,) = composed([(term.mechanism.losses(), term.count) for term in what.terms])
        first = engines.deltas_at(losses, grid, Precision(engine="contour"))
        second = engines.deltas_at(losses, grid, Precision(width=1e-3, engine="lattice"))
    for a, c in zip(first, second, strict=True):
        assert a.lower <= c.upper
        assert c.lower <= a.upper
        assert (a.engine, c.engine) == ("contour", "lattice")


@pytest.mark.parametrize(
    ("give", "words"),
    [
        (lambda: b.profile(b.Gaussian(1), [-1]), "epsilons"),
        (lambda: b.profile(b.Gaussian(1), []), "epsilons"),
        (lambda: b.profile(b.Gaussian(1), [math.nan]), "epsilons"),
        (lambda: b.profile(3, [1]), "composition"),
        (lambda: b.profile(b.Gaussian(1), [1]).trade_off(1.5), "false_positive_rate"),
        (lambda: b.profile(b.Gaussian(1), [1]).bayes_risk(0), "prior"),
        (lambda: b.account(b.Gaussian(1), delta=1e-6, width=-1), "width"),
        (lambda: b.account(b.Gaussian(1), delta=1e-6, width=math.nan), "width"),
        (lambda: b.account(b.Gaussian(1), delta=1e-6, effort="all"), "effort"),
    ],
)
def test_bad_questions_are_refused(give: object, words: str) -> None:
    """What cannot be asked is named."""
    with pytest.raises(b.BursarError, match=words):
        give()


def test_width_and_effort_are_kept() -> None:
    """A narrower width is met where it can be; less effort gives a wider, still true interval; the report says it."""
    what = b.Laplace(10) * 40
    ends = {}
    for width, effort in ((1e-2, "normal"), (1e-4, "normal"), (1e-6, "normal"), (1e-8, "low")):
        report = b.account(what, delta=1e-6, width=width, effort=effort, theorems=["numerical"])
        ends[width] = report.epsilon
        assert "engine encloses it to" in report.epsilon.because
        if width >= 1e-6:
            assert report.epsilon.upper - report.epsilon.lower <= width * report.epsilon.upper
    assert all(a.lower <= c.upper for a in ends.values() for c in ends.values())
    terms = dict(report.theorems[0].bound.budget)
    assert {"aliasing", "envelope", "cut", "rounding"} == set(terms)
    assert "envelope" in report.explain(error=True)
