"""dp_accounting's own suites on bursar's accountant, and what the two say of the same events."""

from __future__ import annotations

import math
import unittest
from fractions import Fraction
from typing import Any

import dp_accounting as dpa
import numpy as np
import pytest
from dp_accounting import dp_event as events
from dp_accounting import privacy_accountant_test
from dp_accounting.pld import pld_privacy_accountant, pld_privacy_accountant_test

import bursar as b
from bursar.adapters.google import BursarAccountant, Unsupported, from_event, to_event

REPLACE = dpa.NeighboringRelation.REPLACE_ONE
SPECIAL = dpa.NeighboringRelation.REPLACE_SPECIAL


class TestAbstract(privacy_accountant_test.PrivacyAccountantTest):
    """The suite that dp_accounting ships for accountants, whole."""

    __unittest_skip__ = False

    def _make_test_accountants(self) -> list[BursarAccountant]:
        return [BursarAccountant(), BursarAccountant(REPLACE), BursarAccountant(SPECIAL)]


DEVIATIONS = {
    "test_truncated_subsampled_gaussian_basic": "ours is lower: they count a full batch as replacing",
}


def _pld_cases() -> list[str]:
    loader = unittest.TestLoader()
    return list(loader.getTestCaseNames(pld_privacy_accountant_test.PldPrivacyAccountantTest))


@pytest.mark.parametrize("name", _pld_cases())
def test_the_suite_of_the_pld_accountant(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All its cases, with bursar's accountant in the place of theirs; what deviates is listed with the reason."""
    monkeypatch.setattr(pld_privacy_accountant, "PLDAccountant", BursarAccountant)
    result = unittest.TestResult()
    pld_privacy_accountant_test.PldPrivacyAccountantTest(name).run(result)
    failed = [text for _, text in result.failures + result.errors]
    assert result.testsRun == 1
    assert bool(failed) is (name in DEVIATIONS), (name, failed)


EVENTS = [
    events.GaussianDpEvent(2.0),
    events.LaplaceDpEvent(3.0),
    events.DiscreteLaplaceDpEvent(0.25, 2),
    events.PoissonSampledDpEvent(0.1, events.GaussianDpEvent(1.5)),
    events.PoissonSampledDpEvent(0.1, events.LaplaceDpEvent(2.0)),
    events.MixtureOfGaussiansDpEvent(4.0, [0.0, 1.0, 2.0], [0.75, 0.125, 0.125]),
    events.ComposedDpEvent([events.GaussianDpEvent(4.0), events.SelfComposedDpEvent(events.LaplaceDpEvent(8.0), 3)]),
]


@pytest.mark.parametrize("relation", list(dpa.NeighboringRelation), ids=lambda one: one.name)
def test_truncated_batches_cost_no_more_than_theirs(relation: Any) -> None:
    """They count a full batch as replacing a record, whatever the relation; ours counts what it is, and no more."""
    event = events.TruncatedSubsampledGaussianDpEvent(100, 0.1, 12, 2.0)
    ours, theirs = BursarAccountant(relation).compose(event, 12), pld_privacy_accountant.PLDAccountant(relation)
    theirs.compose(event, 12)
    assert to_event(from_event(event, relation)) == event
    assert ours.report(delta=1e-6).epsilon.lower > 0
    assert ours.get_epsilon(1e-6) <= theirs.get_epsilon(1e-6)
    assert (
        BursarAccountant(relation).compose(events.TruncatedSubsampledGaussianDpEvent(9, 0.1, 0, 2.0)).composition
        == b.Composition()
    )


def test_samples_with_replacement_are_read() -> None:
    """The event that no accountant of theirs supports, and back again."""
    event = events.SampledWithReplacementDpEvent(1000, 10, events.GaussianDpEvent(4.0))
    assert (
        from_event(event, REPLACE)
        == b.WithReplacementSampled(b.Gaussian(2, relation="replace_one"), draws=10, population=1000) * 1
    )
    assert to_event(from_event(event, REPLACE)) == event
    with pytest.raises(Unsupported, match="replace_one"):
        from_event(event)


@pytest.mark.parametrize("event", EVENTS, ids=str)
@pytest.mark.parametrize("count", [1, 12])
def test_never_above_theirs_by_more_than_their_grid(event: Any, count: int) -> None:
    """Their PLDs round losses up, so ours lies below theirs and, from below, above nothing they could have meant."""
    ours, theirs = BursarAccountant().compose(event, count), pld_privacy_accountant.PLDAccountant()
    theirs.compose(event, count)
    for delta in (1e-3, 1e-6):
        report = ours.report(delta=delta)
        assert ours.get_epsilon(delta) <= theirs.get_epsilon(delta) * (1 + 1e-5) + 1e-9
        assert theirs.get_epsilon(delta) <= report.epsilon.upper * 1.01 + 1e-3
        assert report.epsilon.lower <= report.epsilon.upper


def test_theirs_forgets_the_count_of_randomized_responses() -> None:
    """Ten responses cost ten times one at δ = 0; the PLD accountant reports the cost of one."""
    event = events.RandomizedResponseDpEvent(0.5, 3)
    theirs = pld_privacy_accountant.PLDAccountant(REPLACE)
    theirs.compose(event, 10)
    one = BursarAccountant(REPLACE).compose(event).get_epsilon(0)
    ten = BursarAccountant(REPLACE).compose(event, 10)
    assert ten.get_epsilon(0) == pytest.approx(10 * one)
    assert theirs.get_epsilon(1e-6) < ten.report(delta=1e-6).epsilon.lower


def test_relations() -> None:
    """Under REPLACE_ONE a record moves the sum by twice its norm, sampled or not."""
    for event in (events.GaussianDpEvent(2.0), events.PoissonSampledDpEvent(0.1, events.GaussianDpEvent(2.0))):
        theirs = pld_privacy_accountant.PLDAccountant(REPLACE)
        theirs.compose(event, 10)
        assert BursarAccountant(REPLACE).compose(event, 10).get_epsilon(1e-6) == pytest.approx(
            theirs.get_epsilon(1e-6), rel=1e-4
        )
    assert from_event(events.GaussianDpEvent(2.0), REPLACE).terms[0].mechanism == b.Gaussian(1, relation="replace_one")


def test_noise_in_single_precision_is_what_it_is() -> None:
    """0.7 in single precision is less than its text says: what it costs is at least what that much noise costs, and
    every number covers the float that was given.
    """
    single = np.float32(0.7)
    added = float(single)
    assert added < 0.7
    for relation, sigma in ((SPECIAL, added), (REPLACE, added / 2)):
        upper = BursarAccountant(relation).compose(events.GaussianDpEvent(single), 10).get_epsilon(1e-6)
        assert upper >= b.account(b.Gaussian(sigma) * 10, delta=1e-6).epsilon.lower
    exact = Fraction(added)
    gaussian, laplace, geometric, response = (
        from_event(event, relation).terms[0].mechanism
        for event, relation in (
            (events.GaussianDpEvent(single), REPLACE),
            (events.LaplaceDpEvent(single), SPECIAL),
            (events.DiscreteLaplaceDpEvent(single, 1), SPECIAL),
            (events.RandomizedResponseDpEvent(single, 3), REPLACE),
        )
    )
    for found, truth in (
        (gaussian.sigma, exact / 2),
        (laplace.scale, exact),
        (geometric.scale, 1 / exact),
        (response.p[0], 1 - exact * 2 / 3),
        (response.p[1], exact / 3),
    ):
        assert found.low <= truth <= found.high


@pytest.mark.parametrize(
    "what",
    [
        b.Gaussian(2) * 3,
        b.Gaussian(1, relation="replace_one") * 1,
        b.Laplace("0.5") * 2 + b.DiscreteLaplace(4) * 1,
        b.PoissonSampled(b.Gaussian("1.25"), "0.01") * 1000,
        b.FixedSizeSampled(b.Gaussian(2, relation="replace_one"), sample=10, population=100) * 5,
        b.Declared(b.ZCDP("0.125")) * 2,
        b.GaussianMixture(2.0, shifts=[0, 0.5, 2], weights=[0.5, 0.25, 0.25]) * 3,
    ],
    ids=str,
)
def test_there_and_back(what: b.Composition) -> None:
    """A composition survives the way through events."""
    replaced = what.relation == "replace_one"
    back = from_event(to_event(what), REPLACE if replaced else dpa.NeighboringRelation.ADD_OR_REMOVE_ONE)
    assert back == what


def test_what_has_no_meaning_is_refused_by_name() -> None:
    """Both ways."""
    for event in (
        events.UnsupportedDpEvent(),
        events.SingleEpochTreeAggregationDpEvent(1.0, 4),
        events.RepeatAndSelectDpEvent(events.GaussianDpEvent(1.0), 1, 1),
        events.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0], [0.5, 0.4]),
        events.MixtureOfGaussiansDpEvent(1.0, [0.0, -1.0], [0.5, 0.5]),
        events.MixtureOfGaussiansDpEvent(1.0, [0.0], [0.5, 0.5]),
        events.ZCDpEvent(0.1, 0.2),
    ):
        with pytest.raises(Unsupported, match=type(event).__name__):
            from_event(events.ComposedDpEvent([events.GaussianDpEvent(1.0), event]))
    with pytest.raises(b.InputError, match="no event for randomized_response"):
        to_event(b.RandomizedResponse(1))


@pytest.mark.parametrize("wrapped", [lambda one: one, lambda one: b.PoissonSampled(one, rate=0.5), lambda one: one * 2])
@pytest.mark.parametrize("base", [b.Gaussian, b.Laplace, b.DiscreteLaplace])
def test_a_class_of_ones_own_is_not_written_as_its_base(base: Any, wrapped: Any) -> None:
    """It may claim more than the event of its base says: it has none, alone, sampled or composed."""
    own = type("Own", (base,), {})(1)
    with pytest.raises(b.InputError, match="no event for"):
        to_event(wrapped(own))


def test_mixtures_of_gaussians() -> None:
    """Theirs in both relations that have it; nothing happens where no sensitivity is above 0, and without noise all is
    told.
    """
    event = events.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0, 2.0], [0.81, 0.18, 0.01])
    assert from_event(event) == from_event(events.SelfComposedDpEvent(event, 1))
    assert from_event(event, SPECIAL).relation == "zero_out"
    assert to_event(from_event(event, SPECIAL)) == to_event(from_event(event)) == event
    with pytest.raises(Unsupported, match="neighboring_relation"):
        from_event(event, REPLACE)
    assert from_event(events.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0], [1.0, 0.0])).count == 0
    assert BursarAccountant().compose(events.MixtureOfGaussiansDpEvent(0.0, [1.0], [1.0])).get_epsilon(0.1) == math.inf


def test_their_calibration_finds_our_plan() -> None:
    """calibrate_dp_mechanism with bursar's accountant lands where plan does."""
    found = dpa.calibrate_dp_mechanism(
        BursarAccountant,
        lambda sigma: events.PoissonSampledDpEvent(0.01, events.GaussianDpEvent(sigma)),
        1.0,
        1e-5,
        dpa.ExplicitBracketInterval(0.4, 4.0),
        tol=1e-4,
    )
    planned = b.plan(lambda sigma: b.PoissonSampled(b.Gaussian(sigma), 0.01) * 1, epsilon=1, delta=1e-5).value
    assert found == pytest.approx(planned, abs=2e-4)
    assert (
        BursarAccountant().compose(events.PoissonSampledDpEvent(0.01, events.GaussianDpEvent(found))).get_epsilon(1e-5)
        <= 1
    )


def test_nothing_private_is_infinite() -> None:
    """And report says why there is no interval."""
    accountant = BursarAccountant().compose(events.NonPrivateDpEvent())
    assert accountant.get_epsilon(0.5) == math.inf
    with pytest.raises(b.BursarError, match="not private"):
        accountant.report(delta=1e-6)
