"""The parameters of a mixture of Gaussians, its likelihood ratio R, and the place at which R has a value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from flint import acb, arb, ctx

from bursar.losses.engines.contour.mixture_odds import MixtureOdds
from bursar.numerics import normal
from bursar.numerics.balls import Ball

Number = TypeVar("Number", arb, acb)
_STEPS = 200


@dataclass(frozen=True, eq=False)
class Mixture:
    """Noise σ, shifts ≥ 0 in rising order, the largest above 0, and their weights, which add up to 1."""

    sigma: Ball
    shifts: tuple[Ball, ...]
    weights: tuple[Ball, ...]

    @cached_property
    def none(self) -> Ball:
        """p₀, the weight of the shift 0: the infimum of R."""
        return self.weights[0] if self.shifts[0] <= 0 else arb(0)

    def sampled(self, rate: Ball) -> Mixture:
        """The same where shifts occur only with this chance."""
        first = 1 if self.shifts[0] <= 0 else 0
        kept = tuple(rate * weight for weight in self.weights[first:])
        none = 1 - rate * (1 - self.none)
        return Mixture(self.sigma, (arb(0), *self.shifts[first:]), (none, *kept))

    def floats(self) -> MixtureOdds:
        """R in floats, in units of the largest shift."""
        largest = self.shifts[-1]
        return MixtureOdds.of(self.sigma / largest, [shift / largest for shift in self.shifts], self.weights)

    @cached_property
    def _ladder(self) -> tuple[Ball, ...] | None:
        """p_i·e^{−c_i²/(2σ²)} where the shifts are 0, c, 2c, … exactly, so that powers serve; None elsewhere."""
        if not all(
            shift.is_exact() and shift == i * self.shifts[-1] / (len(self.shifts) - 1)
            for i, shift in enumerate(self.shifts)
        ):
            return None
        half = 1 / (2 * self.sigma * self.sigma)
        return tuple(p * (-c * c * half).exp() for c, p in zip(self.shifts, self.weights, strict=True))

    def terms(self, x: Number) -> list[Number]:
        """p_i·e^{(2c_i·x − c_i²)/(2σ²)}."""
        square = self.sigma * self.sigma
        if len(self.shifts) > 2 and self._ladder is not None:
            step = (self.shifts[1] * x / square).exp()
            powers = [step * 0 + 1]
            for _ in self._ladder[1:]:
                powers.append(powers[-1] * step)
            return [weight * power for weight, power in zip(self._ladder, powers, strict=True)]
        return [p * (c * (2 * x - c) / (2 * square)).exp() for c, p in zip(self.shifts, self.weights, strict=True)]

    def odds(self, x: Number) -> Number:
        """R(x)."""
        terms = self.terms(x)
        return sum(terms[1:], terms[0])

    def before(self, x: Ball) -> Ball:
        """The mixture's mass left of x."""
        return sum(
            (p * normal.cdf((x - c) / self.sigma) for c, p in zip(self.shifts, self.weights, strict=True)), arb(0)
        )

    def beyond(self, x: Ball) -> Ball:
        """The mixture's mass right of x."""
        return sum(
            (p * normal.cdf((c - x) / self.sigma) for c, p in zip(self.shifts, self.weights, strict=True)), arb(0)
        )

    def slip(self, place: Ball, height: Ball) -> Ball:
        """What an integral of φ·height may gain between the middle of a ball of places and any other of them."""
        density = (-place * place / (2 * self.sigma * self.sigma)).exp() / (self.sigma * (2 * arb.pi()).sqrt())
        return (place.rad() * abs(height) * density).upper()

    def place(self, loss: Ball) -> Ball | None:
        """A ball around every x with R(x) = e^l, for every reading of the parameters and of l; None where none can be
        certified.

        ln R is convex, so that Newton's steps from the right of the root stay there; the signs on both sides decide.
        """
        if not loss.is_finite():
            return None
        x = self._newton(loss.mid())
        if not x.is_finite():
            return None
        above, slope = self._log(x)
        wide = ((abs(above - loss) / slope).upper() + abs(x) * arb(2) ** (4 - ctx.prec)).upper()
        for _ in range(60):
            if self._log(x + wide)[0] > loss and self._log(x - wide)[0] < loss:
                return arb(x, wide)
            wide = 4 * wide
        return None

    def _log(self, x: Ball) -> tuple[Ball, Ball]:
        """ln R and its slope."""
        terms = self.terms(x)
        total = sum(terms, arb(0))
        mean = sum((c * term for c, term in zip(self.shifts, terms, strict=True)), arb(0)) / total
        return total.log(), mean / (self.sigma * self.sigma)

    def _newton(self, loss: Ball) -> Ball:
        """About the root, without radius: from the right, where one term alone is large enough."""
        square = self.sigma.mid() ** 2
        starts = [
            (loss - p.mid().log()) * square / c.mid() + c.mid() / 2
            for c, p in zip(self.shifts, self.weights, strict=True)
            if c > 0
        ]
        x = min(starts, key=float).mid()
        for _ in range(_STEPS):
            above, slope = self._log(x)
            step = ((above.mid() - loss) / slope.mid()).mid()
            x = (x - step).mid()
            if not abs(step) > abs(x) * arb(2) ** (16 - ctx.prec) + (above.rad() / slope.mid()).mid():
                break
        return x
