"""jax-privacy: certified costs of its training runs and execution plans, by how their batches are really drawn.

    TrainingAccountant("zero_out").compute_epsilon(1000, params)        # in place of DpsgdTrainingAccountant
    planned(config.plan, relation="zero_out", records=60_000)           # an execution plan as releases
    releases(BallsInBinsSampling(1000, 100), noise_multiplier=1.0)      # batches of any strategy that has a proof

`TrainingAccountant` reads the sampling method itself. jax-privacy's own training accountants may be given
`BursarConfig()` instead, but they count batches of a fixed size as Poisson samples with half the noise, which several
steps under replace_one may exceed: for these batches take `TrainingAccountant`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import bursar as b
from bursar.adapters.google import BursarAccountant, from_event
from bursar.adapters.google_events import noise
from bursar.errors import InputError
from bursar.extras import needs
from bursar.jobs.report import Report
from bursar.relations import ADD_REMOVE, REPLACE_ONE, ZERO_OUT, relation_field

with needs("jax", "the adapter of jax-privacy"):
    from dp_accounting.privacy_accountant import NeighboringRelation
    from jax_privacy import batch_selection as batches
    from jax_privacy.accounting import analysis
    from jax_privacy.accounting.accountants import DpAccountantConfig

_NAMED = {
    ADD_REMOVE: NeighboringRelation.ADD_OR_REMOVE_ONE,
    REPLACE_ONE: NeighboringRelation.REPLACE_ONE,
    ZERO_OUT: NeighboringRelation.REPLACE_SPECIAL,
}
_DIGITS = 10**30  # of a root that is no fraction


class BursarConfig(DpAccountantConfig):  # type: ignore[misc]  # untyped there
    """Creates bursar's accountant wherever jax-privacy wants one of dp_accounting's."""

    def create_accountant(self) -> BursarAccountant:
        """A new accountant, to which nothing was added yet."""
        return BursarAccountant()


def releases(
    strategy: Any, *, noise_multiplier: float, relation: str = ZERO_OUT, records: int | None = None
) -> b.Composition:
    """What training with these batches releases, where every step adds noise of ``noise_multiplier`` clipping norms.

    ``records`` is their exact and public number, for strategies that need it; where whole users are drawn, it is
    theirs, and the relation speaks of users. Rounds over fixed groups or bins may not be full for everybody, so of
    these only the upper end speaks.
    """
    under = relation_field(relation)
    if isinstance(strategy, batches.UserSelectionStrategy):
        strategy = strategy.base_strategy
    drawn = _DRAWN.get(type(strategy))
    if drawn is None:
        raise InputError(
            f"batches drawn by {type(strategy).__name__} have no certified cost: use CyclicPoissonSampling, "
            "FixedBatchSampling or BallsInBinsSampling",
            argument="strategy",
        )
    return drawn(strategy, noise(noise_multiplier, under), records)


def _known(records: int | None, why: str) -> int:
    if records is None:
        raise InputError(f"{why} cost what the number of records makes them cost: give records", argument="records")
    return records


def _poisson(strategy: Any, step: b.Gaussian, records: int | None) -> b.Composition:
    """Groups are sampled in turn: a record is there in every round once, and the noise of its rounds is apart, also
    where noise is correlated within a round.
    """
    groups, most = strategy.cycle_length, strategy.truncated_batch_size
    equal = strategy.partition_type is batches.PartitionType.EQUAL_SPLIT
    if groups > 1 and equal and step.relation == ADD_REMOVE:
        raise InputError(
            "groups of equal size have no room for one record more: use relation zero_out or replace_one, or "
            "PartitionType.INDEPENDENT",
            argument="relation",
        )
    if groups > 1 and not equal and most is not None:
        raise InputError(
            "batches cut to a size from groups of random size have no certified cost: use PartitionType.EQUAL_SPLIT",
            argument="strategy",
        )
    rounds: int = -(-strategy.iterations // groups)
    if not (strategy.sampling_prob and rounds) or most == 0:
        return b.Composition()
    if most is None:
        return b.PoissonSampled(step, strategy.sampling_prob) * rounds
    group = _known(records, "batches of at most so many") // groups
    return b.TruncatedPoisson(step, strategy.sampling_prob, most=most, population=group) * rounds


def _fixed(strategy: Any, step: b.Gaussian, records: int | None) -> b.Composition:
    total, size, rounds = _known(records, "batches of a fixed size"), strategy.batch_size, int(strategy.iterations)
    if not (size and rounds):
        return b.Composition()
    if strategy.replace:
        return b.WithReplacementSampled(step, draws=size, population=total) * rounds
    return b.FixedSizeSampled(step, sample=size, population=total) * rounds


def _bins(strategy: Any, step: b.Gaussian, records: int | None) -> b.Composition:
    """The same bin in each of E rounds is one allocation with noise σ/√E, rounded down: that costs no less."""
    rounds = -(-int(strategy.iterations) // strategy.cycle_length)
    if not rounds:
        return b.Composition()
    square = step.sigma.low**2 / rounds
    sigma = Fraction(math.isqrt(math.floor(square * _DIGITS**2)), _DIGITS)
    return b.Allocated(b.Gaussian(sigma, relation=step.relation), steps=strategy.cycle_length) * 1


_DRAWN: dict[type, Callable[[Any, b.Gaussian, int | None], b.Composition]] = {
    batches.CyclicPoissonSampling: _poisson,
    batches.FixedBatchSampling: _fixed,
    batches.BallsInBinsSampling: _bins,
}


def planned(plan: Any, *, relation: str = ZERO_OUT, records: int | None = None) -> b.Composition:
    """The releases of an execution plan. Refused is one whose event claims other batches than it draws.

    The noise is what the event says, in clipping norms. Plans for REPLACE_ONE add twice that, so that only the upper
    end speaks of them.
    """
    under = relation_field(relation)
    claimed = from_event(plan.dp_event, _NAMED[under])
    multiplier = _noise_of(plan.dp_event)
    drawn = releases(plan.batch_selection_strategy, noise_multiplier=multiplier, relation=under, records=records)
    if drawn != claimed:
        raise InputError(
            f"the plan claims {claimed.text()}, but the batches that it draws make it {drawn.text()}: account for the "
            "latter by releases(…), or draw as is claimed",
            argument="plan",
        )
    return drawn


def _noise_of(event: Any) -> float:
    """The noise multiplier inside of an event."""
    while not hasattr(event, "noise_multiplier"):
        if not hasattr(event, "event"):
            raise InputError(f"{type(event).__name__} is no event of one noise", argument="plan")
        event = event.event
    return float(event.noise_multiplier)


class TrainingAccountant(analysis.DpTrainingAccountant):  # type: ignore[misc]  # untyped there
    """The certified upper end of what training costs under a relation, by the sampling method that is declared."""

    def __init__(self, relation: str) -> None:
        super().__init__(BursarConfig())
        self.relation = relation_field(relation)

    def composition(self, num_updates: int, dp_params: Any) -> b.Composition:
        """The releases of so many updates."""
        self._validate_dp_params(dp_params)
        stretches = _stretches(int(num_updates), dp_params.noise_multipliers, dp_params.batch_sizes)
        groups = dp_params.cycle_length or 1
        if groups > 1 and len(stretches) > 1:
            raise InputError("groups in turn need one noise and one batch size", argument="dp_params")
        return sum((self._stretch(*stretch, dp_params, groups) for stretch in stretches), b.Composition())

    def _stretch(self, updates: int, noise: float, batch: int, given: Any, groups: int) -> b.Composition:
        users, most = given.examples_per_user or 1, given.truncated_batch_size
        if given.sampling_method is analysis.SamplingMethod.FIXED_BATCH_SIZE:
            strategy: Any = batches.FixedBatchSampling(batch, updates)
            if groups > 1 or most is not None:
                raise InputError("batches of a fixed size have no groups and no largest size", argument="dp_params")
        else:
            rate = batch / (given.num_samples // groups)
            strategy = batches.CyclicPoissonSampling(rate, updates, most, groups)
        found = releases(strategy, noise_multiplier=noise, relation=self.relation, records=given.num_samples)
        if users == 1:
            return found
        # several records of one user are sampled by themselves, and leave together
        return sum((b.Group(t.mechanism, users) * t.count for t in found.terms), b.Composition())

    def report(self, num_updates: int, dp_params: Any, **more: Any) -> Report:
        """Both ends, every theorem's part, and the reasons."""
        return b.account(self.composition(num_updates, dp_params), delta=dp_params.delta, **more)

    def _compute_epsilon(self, num_updates: int, dp_params: Any) -> float:
        stretches = _stretches(int(num_updates), dp_params.noise_multipliers, dp_params.batch_sizes)
        if not all(noise for _, noise, _ in stretches):
            return math.inf  # searches for a noise begin there
        return self.report(num_updates, dp_params).epsilon.upper

    def can_calibrate_steps(self) -> bool:
        """Whether a search may ask for the number of updates: it may."""
        return True

    def can_calibrate_batch_size(self) -> bool:
        """Whether a search may ask for the batch size: it may."""
        return True

    def can_calibrate_noise_multipliers(self) -> bool:
        """Whether a search may ask for the noise: it may."""
        return True


def _stretches(updates: int, noises: Any, sizes: Any) -> list[tuple[int, float, int]]:
    """Stretches of one noise and one batch size: how many updates, and which."""
    changes = [one if isinstance(one, (list, tuple)) else [(0, one)] for one in (noises, sizes)]
    starts = sorted({int(start) for each in changes for start, _ in each if start < updates})
    found = []
    for start, end in zip(starts, [*starts[1:], updates], strict=True):
        noise, size = (max((p for p in each if p[0] <= start), key=lambda p: p[0])[1] for each in changes)
        found.append((end - start, float(noise), int(size)))
    return found
