"""Sampling a fixed number of records without replacement."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from bursar.errors import ConversionRefused, InputError, LossUnknown, described
from bursar.guarantees import ApproxDP, Claim, PureDP, Renyi
from bursar.guarantees.pure import amplified
from bursar.guarantees.sampled_renyi import fixed_size_curve
from bursar.losses import Directions, Leaks
from bursar.mechanisms._base import Mechanism
from bursar.mechanisms.group import refuse_groups
from bursar.numerics.balls import ball, infinity
from bursar.numerics.real import Real
from bursar.numerics.validate import whole
from bursar.relations import REPLACE_ONE


@dataclass(frozen=True, init=False, repr=False)
class FixedSizeSampled(Mechanism):
    """A replace_one mechanism run on ``sample`` of ``population`` records, drawn without replacement.

    Single records are drawn, so no group may stand inside; put it outside: group(fixed_size(…), size=…).
    """

    mechanism: Mechanism
    sample: int
    population: int
    name = "fixed_size"

    def __init__(self, mechanism: Mechanism, *, sample: int, population: int) -> None:
        if not isinstance(mechanism, Mechanism):
            raise InputError(f"fixed_size needs one mechanism, not {described(mechanism)}", argument="mechanism")
        if mechanism.relation != REPLACE_ONE:
            raise InputError(
                "sampling a fixed number of records is analysed under replace_one: the sample's size is public, "
                f"so a record is replaced, never added; give {mechanism.name} relation=replace_one",
                argument="mechanism",
            )
        refuse_groups(mechanism, self.name)
        drawn, total = whole(sample=sample, at_least=1), whole(population=population, at_least=1)
        if drawn > total:
            raise InputError(f"sample must be at most the population of {total}, not {drawn}", argument="sample")
        self._set(mechanism=mechanism, sample=drawn, population=total)

    @property
    def relation(self) -> str:
        """The neighbour relation of such samples: replace_one, always."""
        return REPLACE_ONE

    @property
    def rate(self) -> Fraction:
        """The share of records drawn."""
        return Fraction(self.sample, self.population)

    def claims(self) -> tuple[Claim, ...]:
        """(ε, δ) becomes (ln(1 + q(e^ε − 1)), qδ); the Rényi curve by its sampled bound."""
        if self.rate == 1:
            return self.mechanism.claims()
        claims = []
        rate, largest = ball(self.rate), infinity()
        try:
            base = self.mechanism.promise(ApproxDP)
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
            curve = self.mechanism.promise(Renyi)
        except ConversionRefused:
            return tuple(claims)
        claims.append(Claim(fixed_size_curve(self.text(), curve.at, rate, largest), "WBK19"))
        return tuple(claims)

    def losses(self) -> Directions:
        """Unknown: sampling without replacement has no known dominating pair in closed form."""
        if self.rate == 1:
            return self.mechanism.losses()
        raise LossUnknown("no loss distribution is known for sampling without replacement")

    def leaks(self) -> Leaks:
        """What shows the record itself, where it is drawn."""
        base = self.mechanism.leaks()
        shown = ball(self.rate) * base.shown
        return base if self.rate == 1 else Leaks(shown, shown, shown)
