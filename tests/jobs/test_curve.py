"""The whole curve and an attacker's readings of it: against closed forms and enumeration, and as narrow as asked."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import bursar as b
from bursar.losses.engines import meet as engines
from bursar.losses.engines.answer import Precision
from bursar.mechanisms._base import known_losses
from bursar.numerics.balls import working
from bursar.theorems.numerical import composed
from support.catalogue import ADD, EXAMPLES, REPLACE, SLOW
from support.responses import Pair, columns, encloses, exact, product, response

RATES = [Fraction(x) for x in ("0", "1e-9", "1e-6", "1/1000", "1/100", "1/10", "1/4", "1/2", "9/10", "99/100", "1")]
PRIORS = [Fraction(x) for x in ("1/1000", "3/10", "1/2", "11/20", "97/100")]
QUICK = [mechanism for mechanism in EXAMPLES if mechanism.name not in SLOW]
GAUSSIANS = [b.Gaussian(1) * 1, b.Gaussian(2) * 4, b.Gaussian(10) * 100]


@pytest.mark.parametrize("what", [*GAUSSIANS, b.RandomizedResponse(epsilon=1) * 1], ids=str)
@mpmath.workdps(60)
def test_closed_forms(what: b.Composition) -> None:
    """f(a) = Φ(Φ⁻¹(1 − a) − 1), advantage 2Φ(½) − 1 and the risk Φ(−½) at even odds; one response by hand."""
    if what in GAUSSIANS:
        curve, half = b.profile(what), mpmath.mpf(1) / 2
        misses = [mpmath.ncdf(mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * exact(rate)) - 1) for rate in RATES[1:-1]]
        advantage, risk = 2 * mpmath.ncdf(half) - 1, mpmath.ncdf(-half)
    else:
        curve, ((truth, lie), _) = b.profile(what, np.linspace(0, 1.5, 61)), response("1")
        misses = [max(1 - mpmath.e * rate, (1 - exact(rate)) / mpmath.e) for rate in RATES[1:-1]]
        advantage, risk = truth - lie, lie
    band = curve.trade_off(RATES)
    for lower, real, upper in zip(band.lower[1:-1], misses, band.upper[1:-1], strict=True):
        assert encloses(lower, real, upper)
        assert upper - lower < 2e-3
    assert band.upper[-1] == 0
    readings = curve.advantage(), curve.bayes_risk("1/2"), curve.true_positive_rate(float(RATES[4]))
    for found, real in zip(readings, (advantage, risk, 1 - misses[3]), strict=True):
        assert encloses(found.lower, real, found.upper)


@pytest.mark.parametrize("mechanism", QUICK, ids=str)
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
    assert np.all(band.upper <= 1 - np.array(RATES, dtype=float) + 1e-12)


def test_each_direction_has_its_own_curve() -> None:
    """Sampling tells removing a record from adding it, and the worse of the two is the curve."""
    curve = b.profile(b.PoissonSampled(b.Gaussian(1), "0.01") * 1000, np.linspace(0, 3, 13))
    removed, added = curve.directions
    assert np.all(removed.lower[2:] > added.upper[2:])
    assert np.array_equal(curve.upper, np.maximum(removed.upper, added.upper))
    assert float(np.max((curve.upper - curve.lower) / curve.upper)) < 1e-6


def test_both_engines_give_one_curve() -> None:
    """Forced through either engine the bounds of δ meet at every ε of a range."""
    grid = [0.1, 1.0, 2.0, 3.5, 5.0]
    with working():
        (losses,) = composed([(b.Gaussian(5).losses(), 10), (b.Laplace(20).losses(), 30)])
        first = engines.deltas_at(losses, grid, Precision(engine="contour"))
        second = engines.deltas_at(losses, grid, Precision(width=1e-3, engine="lattice"))
    for a, c in zip(first, second, strict=True):
        assert max(a.lower, c.lower) <= min(a.upper, c.upper)
        assert (a.engine, c.engine) == ("contour", "lattice")


def test_bad_questions_are_refused() -> None:
    """What cannot be asked is named."""
    one = b.profile(b.Gaussian(1), [1])
    for words, ask, values in (
        ("epsilons", lambda value: b.profile(b.Gaussian(1), value), ([-1], [], [math.nan])),
        ("composition", lambda value: b.profile(value, [1]), (3,)),
        ("false_positive_rate", one.trade_off, (1.5,)),
        ("prior", one.bayes_risk, (0,)),
        ("width", lambda value: b.account(b.Gaussian(1), delta=1e-6, width=value), (-1, math.nan)),
        ("effort", lambda value: b.account(b.Gaussian(1), delta=1e-6, effort=value), ("all",)),
    ):
        for value in values:
            with pytest.raises(b.BursarError, match=words):
                ask(value)


def test_width_and_effort_are_kept() -> None:
    """A narrower width is met where it can be; less effort gives a wider, still true interval; the report says it."""
    ends = {}
    for width, effort in ((1e-2, "normal"), (1e-4, "normal"), (1e-6, "normal"), (1e-8, "low")):
        report = b.account(b.Laplace(10) * 40, delta=1e-6, width=width, effort=effort, theorems=["numerical"])
        ends[width] = report.epsilon
        assert "engine encloses it to" in report.epsilon.because
        if width >= 1e-6:
            assert report.epsilon.upper - report.epsilon.lower <= width * report.epsilon.upper
    assert all(a.lower <= c.upper for a in ends.values() for c in ends.values())
    assert set(dict(report.theorems[0].bound.budget)) == {"aliasing", "envelope", "cut", "rounding"}
    assert "envelope" in report.explain(error=True)


def test_each_prior_has_its_direction() -> None:
    """Only the other order of the pair is worth a guess at 0.3: under replace_one, or where absence is rarer."""
    added, replaced = (b.Table(["9/10", "1/10"], ["1/2", "1/2"], relation=relation) for relation in (ADD, REPLACE))
    cases = [(added, "0.3", 0.3), (replaced, "0.3", 0.22), (added, "0.7", 0.22), (added, "0.5", 0.3)]
    for mechanism, prior, truth in [*cases, (b.RandomizedResponse(epsilon=1), "0.1", 0.1)]:
        risk = b.profile(mechanism).bayes_risk(prior)
        assert risk.lower - 1e-15 <= truth <= risk.upper + 1e-15
        assert risk.width < 1e-12


@pytest.mark.parametrize("seed", [pytest.param(i, marks=pytest.mark.soak if i > 7 else ()) for i in range(24)])
@mpmath.workdps(60)
def test_readings_contain_what_enumeration_says(seed: int) -> None:
    """All readings of random tables, under either relation, from the usual ε's or a single one, enclose it closely."""
    rng = random.Random(seed)
    relation, tables = rng.choice((ADD, REPLACE)), [columns(rng) for _ in range(rng.randint(1, 3))]
    pair = Pair(product(list(zip(p, q, strict=True)) for p, q in tables))
    what = b.Composition([(b.Table(p, q, relation=relation), 1) for p, q in tables])
    curve = b.profile(what, rng.choice((None, [0], [1], [30])))
    misses, hits = curve.trade_off(RATES), curve.true_positive_rate(RATES)
    for i, rate in enumerate(RATES):
        truth = min(pair.misses(rate), pair.back().misses(rate))
        assert encloses(misses.lower[i], truth, misses.upper[i])
        assert encloses(hits.lower[i], 1 - truth, hits.upper[i])
    assert float(np.max(misses.upper - misses.lower)) <= 1e-4
    for prior in PRIORS:
        risk, both = curve.bayes_risk(prior), [pair.risk(prior), pair.back().risk(prior)]
        assert encloses(risk.lower, min(both) if relation == REPLACE else both[0], risk.upper)
        assert risk.width <= 1e-4
    found = curve.advantage()
    assert encloses(found.lower, 1 - 2 * pair.risk(Fraction(1, 2)), found.upper)


@pytest.mark.parametrize(
    ("what", "epsilons", "rate"),
    [
        (b.Laplace(scale="1/1000") * 1, None, 1e-9),
        (b.RandomizedResponse(epsilon=1000) * 1, None, 1e-9),
        (b.RandomizedResponse(epsilon=1000) * 1, [0, 5000], math.exp(-690)),  # e^1000 times this is far beyond 1
        (b.Gaussian(sigma="1/50") * 2, None, 1e-9),
        (b.DiscreteGaussian(sigma="3/100") * 1, None, 1e-9),
        (b.NameAndShame(delta="1/10") + b.Laplace(scale="1/1000"), None, 1e-9),
    ],
    ids=str,
)
def test_readings_of_huge_losses_do_not_overflow(what: b.Composition, epsilons: object, rate: float) -> None:
    """An attacker is right all but always, except where no false alarm at all is allowed: then only leaks count."""
    curve, leak = b.profile(what, epsilons), 0.1 if "name_and_shame" in what.text() else 0.0
    found = curve.true_positive_rate([0, rate, 0.01, 0.1, 0.5])
    assert found.lower[0] <= leak <= found.upper[0] <= leak + 1e-4
    assert np.all(found.lower[1:] > 1 - 1e-4)
    assert np.all(found.upper <= 1)
    assert curve.bayes_risk("1e-400").upper < 1e-300


@pytest.mark.parametrize("mechanism", QUICK, ids=str)
def test_readings_are_as_narrow_as_the_profile_allows(mechanism: b.Mechanism) -> None:
    """Where its known losses (alone: each point of their profile) are attained δ and all readings are within 1e-4."""
    losses = known_losses(mechanism)
    for what in (mechanism * 1, mechanism * 10):
        attained = not isinstance(losses, str) and (losses.attained if what.count > 1 else losses.exact_alone)
        if "poisson(gaussian" in what.text() and what.count > 1:
            continue  # half a second for every ε
        curve = b.profile(what, effort="low")
        assert (float(np.max(curve.upper - curve.lower)) <= 1e-4) is attained
        if attained:
            found = curve.true_positive_rate([1e-6, 1e-3, 0.01, 0.1, 0.5])
            assert float(np.max(found.upper - found.lower)) <= 1e-4
            assert curve.advantage().width <= 1e-4
            assert curve.bayes_risk(0.2).width <= 1e-4


def test_a_reading_is_as_narrow_as_asked() -> None:
    """A smaller width takes further ε's, which `refined` keeps and a reading forgets; where δ is wide, so is it."""
    curve = b.profile(b.Gaussian(sigma=1), [0.0, 1.0])
    wide, narrow = curve.trade_off(0.1, width=0.05), curve.trade_off(0.1, width=1e-9)
    assert 1e-3 < wide.width <= 0.05
    assert narrow.width <= 1e-9
    assert wide.lower <= narrow.lower <= narrow.upper <= wide.upper
    assert curve.epsilons.tolist() == [0.0, 1.0]
    kept = curve.refined(0.1, width=1e-9)
    assert len(kept.epsilons) > 8
    assert kept.refined(0.1, width=1e-9) is kept
    assert b.profile(b.Declared(b.ZCDP(rho=1)), [0.0, 1.0]).trade_off(0.1).width > 0.1


def test_a_direction_of_its_own_is_not_read_from_the_worse_one() -> None:
    """What leaks only where a record is removed bounds no risk in which adding decides."""
    what = b.PoissonSampled(b.Declared(b.ZCDP(rho="1/10", delta="1/5")), rate="1/2") * 2
    curve = b.profile(what, [0.0, 1.0])
    assert b.account(what, epsilon=1).delta.lower > 0.18
    assert np.all(curve.lower == 0)
    assert curve.bayes_risk("9/10").upper >= 0.1
