"""How a training run draws its batches, and the releases that it then makes.

    poisson      each record joins each batch by itself, with probability batch ÷ records
    truncated    the same, and a batch that grows too large is cut to a uniform choice
    fixed_size   each batch is a uniform choice of exactly so many records
    allocated    each record joins one batch of each epoch, drawn by itself ("balls in bins")
    shuffled     each epoch is a permutation, cut into batches of one size: what most loops do

Not every relation is known for each of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from bursar.composition import Composition
from bursar.errors import InputError
from bursar.mechanisms import (
    Allocated,
    FixedSizeSampled,
    Gaussian,
    Mechanism,
    PoissonSampled,
    Shuffled,
    TruncatedPoisson,
)
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import choice, noise, whole
from bursar.relations import ADD_REMOVE, REPLACE_ONE, ZERO_OUT, relation_field

OFFERED = {
    "poisson": (ADD_REMOVE, ZERO_OUT, REPLACE_ONE),
    "truncated": (ADD_REMOVE, ZERO_OUT, REPLACE_ONE),
    "fixed_size": (ZERO_OUT, REPLACE_ONE),
    "allocated": (ADD_REMOVE, ZERO_OUT, REPLACE_ONE),
    "shuffled": (ZERO_OUT, REPLACE_ONE),
}
"""The relations under which each is known; the first is meant where none is said."""
ALIASES = {"shuffle": "shuffled"}
_WHOLE_EPOCHS = ("allocated", "shuffled")


@dataclass(frozen=True)
class Scheme:
    """Records, batches and epochs of a run, checked."""

    sampling: str
    relation: str
    records: int
    batch_size: int
    epochs: Real
    most: int | None = None

    @property
    def rate(self) -> Fraction:
        """The share of the records that a batch holds, on average."""
        return Fraction(self.batch_size, self.records)

    @property
    def steps_per_epoch(self) -> int:
        """How many batches hold every record once."""
        return math.ceil(1 / self.rate)

    @property
    def steps(self) -> int:
        """All batches of the run."""
        if self.sampling in _WHOLE_EPOCHS:
            return self.steps_per_epoch * int(self.epochs)
        return max(math.ceil(self.epochs / self.rate), 1)

    def releases(self, sigma: Number) -> Composition:
        """What the run releases, with noise of σ times the clipping norm in each step. Under replace_one a record moves
        the sum by twice that norm, so that the mechanism's own σ is half of it.
        """
        own = noise(sigma=sigma)
        scale = own.times(Fraction(1, 2)) if self.relation == REPLACE_ONE else own
        step = Gaussian(scale, relation=self.relation)
        if self.sampling in _WHOLE_EPOCHS:
            epoch: Mechanism = (Allocated if self.sampling == "allocated" else Shuffled)(
                step, steps=self.steps_per_epoch
            )
            return epoch * int(self.epochs)
        return self._drawn(step) * self.steps

    def _drawn(self, step: Gaussian) -> Mechanism:
        if self.sampling == "fixed_size":
            return FixedSizeSampled(step, sample=self.batch_size, population=self.records)
        if self.sampling == "truncated":
            assert self.most is not None
            return TruncatedPoisson(step, self.rate, most=self.most, population=self.records)
        return PoissonSampled(step, self.rate)


def scheme(
    *, records: int, batch_size: int, epochs: Number, sampling: str, relation: str | None, most: int | None
) -> Scheme:
    """The scheme, or an `InputError` that names what does not fit, and what would."""
    total = whole(records=records, at_least=1)
    batch, rounds = whole(batch_size=batch_size, at_least=1, at_most=total), noise(epochs=epochs)
    named = choice(sampling=sampling, among=(*OFFERED, *ALIASES))
    kind = ALIASES.get(named, named)
    under = OFFERED[kind][0] if relation is None else relation_field(relation)
    if under not in OFFERED[kind]:
        known = " or ".join(OFFERED[kind])
        raise InputError(f"{kind} batches are known under {known}, not under {under}", argument="relation")
    if kind in _WHOLE_EPOCHS and Fraction(rounds).denominator != 1:
        raise InputError(f"{kind} batches come in whole epochs, not {rounds.text()}", argument="epochs")
    if (most is None) == (kind == "truncated"):
        said = "needs most=, the largest batch" if most is None else "has no largest batch: leave out most"
        raise InputError(f"sampling={kind} {said}", argument="most")
    largest = None if most is None else whole(most=most, at_least=1)
    return Scheme(kind, under, total, batch, rounds, largest)
