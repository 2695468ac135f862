"""Private training by every way of drawing batches: planned, accounted, and refused by name where it is not known."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import dp_accounting as dpa
import pytest
from dp_accounting import dp_event as events

import bursar as b
from bursar.errors import InputError
from bursar.jobs.schemes import OFFERED, Scheme, scheme

RUN: dict[str, Any] = {"records": 2000, "batch_size": 100, "epochs": 3, "delta": 1e-5}
SCHEMES = [(sampling, relation) for sampling, relations in OFFERED.items() for relation in relations]


def _more(sampling: str) -> dict[str, Any]:
    return {"most": 130} if sampling == "truncated" else {}


@pytest.mark.parametrize(("sampling", "relation"), SCHEMES)
def test_every_sampling_is_accounted_under_every_relation_it_is_known_for(sampling: str, relation: str) -> None:
    """Both ends, from the same releases as by hand, with σ as noise ÷ clipping norm throughout."""
    found = b.training(**RUN, sigma=2, sampling=sampling, relation=relation, **_more(sampling))
    assert found.sigma == 2
    assert found.plan is None
    assert found.report.composition.relation == relation
    half = "1" if relation == "replace_one" else "2"
    assert f"gaussian(sigma={half}" in found.report.composition.text()
    assert 0 < found.report.epsilon.lower <= found.report.epsilon.upper
    told = found.to_dict()
    assert (told["sampling"], told["relation"], told["steps"]) == (sampling, relation, 60)
    assert told["epsilon_lower"] <= told["epsilon"]


@pytest.mark.parametrize("sampling", ["poisson", "fixed_size", "shuffled"])
def test_plans_fit_and_a_little_less_noise_does_not(sampling: str) -> None:
    """The upper end of what was planned is within the target, for the sampling that was declared."""
    found = b.training(**RUN, epsilon=4, sampling=sampling)
    assert found.plan is not None
    assert found.report.epsilon.upper <= 4
    assert found.plan.neighbour_report is not None
    assert found.plan.neighbour_report.epsilon.upper > 4
    again = b.training(**RUN, sigma=found.plan.value, sampling=sampling)
    assert again.report.epsilon.upper <= 4


def test_sigma_is_theirs_under_replace_one() -> None:
    """dp_accounting's noise multiplier under REPLACE_ONE is `Training.sigma`, which is twice the mechanism's σ."""
    found = b.training(**RUN, sigma=2, relation="replace_one")
    theirs = dpa.pld.PLDAccountant(dpa.NeighboringRelation.REPLACE_ONE)
    theirs.compose(events.PoissonSampledDpEvent(0.05, events.GaussianDpEvent(2.0)), 60)
    assert found.report.epsilon.upper == pytest.approx(theirs.get_epsilon(1e-5), rel=1e-3)


def test_shuffling_is_not_accounted_as_poisson() -> None:
    """The alias means the honest interval: its upper end is that of plain noise in every epoch."""
    shuffled = b.training(**RUN, sigma=2, sampling="shuffle")
    poisson = b.training(**RUN, sigma=2)
    assert shuffled.scheme.sampling == "shuffled"
    assert shuffled.report.epsilon.upper > 2 * poisson.report.epsilon.upper
    plain = b.account(b.Gaussian(2, relation="zero_out") * 3, delta=1e-5).epsilon
    assert shuffled.report.epsilon.upper == pytest.approx(plain.upper, rel=1e-6)


def test_once_an_epoch_is_cheaper_than_told_and_flat() -> None:
    """Random allocation costs less than plain noise in each epoch, and its interval is narrow."""
    found = b.training(**RUN, sigma=2, sampling="allocated").report
    assert found.composition.text() == "allocated(gaussian(sigma=2), steps=20)*3"
    assert found.epsilon.upper < b.account(b.Gaussian(2) * 3, delta=1e-5).epsilon.lower / 2
    assert found.epsilon.upper - found.epsilon.lower <= 1e-4 * found.epsilon.upper


def test_steps_and_rates() -> None:
    """Batches that are drawn anew come as often as the epochs ask; those that partition come in whole epochs."""
    drawn = scheme(records=1000, batch_size=300, epochs="1/2", sampling="poisson", relation=None, most=None)
    assert (drawn.steps, drawn.rate, drawn.relation) == (2, Fraction(3, 10), "add_remove")
    whole = scheme(records=1000, batch_size=300, epochs=2, sampling="shuffled", relation=None, most=None)
    assert (whole.steps_per_epoch, whole.steps, whole.relation) == (4, 8, "zero_out")
    assert isinstance(whole, Scheme)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sampling": "shuffled", "relation": "add_remove"}, "known under zero_out or replace_one"),
        ({"sampling": "fixed_size", "relation": "add_remove"}, "known under zero_out or replace_one"),
        ({"sampling": "truncated"}, "needs most="),
        ({"most": 7}, "leave out most"),
        ({"sampling": "allocated", "epochs": "3/2"}, "whole epochs"),
        ({"sampling": "balls"}, "sampling"),
        ({"relation": "nobody"}, "relation"),
        ({"batch_size": 2001}, "batch_size"),
        ({"batch_size": 0}, "batch_size"),
        ({"epochs": 0}, "epochs"),
        ({"sigma": 1, "epsilon": 1}, "epsilon"),
        ({"sigma": None}, "epsilon"),
        ({"batch_sizes": [10]}, "alternatives"),
    ],
    ids=range(13),
)
def test_what_does_not_fit_is_refused_by_name(given: dict[str, Any], said: str) -> None:
    """With what would."""
    with pytest.raises(InputError, match=said):
        b.training(**{**RUN, "sigma": 2, **given})


def test_a_wide_interval_is_planned_to_its_upper_end() -> None:
    """What shuffled batches cost at least says nothing about how closely the most is known."""
    found = b.plan(
        lambda sigma: b.Shuffled(b.Gaussian(sigma, relation="zero_out"), steps=50) * 2, epsilon=2, delta=1e-5
    )
    plain = b.plan(lambda sigma: b.Gaussian(sigma, relation="zero_out") * 2, epsilon=2, delta=1e-5)
    assert found.value == pytest.approx(plain.value, rel=1e-5)
