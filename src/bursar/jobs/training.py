"""Private training (DP-SGD): from records, batches, epochs and a target to noise, or from noise to its cost.

Each step adds Gaussian noise of σ times the clipping norm to the sum of clipped gradients of a batch. How batches are
drawn decides what that costs (`bursar.jobs.schemes`): the claim must be that of the loop that really runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from bursar.errors import InputError, PlanImpossible, understood
from bursar.jobs.account import account
from bursar.jobs.plan import Plan, plan
from bursar.jobs.report import Report
from bursar.jobs.schemes import Scheme, scheme
from bursar.numerics.real import Number, Real
from bursar.numerics.shown import shown
from bursar.numerics.validate import noise, probability, real, whole
from bursar.presented import Bare, Table, Tabled


class SamplingAssumed(UserWarning):
    """Was given where shuffling was declared and Poisson sampling accounted; such runs have an interval of their own
    now, and nothing gives it any more. The name goes with the next version.
    """


@dataclass(frozen=True, repr=False)
class Training(Tabled):
    """One way to train: its noise and what that costs."""

    scheme: Scheme
    noise: Real
    answer: Plan | Report
    """How the noise was found, or what the given one costs."""
    alternatives: tuple[Training, ...] = ()

    @property
    def plan(self) -> Plan | None:
        """How the noise was found, where it was asked for."""
        return self.answer if isinstance(self.answer, Plan) else None

    @property
    def report(self) -> Report:
        """What it costs, by every theorem."""
        return self.answer.report if isinstance(self.answer, Plan) else self.answer

    @property
    def sigma(self) -> float:
        """The noise multiplier: noise ÷ clipping norm, whatever the sampling and the relation."""
        return float(self.noise)

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.scheme.records

    @property
    def batch_size(self) -> int:
        """How many of them a batch holds, on average or exactly."""
        return self.scheme.batch_size

    @property
    def epochs(self) -> Real:
        """How many times each record takes part, on average or exactly."""
        return self.scheme.epochs

    @property
    def steps(self) -> int:
        """How many batches there are."""
        return self.scheme.steps

    @property
    def rate(self) -> Fraction:
        """The share of the records that a batch holds."""
        return self.scheme.rate

    @property
    def noise_per_batch(self) -> float:
        """σ ÷ batch size: the noise on an averaged gradient, in clipping norms. Smaller trains better."""
        return self.sigma / self.batch_size

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        own = {
            "sampling": self.scheme.sampling,
            "relation": self.scheme.relation,
            "records": self.records,
            "batch_size": self.batch_size,
            "epochs": self.epochs.text(),
            "steps": self.steps,
            "rate": str(self.rate),
            "sigma": self.sigma,
            "noise_per_batch": self.noise_per_batch,
            "epsilon": self.report.epsilon.upper,
            "epsilon_lower": self.report.epsilon.lower,
            "delta": self.report.asked[1],
            "releases": self.report.composition.text(),
        }
        if self.scheme.most is not None:
            own["most"] = self.scheme.most
        if self.alternatives:
            own["alternatives"] = [other.to_dict() for other in self.alternatives]
        return own

    def _facts(self) -> list[tuple[str, object]]:
        """Without its report, which may still have to be written."""
        run = f"{self.steps} {self.scheme.sampling} batches of {self.batch_size} of {self.records}"
        return [("sigma", self.sigma), ("run", Bare(run)), ("relation", self.scheme.relation)]

    def _said(self) -> list[str]:
        """What it costs, in two lines."""
        drawn, found = self.scheme, self.report.epsilon
        return [
            f"σ = {self.sigma!r}: {self.steps} {drawn.sampling} batches of {self.batch_size} of {self.records} records",
            f"costs at most ε = {shown(found.upper, up=True, digits=8)} at δ = {self.report.asked[1]}, and at least "
            f"{shown(found.lower, up=False, digits=8)}, under {drawn.relation}",
        ]

    def _table(self) -> Table:
        rows = [
            (
                str(one.batch_size),
                f"{float(one.epochs):g}",
                str(one.steps),
                shown(one.sigma, up=True, digits=6),
                f"{one.noise_per_batch:.3g}",
            )
            for one in sorted((self, *self.alternatives), key=lambda one: (one.batch_size, one.epochs))
        ]
        return Table(self._said(), ("batch size", "epochs", "steps", "σ", "σ/batch"), rows)

    def __str__(self) -> str:
        return super().__str__() if self.alternatives else "\n".join(self._said())


@understood
def training(
    *,
    records: int,
    batch_size: int,
    epochs: Number,
    delta: Number,
    epsilon: Number | None = None,
    sigma: Number | None = None,
    sampling: str = "poisson",
    relation: str | None = None,
    most: int | None = None,
    batch_sizes: Sequence[int] = (),
    epoch_choices: Sequence[Number] = (),
) -> Training:
    """The noise for a training run (``epsilon=``), with alternatives for other batch sizes and numbers of epochs, or
    what a run with this noise costs (``sigma=``).

    ``sampling`` is how the loop draws its batches: poisson, truncated (``most=`` is the largest batch), fixed_size,
    allocated or shuffled. ``relation`` is that of the promise; where none is given, add_remove where it is known for
    this sampling, else zero_out.
    """
    if (epsilon is None) == (sigma is None):
        raise InputError("give epsilon to learn the noise, or sigma to learn its cost", argument="epsilon")
    risk = probability(delta=delta)
    main = scheme(
        records=records, batch_size=batch_size, epochs=epochs, sampling=sampling, relation=relation, most=most
    )
    sizes = [whole(batch_sizes=size, at_least=1, at_most=main.records) for size in batch_sizes]
    times = [noise(epoch_choices=time) for time in epoch_choices]
    if sigma is not None:
        if sizes or times:
            raise InputError("alternatives are for plans: give epsilon, not sigma", argument="batch_sizes")
        own = noise(sigma=sigma)
        return Training(main, own, account(main.releases(own), delta=risk))
    target = real(epsilon=epsilon, above=0)
    pairs = {(size, time) for size in (*sizes, main.batch_size) for time in (*times, main.epochs)}
    others = []
    for size, time in sorted(pairs - {(main.batch_size, main.epochs)}):
        try:
            others.append(_planned(replace(main, batch_size=size, epochs=time), target, risk))
        except PlanImpossible:
            continue
    return replace(_planned(main, target, risk), alternatives=tuple(others))


def _planned(run: Scheme, epsilon: Real, delta: Real) -> Training:
    found = plan(run.releases, epsilon=epsilon, delta=delta)
    return Training(run, noise(sigma=found.value), found)
