"""Poisson sampling with a largest batch: where more are drawn, a uniform choice of them is kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bursar.errors import InputError, described
from bursar.guarantees import Claim
from bursar.losses import (
    Directions,
    FixedSizeLoss,
    GaussianLoss,
    Leaks,
    announced,
    replaced_gaussian,
    sampled_gaussian,
    symmetric,
    zeroed,
)
from bursar.mechanisms._base import Mechanism
from bursar.mechanisms.gaussian import Gaussian
from bursar.mechanisms.group import Group
from bursar.mechanisms.poisson import PoissonSampled, mixed
from bursar.numerics.balls import Ball, ball
from bursar.numerics.binomial import at_least
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import real, whole
from bursar.relations import ADD_REMOVE, REPLACE_ONE


@dataclass(frozen=True, init=False, repr=False)
class TruncatedPoisson(Mechanism):
    """Gaussian noise on a Poisson sample of at most ``most`` records: of more that are drawn, a uniform choice is kept.

    How often that happens depends on how many records there are. ``population`` is their exact number, which must be
    public; under add_remove it is that of the larger database. Where only a bound is known, ``largest_population`` is
    it, under add_remove, and costs a little more: the exact formula does not grow with the number of records.
    """

    mechanism: Gaussian
    rate: Real
    most: int
    population: int | None = None
    largest_population: int | None = None
    name = "truncated_poisson"

    def __init__(
        self,
        mechanism: Mechanism,
        rate: Number,
        *,
        most: int,
        population: int | None = None,
        largest_population: int | None = None,
    ) -> None:
        if type(mechanism) is not Gaussian:
            raise InputError(
                f"truncated_poisson is known for gaussian noise, not for {described(mechanism)}", argument="mechanism"
            )
        if (population is None) == (largest_population is None):
            raise InputError(
                "give population, the exact number of records, or largest_population, a bound of it",
                argument="population",
            )
        if largest_population is not None and mechanism.relation != ADD_REMOVE:
            raise InputError(
                f"under {mechanism.relation} the number of records is public: give it as population",
                argument="largest_population",
            )
        self._set(
            mechanism=mechanism,
            rate=real(rate=rate, above=0, at_most=1),
            most=whole(most=most, at_least=1),
            population=None if population is None else whole(population=population, at_least=1),
            largest_population=(
                None if largest_population is None else whole(largest_population=largest_population, at_least=1)
            ),
        )

    @property
    def relation(self) -> str:
        """The neighbour relation of the mechanism inside."""
        return self.mechanism.relation

    def for_records(self) -> int | None:
        """The population, where it is exact."""
        return self.population

    def _full(self) -> Ball:
        """How likely the others alone fill the batch, at most."""
        return at_least(self.most, (self.population or self.largest_population or 1) - 1, ball(self.rate))

    def _kept(self, full: Ball) -> Ball:
        """How likely the record is in a batch that the others fill; the rate itself where their number is unknown."""
        if self.population is None:
            return ball(self.rate)
        more = at_least(self.most + 1, self.population, ball(self.rate))
        return self.most * more / (self.population * full)

    def claims(self) -> tuple[Claim, ...]:
        """What mixing cannot worsen: a record in a full batch stands in another's place."""
        if self._never_full():
            return PoissonSampled(self.mechanism, self.rate).claims()
        inside = self.mechanism if self.relation == REPLACE_ONE else Group(self.mechanism, 2)
        return mixed(inside.claims())

    def _never_full(self) -> bool:
        return (self.population or self.largest_population or 1) <= self.most

    def losses(self) -> Directions:
        """Whether the others fill the batch is said beforehand: with room the record joins, else it takes a place."""
        if self._never_full():
            return PoissonSampled(self.mechanism, self.rate).losses()
        sigma, rate, full = ball(self.mechanism.sigma), ball(self.rate), self._full()
        kept = self._kept(full)
        drawn = (1 - full) * rate + full * kept
        if self.relation == REPLACE_ONE:
            room, place = replaced_gaussian(sigma, rate), symmetric(FixedSizeLoss(GaussianLoss(1 / sigma), kept))
            least = replaced_gaussian(sigma, drawn)
        else:
            room, least = sampled_gaussian(sigma, rate), sampled_gaussian(sigma, drawn)
            if self.relation == ADD_REMOVE:
                place = sampled_gaussian(sigma / 2, kept)
            else:
                place = zeroed(GaussianLoss(1 / sigma), GaussianLoss(2 / sigma), kept)
        pair = announced([(1 - full, room), (full, place)]) if full < 1 else place
        if self.population is None:
            least = room  # there may be too few to fill a batch
        return replace(pair, attained=False, least=(least,))

    def leaks(self) -> Leaks:
        """None: Gaussian noise leaks nothing."""
        return self.mechanism.leaks()
