"""Poisson sampling: every record takes part with probability ``rate``, independently."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from flint import arb

from bursar.errors import ConversionRefused, InputError, LossUnknown, described
from bursar.guarantees import ApproxDP, BoundedRange, Claim, Guarantee, PureDP, Renyi, Tightness
from bursar.guarantees.pure import amplified
from bursar.guarantees.sampled_renyi import sampled_curve
from bursar.losses import Directions, Leaks, poisson_sampled, replaced_gaussian
from bursar.mechanisms._base import Mechanism, known_losses, renyi_of_losses
from bursar.mechanisms._binomial import binomial_claims, binomial_losses
from bursar.mechanisms._drawn import Drawn
from bursar.mechanisms._inside import refuse_counted
from bursar.mechanisms.discrete_gaussian import DiscreteGaussian
from bursar.mechanisms.discrete_laplace import DiscreteLaplace
from bursar.mechanisms.gaussian import Gaussian
from bursar.mechanisms.gaussian_mixture import GaussianMixture
from bursar.mechanisms.group import refuse_groups
from bursar.mechanisms.laplace import Laplace
from bursar.numerics.balls import ball
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import real
from bursar.relations import ADD_REMOVE, REPLACE_ONE, ZERO_OUT

_ON_SUMS = (Gaussian, GaussianMixture, Laplace, DiscreteGaussian, DiscreteLaplace)


@dataclass(frozen=True, init=False, repr=False)
class PoissonSampled(Mechanism):
    """A mechanism run on a Poisson sample. Shuffling or fixed-size batches are not Poisson sampling, and cost more.

    Each record takes part by itself, so poisson(group(gaussian(…), size=m), rate=q) is the group of a sample,
    group(poisson(gaussian(…), rate=q), size=m): a binomial number of its records takes part. No other group may stand
    inside; put it outside.

    Under replace_one every record's contribution is taken to be at most half the sensitivity (so that leaving it out
    moves the output half as far as replacing it). Under zero_out noise on sums costs what it costs under add_remove: a
    null record that is drawn contributes as much as one that is not.
    """

    mechanism: Mechanism
    rate: Real
    name = "poisson"

    def __init__(self, mechanism: Mechanism, rate: Number) -> None:
        if not isinstance(mechanism, Mechanism):
            raise InputError(
                f"poisson needs one mechanism, not {described(mechanism)}; counts go outside: poisson(m, rate=…)*10",
                argument="mechanism",
            )
        refuse_groups(mechanism, self.name)
        refuse_counted(mechanism, self.name)
        self._set(mechanism=mechanism, rate=real(rate=rate, above=0, at_most=1))

    @property
    def relation(self) -> str:
        """The neighbour relation of the mechanism inside."""
        return self.mechanism.relation

    def claims(self) -> tuple[Claim, ...]:
        """Amplified promises where leaving a record out is its neighbour; otherwise only what mixing cannot worsen."""
        if self.rate == 1:
            return self.mechanism.claims()
        drawn = self.drawn()
        if drawn is not None and drawn.some:
            return binomial_claims(drawn, self)
        if not left_out(self.mechanism):
            return mixed(self.mechanism.claims())
        return *self._amplified(), *self._renyi()

    def _amplified(self) -> tuple[Claim, ...]:
        """(ε, δ) becomes (ln(1 + q(e^ε − 1)), qδ)."""
        if type(self.mechanism) in (Gaussian, GaussianMixture):
            return ()  # its losses are unbounded: it has no (ε, δ) of its own, and this is asked at every account
        try:
            base = self.mechanism.promise(ApproxDP)
        except ConversionRefused:
            return ()
        rate = ball(self.rate)
        epsilon = amplified(base.epsilon, rate)
        delta = Real(base.delta * self.rate, base.delta.low * self.rate.low, base.delta.high * self.rate.high)
        told = any(
            claim.tightness is Tightness.EXACT and isinstance(claim.guarantee, (PureDP, ApproxDP))
            for claim in self.mechanism.claims()
        )
        promise = PureDP(epsilon) if delta.high == 0 else ApproxDP(epsilon, delta)
        return (Claim(promise, "BBG18", Tightness.TIGHT if told else Tightness.BOUND),)

    def _renyi(self) -> tuple[Claim, ...]:
        losses = known_losses(self.mechanism)
        if isinstance(losses, Directions) and losses.remove.table() is not None:
            return (renyi_of_losses(self, "ZDW22"),) if losses.infinite_mass() <= 0 else ()
        if type(self.mechanism) is GaussianMixture:  # a sample of a mixture is a mixture
            return (renyi_of_losses(self, "CGST24"),)
        if isinstance(losses, Directions) and losses.remove is losses.add:
            curve = sampled_curve(self.text(), losses.renyi, self.rate, factor=1, rough=losses.rough_renyi)
            return (Claim(curve, "MTZ19"),)
        try:
            base = self.mechanism.promise(Renyi)
        except ConversionRefused:
            return ()
        return (Claim(sampled_curve(self.text(), base.at, self.rate, factor=3), "ZW19"),)

    def losses(self) -> Directions:
        """From the mechanism's own pair; Gaussian noise only under replace_one, noise on sums under zero_out."""
        base, rate = self.mechanism, ball(self.rate)
        if self.rate == 1:
            return base.losses()
        drawn = self.drawn()
        if drawn is not None and drawn.some:
            return binomial_losses(drawn)
        if left_out(base):
            return poisson_sampled(base.losses(), rate)
        if base.relation == REPLACE_ONE and type(base) is Gaussian:  # a subclass may release more than its noise says
            return replaced_gaussian(ball(base.sigma), rate)
        known = "Gaussian noise" if base.relation == REPLACE_ONE else "noise on sums"
        raise LossUnknown(f"under {base.relation} the sampled pair is known for {known} only, not for {base.text()}")

    def drawn(self) -> Drawn | None:
        """The same records, drawn less often."""
        base = self.mechanism.drawn() if type(self) is PoissonSampled else None
        if base is None:
            return None
        if base.rate == 1 and base.rate.exact:
            return base._replace(rate=self.rate)
        rate = Real(base.rate * self.rate, base.rate.low * self.rate.low, base.rate.high * self.rate.high)
        return base._replace(rate=rate)

    def leaks(self) -> Leaks:
        """What the sampled record leaks. Absence is never certain, and neither is another record in its place: under
        the other relations only what shows the record itself stays.
        """
        base, rate = self.mechanism.leaks(), ball(self.rate)
        if self.rate == 1:
            return base
        shown = rate * base.shown
        return Leaks(rate * base.removed, arb(0), shown) if left_out(self.mechanism) else Leaks(shown, shown, shown)


def left_out(mechanism: Mechanism) -> bool:
    """Whether its promise also holds between a database with a record and one without it.

    It is so under add_remove by definition, under replace_one never. Under zero_out it is so for noise on sums, where a
    null record adds zero, and for samples of them; of anything else, a subclass too, nobody knows what it makes of one.
    """
    if mechanism.relation == ADD_REMOVE:
        return True
    inside = mechanism
    while type(inside) is PoissonSampled:
        inside = inside.mechanism
    return mechanism.relation == ZERO_OUT and on_sums(inside)


def on_sums(mechanism: Mechanism) -> bool:
    """Whether it is nothing but noise on a sum of what records contribute; a subclass may release more."""
    return type(mechanism) in _ON_SUMS


def mixed(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """What survives mixing over samples: everything that is convex, which bounded range is not."""
    return tuple(Claim(_convex(claim.guarantee), claim.citation) for claim in claims)


def _convex(promise: Guarantee) -> Guarantee:
    return PureDP(promise.eta) if isinstance(promise, BoundedRange) else promise
