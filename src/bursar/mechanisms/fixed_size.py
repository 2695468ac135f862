"""Sampling a fixed number of records: without replacement, and with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from flint import arb

from bursar.errors import ConversionRefused, InputError, LossUnknown, described
from bursar.guarantees import ApproxDP, Claim, PureDP, Renyi
from bursar.guarantees.pure import amplified
from bursar.guarantees.sampled_renyi import fixed_size_curve
from bursar.losses import (
    Directions,
    FixedSizeLoss,
    Leaks,
    Loss,
    announced,
    nulled_sample,
    poisson_sampled,
    revealed,
    symmetric,
    zeroed,
)
from bursar.mechanisms._base import Mechanism
from bursar.mechanisms._inside import refuse_counted
from bursar.mechanisms.gaussian import Gaussian
from bursar.mechanisms.group import Group, refuse_groups
from bursar.mechanisms.poisson import mixed, on_sums
from bursar.numerics.balls import ball, infinity
from bursar.numerics.binomial import at_least, weights
from bursar.numerics.real import Real
from bursar.numerics.validate import whole
from bursar.relations import REPLACE_ONE, ZERO_OUT

_LIGHTEST = 1e-310  # of a number of draws: what is rarer counts as if it revealed everything
_MOST_DRAWN = 400  # times that one record may be drawn before its losses are too many to list


def sampled_part(
    mechanism: object, name: str, records: int, relations: tuple[str, ...] = (REPLACE_ONE, ZERO_OUT)
) -> Mechanism:
    """Check what is to be run on so many records."""
    if not isinstance(mechanism, Mechanism):
        raise InputError(f"{name} needs one mechanism, not {described(mechanism)}", argument="mechanism")
    if mechanism.relation not in relations:
        raise InputError(
            f"{name} draws a public number of records, so a record is replaced or zeroed out, never added or removed: "
            f"give {mechanism.name} relation={' or relation='.join(relations)}",
            argument="mechanism",
        )
    refuse_groups(mechanism, name)
    refuse_counted(mechanism, name, records=records)
    return mechanism


@dataclass(frozen=True, init=False, repr=False)
class FixedSizeSampled(Mechanism):
    """A mechanism run on ``sample`` of ``population`` records, drawn without replacement: replace_one or zero_out.

    Under add_remove the size of the sample would tell: that is not offered. Single records are drawn, so no group may
    stand inside; put it outside: group(fixed_size(…), size=…).
    """

    mechanism: Mechanism
    sample: int
    population: int
    name = "fixed_size"

    def __init__(self, mechanism: Mechanism, *, sample: int, population: int) -> None:
        drawn, total = whole(sample=sample, at_least=1), whole(population=population, at_least=1)
        inside = sampled_part(mechanism, self.name, drawn)
        if drawn > total:
            raise InputError(f"sample must be at most the population of {total}, not {drawn}", argument="sample")
        self._set(mechanism=inside, sample=drawn, population=total)

    @property
    def relation(self) -> str:
        """That of the mechanism inside: replace_one or zero_out."""
        return self.mechanism.relation

    @property
    def rate(self) -> Fraction:
        """The share of records drawn."""
        return Fraction(self.sample, self.population)

    def for_records(self) -> int:
        """The number of records from which it draws."""
        return self.population

    def claims(self) -> tuple[Claim, ...]:
        """(ε, δ) becomes (ln(1 + q(e^ε − 1)), qδ); the Rényi curve by its sampled bound. Where a record becomes null,
        another one stands in its place as often: that takes two steps.
        """
        if self.rate == 1:
            return self.mechanism.claims()
        inside = self.mechanism if self.relation == REPLACE_ONE else Group(self.mechanism, 2)
        claims = []
        rate, largest = ball(self.rate), infinity()
        try:
            base = inside.promise(ApproxDP)
        except ConversionRefused:
            pass
        else:
            epsilon = amplified(base.epsilon, rate)
            if base.delta.high == 0:
                largest = ball(base.epsilon)
                claims.append(Claim(PureDP(epsilon), "BBG18"))
            else:
                claims.append(Claim(ApproxDP(epsilon, Real(base.delta.high * self.rate)), "BBG18"))
        try:
            curve = inside.promise(Renyi)
        except ConversionRefused:
            return tuple(claims)
        claims.append(Claim(fixed_size_curve(self.text(), curve.at, rate, largest), "WBK19"))
        return tuple(claims)

    def losses(self) -> Directions:
        """A pair that dominates whatever came before. One release of noise on sums costs that much; several at least
        what they cost if all other records are alike: null, or opposed to a record that becomes null.
        """
        if self.rate == 1:
            return self.mechanism.losses()
        rate, one = ball(self.rate), symmetric_loss(self.mechanism)
        least = (poisson_sampled(symmetric(one), rate),) if on_sums(self.mechanism) else ()
        if self.relation == ZERO_OUT:
            if type(self.mechanism) is Gaussian:
                least = (*least, nulled_sample(ball(self.mechanism.sigma), rate))
            return replace(zeroed(one, symmetric_loss(Group(self.mechanism, 2)), rate), least=least)
        whole_pair = symmetric(FixedSizeLoss(one, rate), attained=False, pointwise=bool(least))
        return replace(whole_pair, least=least)

    def leaks(self) -> Leaks:
        """What shows the record itself, where it is drawn."""
        base = self.mechanism.leaks()
        shown = ball(self.rate) * base.shown
        return base if self.rate == 1 else Leaks(shown, shown, shown)


@dataclass(frozen=True, init=False, repr=False)
class WithReplacementSampled(Mechanism):
    """A mechanism run on ``draws`` records, each drawn from all of the ``population``, under replace_one: one record
    may be drawn several times, and then it counts as a group.
    """

    mechanism: Mechanism
    draws: int
    population: int
    name = "with_replacement"

    def __init__(self, mechanism: Mechanism, *, draws: int, population: int) -> None:
        drawn, total = whole(draws=draws, at_least=1), whole(population=population, at_least=1)
        inside = sampled_part(mechanism, self.name, drawn, (REPLACE_ONE,))
        self._set(mechanism=inside, draws=drawn, population=total)

    @property
    def relation(self) -> str:
        """The neighbour relation of such samples: replace_one."""
        return REPLACE_ONE

    def for_records(self) -> int:
        """The number of records from which it draws."""
        return self.population

    def claims(self) -> tuple[Claim, ...]:
        """Those of a group of as many as may be drawn at a time: what mixing cannot worsen."""
        return mixed(Group(self.mechanism, self.draws).claims())

    def losses(self) -> Directions:
        """As without replacement, at the chance of being drawn at all, of a batch that says how many times it was."""
        if self.population == 1:
            return Group(self.mechanism, self.draws).losses()
        share = 1 / arb(self.population)
        masses = weights(self.draws, share, _LIGHTEST)
        if len(masses) > _MOST_DRAWN:
            raise LossUnknown(f"one record may be drawn more than {_MOST_DRAWN} times: its losses are too many to list")
        rate = at_least(1, self.draws, share)
        laws = [symmetric_loss(Group(self.mechanism, k)) for k in range(1, len(masses))]
        parts = [(mass / rate, symmetric(law)) for mass, law in zip(masses[1:], laws, strict=True)]
        rest = 1 - sum((weight for weight, _ in parts), arb(0))
        if len(masses) <= self.draws:
            parts.append((rest.upper().max(arb(_LIGHTEST)), symmetric(revealed())))
        pair = symmetric(FixedSizeLoss(announced(parts).remove, rate), attained=False)
        # drawn several times it only moves farther (proofs/sampling.md §4)
        gaussian = type(self.mechanism) is Gaussian
        return replace(pair, least=(poisson_sampled(symmetric(laws[0]), rate),)) if gaussian else pair

    def leaks(self) -> Leaks:
        """What shows the record itself, where it is drawn."""
        base = self.mechanism.leaks()
        shown = at_least(1, self.draws, 1 / arb(self.population)) * base.shown
        return base if self.population == 1 else Leaks(shown, shown, shown)


def symmetric_loss(mechanism: Mechanism) -> Loss:
    """The loss of a mechanism whose two directions have one law; the formulas of fixed samples need that."""
    losses = mechanism.losses()
    if not losses.same:
        raise LossUnknown(f"samples of fixed size are known for symmetric losses only, not for {mechanism.text()}")
    return losses.remove
