"""Planning private training (DP-SGD): from records, batch size, epochs and a target to noise, steps and rate.

Each step draws every record with probability rate = batch/records (Poisson sampling) and adds Gaussian noise of σ times
the clipping norm to the sum of clipped gradients. Many training loops shuffle instead and take batches of one size; the
bound does not hold for those, so the plan says it where that is declared.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bursar.errors import PlanImpossible
from bursar.jobs.plan import Plan, plan
from bursar.mechanisms import Gaussian, PoissonSampled
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import choice, noise, probability, real, whole

SAMPLINGS = ("poisson", "shuffle")
_SHUFFLED = (
    "the plan assumes Poisson sampling (each record joins each batch with probability batch/records); "
    "shuffled batches of one size are not covered by this bound and may cost more privacy"
)


class SamplingAssumed(UserWarning):
    """The plan holds for Poisson sampling, but shuffling was declared."""


@dataclass(frozen=True)
class Training:
    """One way to train within the target."""

    records: int
    batch_size: int
    epochs: Real
    steps: int
    rate: Fraction
    plan: Plan
    warning: str | None = None
    alternatives: tuple[Training, ...] = ()

    @property
    def sigma(self) -> float:
        """The noise multiplier: noise ÷ clipping norm."""
        return float(self.plan.value)

    @property
    def noise_per_batch(self) -> float:
        """σ ÷ batch size: the noise on an averaged gradient, in clipping norms. Smaller trains better."""
        return self.sigma / self.batch_size

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        own = {
            "records": self.records,
            "batch_size": self.batch_size,
            "epochs": self.epochs.text(),
            "steps": self.steps,
            "rate": str(self.rate),
            "sigma": self.sigma,
            "noise_per_batch": self.noise_per_batch,
            "epsilon": self.plan.report.epsilon.upper,
        }
        if self.warning:
            own["warning"] = self.warning
        if self.alternatives:
            own["alternatives"] = [other.to_dict() for other in self.alternatives]
        return own

    def __str__(self) -> str:
        lines = [f"σ = {self.sigma!r} for {self.steps} steps at rate {self.rate} ({self.batch_size} of {self.records})"]
        lines.append(f"costs at most ε = {self.plan.report.epsilon.upper!r}")
        if self.warning:
            lines.append(f"warning: {self.warning}")
        if self.alternatives:
            lines += ["", "batch size      epochs     steps          σ   σ/batch"]
            for other in sorted((self, *self.alternatives), key=lambda one: (one.batch_size, one.epochs)):
                lines.append(
                    f"{other.batch_size:10d}{float(other.epochs):12g}{other.steps:10d}"
                    f"{other.sigma:11.5f}{other.noise_per_batch:10.3g}"
                )
        return "\n".join(lines)


def training(
    *,
    records: int,
    batch_size: int,
    epochs: Number,
    epsilon: Number,
    delta: Number,
    sampling: str = "poisson",
    batch_sizes: Sequence[int] = (),
    epoch_choices: Sequence[Number] = (),
) -> Training:
    """The noise for a training run, with alternatives for other batch sizes and numbers of epochs.

    ``sampling="shuffle"`` says that the loop shuffles: the plan then warns, since it holds for Poisson sampling.
    """
    total = whole(records=records, at_least=1)
    batch = whole(batch_size=batch_size, at_least=1, at_most=total)
    rounds = noise(epochs=epochs)
    target, risk = real(epsilon=epsilon, above=0), probability(delta=delta)
    warning = _SHUFFLED if choice(sampling=sampling, among=SAMPLINGS) == "shuffle" else None
    if warning:
        warnings.warn(warning, SamplingAssumed, stacklevel=2)
    sizes = [whole(batch_sizes=size, at_least=1, at_most=total) for size in batch_sizes]
    times = [noise(epoch_choices=time) for time in epoch_choices]
    pairs = {(size, time) for size in (*sizes, batch) for time in (*times, rounds)} - {(batch, rounds)}
    others = []
    for size, time in sorted(pairs):
        try:
            others.append(_one(total, size, time, target, risk, warning))
        except PlanImpossible:
            continue
    main = _one(total, batch, rounds, target, risk, warning)
    return Training(
        main.records, main.batch_size, main.epochs, main.steps, main.rate, main.plan, warning, tuple(others)
    )


def _one(records: int, batch: int, epochs: Real, epsilon: Real, delta: Real, warning: str | None) -> Training:
    rate = Fraction(batch, records)
    steps = max(math.ceil(epochs / rate), 1)
    found = plan(lambda sigma: PoissonSampled(Gaussian(sigma), rate) * steps, epsilon=epsilon, delta=delta)
    return Training(records, batch, epochs, steps, rate, found, warning)
