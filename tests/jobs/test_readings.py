"""An attacker's readings of a curve against exact enumeration, at any ε, and as narrow as they are asked."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

import bursar as b
from bursar.mechanisms._base import known_losses
from support.catalogue import ADD, EXAMPLES, REPLACE, SLOW

Rows = list[tuple[Fraction, Fraction]]
RATES = [
    Fraction(0),
    Fraction(1, 10**9),
    Fraction(1, 1000),
    Fraction(1, 7),
    Fraction(1, 2),
    Fraction(99, 100),
    Fraction(1),
]
PRIORS = [Fraction(1, 1000), Fraction(3, 10), Fraction(1, 2), Fraction(11, 20), Fraction(97, 100)]
UNEVEN = (["9/10", "1/10"], ["1/2", "1/2"])


def outcomes(pairs: list[tuple[list[Fraction], list[Fraction]]]) -> Rows:
    """All outcomes of independent releases with their probabilities."""
    rows = [(Fraction(1), Fraction(1))]
    for p, q in pairs:
        rows = [(a * x, c * y) for a, c in rows for x, y in zip(p, q, strict=True)]
    return [row for row in rows if any(row)]


def least_misses(rows: Rows, rate: Fraction) -> Fraction:
    """The false-negative rate of the best test (Neyman and Pearson): outcomes in order of p/q, the last one by lot."""
    missed, left = Fraction(1), rate
    for p, q in sorted(rows, key=lambda row: -row[0] / (row[0] + row[1])):
        taken = Fraction(1) if q <= left else left / q
        missed, left = missed - taken * p, left - taken * q
    return missed


def least_risk(rows: Rows, prior: Fraction) -> Fraction:
    """The likelier answer at every outcome."""
    return sum((min(prior * p, (1 - prior) * q) for p, q in rows), Fraction(0))


def drawn(rng: random.Random, size: int, zeros: bool) -> list[Fraction]:
    """A random law with small numbers, perhaps with zeros."""
    weights = [0 if zeros and rng.random() < 0.3 else rng.randint(1, 15) for _ in range(size)] or [1]
    return [Fraction(w, sum(weights)) for w in weights] if any(weights) else drawn(rng, size, zeros)


@pytest.mark.parametrize(("relation", "truth"), [(ADD, 0.3), (REPLACE, 0.22)])
def test_each_prior_has_its_direction(relation: str, truth: float) -> None:
    """At prior 0.3 presence that shows only as (0.9, 0.1) against even odds is never worth guessing, while the other
    order of the pair, which replacing a record allows, is.
    """
    risk = b.profile(b.Table(*UNEVEN, relation=relation)).bayes_risk("3/10")
    assert risk.lower <= truth + 1e-15
    assert risk.upper >= truth - 1e-15
    assert risk.width < 1e-12


def test_priors_beyond_one_half_take_absence_for_the_rarer_hypothesis() -> None:
    """With 7 to 3 for presence the reversed pair decides under add_remove, and at even odds both agree."""
    curve = b.profile(b.Table(*UNEVEN))
    assert curve.bayes_risk("7/10").upper == pytest.approx(0.22)
    assert curve.bayes_risk("1/2").upper == pytest.approx(0.3)


@pytest.mark.parametrize("seed", range(12))
def test_readings_contain_what_enumeration_says(seed: int) -> None:
    """Trade-off, true-positive rate, Bayes risk and advantage of one to three random tables, under either relation,
    from the usual ε's or a single one, are enclosed to a ten-thousandth.
    """
    rng = random.Random(seed)
    relation, kinds = rng.choice((ADD, REPLACE)), rng.randint(1, 3)
    pairs = []
    for _ in range(kinds):
        size, zeros = rng.randint(2, 4), rng.random() < 0.4
        pairs.append((drawn(rng, size, zeros), drawn(rng, size, zeros)))
    rows = outcomes(pairs)
    back = [(q, p) for p, q in rows]
    what = b.Composition([(b.Table(p, q, relation=relation), 1) for p, q in pairs])
    curve = b.profile(what, rng.choice((None, [0], [1], [30])))
    misses, hits = curve.trade_off(RATES), curve.true_positive_rate(RATES)
    for i, rate in enumerate(RATES):
        truth = min(least_misses(rows, rate), least_misses(back, rate))
        assert Fraction(float(misses.lower[i])) <= truth <= Fraction(float(misses.upper[i]))
        assert Fraction(float(hits.lower[i])) <= 1 - truth <= Fraction(float(hits.upper[i]))
    assert float(np.max(misses.upper - misses.lower)) <= 1e-4
    for prior in PRIORS:
        truth = least_risk(rows, prior)
        if relation == REPLACE:
            truth = min(truth, least_risk(back, prior))
        risk = curve.bayes_risk(prior)
        assert Fraction(risk.lower) <= truth <= Fraction(risk.upper)
        assert risk.width <= 1e-4
    found, truth = curve.advantage(), sum((max(p - q, Fraction(0)) for p, q in rows), Fraction(0))
    assert Fraction(found.lower) <= truth <= Fraction(found.upper)


@pytest.mark.parametrize(
    "what",
    [
        b.Laplace(scale="1/1000") * 1,
        b.RandomizedResponse(epsilon=1000) * 1,
        b.Gaussian(sigma="1/50") * 2,
        b.DiscreteGaussian(sigma="3/100") * 1,
        b.NameAndShame(delta="1/10") + b.Laplace(scale="1/1000"),
    ],
    ids=str,
)
def test_readings_of_huge_losses_do_not_overflow(what: b.Composition) -> None:
    """Where ε(1e-12) is beyond 709 an attacker is right all but always, except where no false alarm at all is allowed:
    then only what leaks counts.
    """
    curve = b.profile(what)
    found = curve.true_positive_rate([0, 1e-9, 0.01, 0.5])
    leak = 0.1 if "name_and_shame" in what.text() else 0.0
    assert found.lower[0] <= leak <= found.upper[0] <= leak + 1e-4
    assert np.all(found.lower[1:] > 1 - 1e-4)
    assert np.all(found.upper <= 1)
    assert curve.bayes_risk("1e-400").upper < 1e-300


def test_an_overflowing_grid_is_read_between_its_points() -> None:
    """ε's of one's own, thousands apart, still tell that nobody is missed, but for a rate of 0."""
    curve = b.profile(b.RandomizedResponse(epsilon=1000), [0, 5000])
    assert curve.trade_off(0.1).upper < 1e-4
    assert curve.trade_off(0).lower > 1 - 1e-4
    small = math.exp(-690)  # e^1000 times this is far beyond 1
    assert curve.trade_off(small).upper < 1e-4


@pytest.mark.parametrize("mechanism", [m for m in EXAMPLES if m.name not in SLOW], ids=str)
def test_readings_are_as_narrow_as_the_profile_allows(mechanism: b.Mechanism) -> None:
    """Over the catalogue, alone and ten times: where a mechanism attains its known losses (alone: each point of their
    profile) δ is known to 1e-4, and then every reading is that narrow too.
    """
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
    unknown = b.profile(b.Declared(b.ZCDP(rho=1)), [0.0, 1.0]).trade_off(0.1)
    assert unknown.width > 0.1


def test_a_direction_of_its_own_is_not_read_from_the_worse_one() -> None:
    """What leaks only where a record is removed bounds no risk in which adding decides."""
    what = b.PoissonSampled(b.Declared(b.ZCDP(rho="1/10", delta="1/5")), rate="1/2") * 2
    curve = b.profile(what, [0.0, 1.0])
    assert b.account(what, epsilon=1).delta.lower > 0.18
    assert np.all(curve.lower == 0)
    assert curve.bayes_risk("9/10").upper >= 0.1
