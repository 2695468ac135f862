"""Truncated concentrated differential privacy: D_α(P‖Q) ≤ ρα for 1 < α < ω."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from bursar.errors import ConversionRefused
from bursar.guarantees._base import Counted, Guarantee, largest, total
from bursar.guarantees.zcdp import concentrated_delta, concentrated_epsilon
from bursar.numerics.balls import Ball, ball, down, infinity, minimum
from bursar.numerics.real import Number, Real
from bursar.numerics.validate import MAX_PROMISE, real

EVERY_ORDER = 10**12  # stands for "every order" where a concentrated promise has no upper limit


@dataclass(frozen=True, init=False, repr=False)
class TCDP(Guarantee):
    """(ρ, ω)-tCDP. The order ω itself may be used too, because Rényi divergence is continuous from the left in its
    order.
    """

    rho: Real
    omega: Real
    name = "tcdp"

    def __init__(self, rho: Number, omega: Number) -> None:
        self._set(rho=real(rho=rho, at_least=0, largest=MAX_PROMISE), omega=real(omega=omega, above=1))

    def epsilon_at(self, delta: Ball) -> Ball:
        """The best order below ω, or Bun et al.'s closed form where that is smaller."""
        if not delta > 0:
            return arb(0) if self.rho.high == 0 else infinity()
        best = concentrated_epsilon(ball(self.rho), delta, down(ball(self.omega)))
        return minimum(best, self.closed_form_epsilon(delta))

    def closed_form_epsilon(self, delta: Ball) -> Ball:
        """ρ + 2√(ρ ln(1/δ)) if ln(1/δ) ≤ (ω − 1)²ρ, else ρω + ln(1/δ)/(ω − 1) (BDRS 2018, Lemma 6)."""
        rho, omega = ball(self.rho), ball(self.omega)
        log = -delta.log()
        at_omega = rho * omega + log / (omega - 1)
        if log <= (omega - 1) ** 2 * rho:
            return minimum(at_omega, rho + 2 * (rho * log).sqrt())
        return at_omega

    def delta_at(self, epsilon: Ball) -> Ball:
        """The best order below ω."""
        return concentrated_delta(ball(self.rho), epsilon, down(ball(self.omega)))

    @classmethod
    def compose(cls, promises: Counted) -> TCDP:
        """ρ's add up, the smallest ω remains."""
        counted = [(promise, count) for promise, count in promises if count]
        if not counted:
            return cls(0, EVERY_ORDER)
        omega = smallest([promise.omega for promise, _ in counted])
        return cls(total([(promise.rho, count) for promise, count in counted]), omega)

    @classmethod
    def worst(cls, promises: Sequence[TCDP]) -> TCDP:
        """The largest ρ with the smallest ω."""
        return cls(largest([p.rho for p in promises]), smallest([p.omega for p in promises]))

    def group(self, size: int) -> TCDP:
        """Refused: no group form with usable constants is proved here."""
        if size == 1:
            return self
        raise ConversionRefused("no group form is proved for truncated concentrated privacy")


def smallest(numbers: Sequence[Real]) -> Real:
    """The smallest number, covering every reading."""
    return Real(min(map(Fraction, numbers)), min(n.low for n in numbers), min(n.high for n in numbers))
