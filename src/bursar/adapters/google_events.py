"""dp_accounting's events as compositions, and compositions as events.

An event's noise multiplier is noise divided by the largest norm of one record's value; under REPLACE_ONE the value
moves by twice that, which is what bursar's σ is divided by. REPLACE_SPECIAL is zero_out: a record becomes null.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import bursar as b
from bursar.errors import ConversionRefused, InputError
from bursar.extras import needs
from bursar.numerics.real import Real, read
from bursar.relations import REPLACE_ONE

with needs("google", "the adapter of dp_accounting"):
    import dp_accounting as dpa
    from dp_accounting import dp_event as events
    from dp_accounting.privacy_accountant import NeighboringRelation


class Unsupported(InputError):
    """An event without a meaning here; ``event`` is the one."""

    def __init__(self, event: dpa.DpEvent, why: str) -> None:
        super().__init__(f"{type(event).__name__}: {why}", argument="event")
        self.event = event


class NotPrivate(Unsupported):
    """An event that tells everything."""


def from_event(
    event: dpa.DpEvent, relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE
) -> b.Composition:
    """The composition that an event means; `Unsupported` names the part that means nothing here."""
    if isinstance(event, events.NoOpDpEvent):
        return b.Composition()
    if isinstance(event, events.SelfComposedDpEvent):
        if event.count < 1:
            raise Unsupported(event, "a count must be at least 1")
        return from_event(event.event, relation) * int(event.count)
    if isinstance(event, events.ComposedDpEvent):
        return sum((from_event(part, relation) for part in event.events), b.Composition())
    made = _READ.get(type(event))
    if made is None:
        raise Unsupported(event, "bursar has no such mechanism")
    try:
        found = made(event, relation)
    except (InputError, ConversionRefused) as problem:
        if isinstance(problem, Unsupported):
            raise
        raise Unsupported(event, str(problem)) from None
    return b.Composition() if found is None else found * 1


_RELATIONS = {
    NeighboringRelation.ADD_OR_REMOVE_ONE: "add_remove",
    NeighboringRelation.REPLACE_ONE: "replace_one",
    NeighboringRelation.REPLACE_SPECIAL: "zero_out",
}


def _replaced(relation: NeighboringRelation) -> bool:
    return relation is NeighboringRelation.REPLACE_ONE


def _named(relation: NeighboringRelation) -> str:
    return _RELATIONS[relation]


def _only_once(event: dpa.DpEvent, relation: NeighboringRelation) -> None:
    if _replaced(relation):
        raise Unsupported(
            event,
            f"neighboring_relation must be `ADD_OR_REMOVE_ONE` or `REPLACE_SPECIAL` for `{type(event).__name__}`. "
            f"Found {relation}.",
        )


def _noisy(event: dpa.DpEvent, multiplier: float) -> None:
    if multiplier == 0:
        raise NotPrivate(event, "no noise is added")


def noise(multiplier: float, relation: str) -> b.Gaussian:
    """Gaussian noise in units of the largest norm of one record's value; one that is replaced moves by two of them."""
    sigma = _number(multiplier, "noise_multiplier")
    return b.Gaussian(sigma.times(Fraction(1, 2)) if relation == REPLACE_ONE else sigma, relation=relation)


def _number(given: float, name: str) -> Real:
    """Every reading of a number as it is added: the text of one in single precision is another number."""
    return read(float(given), name)


def _gaussian(event: events.GaussianDpEvent, relation: NeighboringRelation) -> b.Mechanism:
    _noisy(event, event.noise_multiplier)
    return noise(event.noise_multiplier, _named(relation))


def _laplace(event: events.LaplaceDpEvent, relation: NeighboringRelation) -> b.Mechanism:
    _only_once(event, relation)
    _noisy(event, event.noise_multiplier)
    return b.Laplace(scale=_number(event.noise_multiplier, "noise_multiplier"), relation=_named(relation))


def _discrete_laplace(event: events.DiscreteLaplaceDpEvent, relation: NeighboringRelation) -> b.Mechanism:
    _only_once(event, relation)
    _noisy(event, event.noise_parameter)
    scale = _number(event.noise_parameter, "noise_parameter").reciprocal()
    return b.DiscreteLaplace(scale=scale, sensitivity=event.sensitivity, relation=_named(relation))


def _response(event: events.RandomizedResponseDpEvent, relation: NeighboringRelation) -> b.Mechanism | None:
    """Among k buckets, uniformly with probability p: a table, since its ε is no rational number."""
    if relation is NeighboringRelation.ADD_OR_REMOVE_ONE:
        raise Unsupported(
            event,
            "neighboring_relation must be `REPLACE_ONE` or `REPLACE_SPECIAL` for `RandomizedResponseDpEvent`. "
            f"Found {relation}.",
        )
    k, p = event.num_buckets, _number(event.noise_parameter, "noise_parameter")
    if k == 1:
        return None
    if p == 0:
        raise NotPrivate(event, "the answer is always true")
    false, other = p.times(Fraction(k - 1, k)), p.times(Fraction(1, k))
    true = Real(1 - Fraction(false), 1 - false.high, 1 - false.low)
    if _replaced(relation):
        rest = [p.times(Fraction(k - 2, k))] if k > 2 else []
        return b.Table([true, other, *rest], [other, true, *rest], relation=REPLACE_ONE)
    return b.Table([true, false], [Fraction(1, k), Fraction(k - 1, k)], relation=_named(relation))


def _mixture(event: events.MixtureOfGaussiansDpEvent, relation: NeighboringRelation) -> b.Mechanism | None:
    _only_once(event, relation)
    shifts, weights = ([float(x) for x in given] for given in (event.sensitivities, event.sampling_probs))
    if (
        len(shifts) == len(weights)
        and sum(weights) > 0.5
        and not any(c * p for c, p in zip(shifts, weights, strict=True))
    ):
        return None
    _noisy(event, event.standard_deviation)
    return b.GaussianMixture(event.standard_deviation, shifts=shifts, weights=weights, relation=_named(relation))


def _poisson(event: events.PoissonSampledDpEvent, relation: NeighboringRelation) -> b.Mechanism | None:
    if not isinstance(event.event, (events.GaussianDpEvent, events.LaplaceDpEvent)):
        raise Unsupported(event, f"only Gaussians and Laplaces are sampled here, not {event.event}")
    if event.sampling_probability == 0:
        return None
    inner = from_event(event.event, relation).terms[0].mechanism
    return b.PoissonSampled(inner, rate=event.sampling_probability)


def _fixed_size(event: events.SampledWithoutReplacementDpEvent, relation: NeighboringRelation) -> b.Mechanism:
    (term,) = from_event(event.event, relation).terms
    return b.FixedSizeSampled(term.mechanism, sample=event.sample_size, population=event.source_dataset_size)


def _with_replacement(event: events.SampledWithReplacementDpEvent, relation: NeighboringRelation) -> b.Mechanism:
    (term,) = from_event(event.event, relation).terms
    return b.WithReplacementSampled(term.mechanism, draws=event.sample_size, population=event.source_dataset_size)


def _truncated(event: events.TruncatedSubsampledGaussianDpEvent, relation: NeighboringRelation) -> b.Mechanism | None:
    """A Poisson sample of a known number of records, cut to a uniform choice where it is too large."""
    if not (event.sampling_probability and event.truncated_batch_size and event.dataset_size):
        return None
    (term,) = from_event(events.GaussianDpEvent(event.noise_multiplier), relation).terms
    return b.TruncatedPoisson(
        term.mechanism,
        event.sampling_probability,
        most=event.truncated_batch_size,
        population=event.dataset_size,
    )


def _zcdp(event: events.ZCDpEvent, relation: NeighboringRelation) -> b.Mechanism:
    if event.xi != 0:
        raise Unsupported(event, "only ξ = 0 is known here")
    return b.Declared(b.ZCDP(rho=event.rho), relation=_named(relation))


def _open(event: dpa.DpEvent, relation: NeighboringRelation) -> b.Mechanism:
    raise NotPrivate(event, "it tells everything")


_READ: dict[type, Callable[[Any, NeighboringRelation], b.Mechanism | None]] = {
    events.GaussianDpEvent: _gaussian,
    events.LaplaceDpEvent: _laplace,
    events.DiscreteLaplaceDpEvent: _discrete_laplace,
    events.RandomizedResponseDpEvent: _response,
    events.MixtureOfGaussiansDpEvent: _mixture,
    events.PoissonSampledDpEvent: _poisson,
    events.SampledWithoutReplacementDpEvent: _fixed_size,
    events.SampledWithReplacementDpEvent: _with_replacement,
    events.TruncatedSubsampledGaussianDpEvent: _truncated,
    events.ZCDpEvent: _zcdp,
    events.NonPrivateDpEvent: _open,
}


def to_event(what: b.Mechanism | b.Composition) -> dpa.DpEvent:
    """The event that a composition is there; `InputError` names a mechanism that has none. A subclass of one that has
    may cost more than its base, so it has none either.
    """
    if isinstance(what, b.Composition):
        parts = [to_event(term.mechanism) for term in what.terms]
        counted = [
            part if term.count == 1 else events.SelfComposedDpEvent(part, term.count)
            for part, term in zip(parts, what.terms, strict=True)
        ]
        return counted[0] if len(counted) == 1 else events.ComposedDpEvent(counted)
    if type(what) is b.Gaussian:
        return events.GaussianDpEvent(float(Fraction(what.sigma)) * (2 if what.relation == "replace_one" else 1))
    if type(what) is b.Laplace and what.relation != "replace_one":
        return events.LaplaceDpEvent(float(Fraction(what.scale)))
    if type(what) is b.DiscreteLaplace and what.relation != "replace_one":
        return events.DiscreteLaplaceDpEvent(float(1 / Fraction(what.scale)), what.sensitivity)
    if type(what) is b.GaussianMixture:
        shifts, weights = ([float(Fraction(x)) for x in given] for given in (what.shifts, what.weights))
        return events.MixtureOfGaussiansDpEvent(float(Fraction(what.sigma)), shifts, weights)
    if type(what) is b.PoissonSampled:
        return events.PoissonSampledDpEvent(float(Fraction(what.rate)), to_event(what.mechanism))
    if type(what) is b.FixedSizeSampled:
        return events.SampledWithoutReplacementDpEvent(what.population, what.sample, to_event(what.mechanism))
    if type(what) is b.WithReplacementSampled:
        return events.SampledWithReplacementDpEvent(what.population, what.draws, to_event(what.mechanism))
    if type(what) is b.TruncatedPoisson and what.population is not None:
        noise = to_event(what.mechanism).noise_multiplier
        return events.TruncatedSubsampledGaussianDpEvent(what.population, float(Fraction(what.rate)), what.most, noise)
    if type(what) is b.Declared and type(what.guarantee) is b.ZCDP and what.guarantee.delta == 0:
        return events.ZCDpEvent(float(Fraction(what.guarantee.rho)))
    raise InputError(f"dp_accounting has no event for {what.text()}", argument="what")
