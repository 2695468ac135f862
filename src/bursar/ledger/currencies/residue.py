"""(ε, δ) by the residue of a Gaussian, or by plain sums of ε: the default.

Statement: the state is an allowance B², at first the largest one whose Gaussian meets (ε, δ′). A release is charged c
if the release followed by a Gaussian of allowance B² − c is no easier to tell apart than a Gaussian of allowance B²;
then the whole is (ε, δ′ + Σ leaks)-DP, however the releases were chosen. Beside it runs Σεᵢ ≤ ε, which needs no δ of
its own; whoever pays by one of them alone gives up the other.
Hypotheses: a pair that dominates the release (its own, or that of its promise), costs declared before it runs.
Source: proofs/residue.md; the family of filters is that of Regehr et al. 2026.
Rounding: charges up, by certificates in floats with proved errors (`bursar.losses.residue`); allowances down.
Checked: all transcripts of small adversaries enumerated; against balls on random laws; capacities of THEORY 7.5.

Charges are looked up at rungs: one that is valid at an allowance is valid at every larger one, so the charge at the
nearest rung below serves the whole band, equal releases cost the same there, and `fits` is exact without running them.
"""

from __future__ import annotations

from fractions import Fraction

from bursar.errors import ConversionRefused, InputError
from bursar.guarantees import ApproxDP
from bursar.guarantees.gdp import gaussian_delta
from bursar.ledger.amounts import written
from bursar.ledger.currencies._base import Currency, Line, Price, State
from bursar.ledger.currencies._residue_prices import ResiduePrices
from bursar.ledger.currencies._target import largest
from bursar.ledger.release import Release
from bursar.numerics.validate import MAX_COUNT

SMALLEST_DELTA = Fraction(1, 10**100)
_SLACK = 2**32  # of the share for leaks, one release's certificate may take the 2^-32th part


class Residue(Currency):
    """B² or Σε, and Σδ."""

    name = "residue"
    stateless = False

    def __init__(self, epsilon: Fraction, delta: Fraction, leak: Fraction) -> None:
        if delta < SMALLEST_DELTA:
            raise InputError(
                "the residue currency needs a δ of at least 1e-100; 'concentrated' takes any", argument="delta"
            )
        mean = largest(gaussian_delta, epsilon, delta - leak)
        lines = (
            Line("residue", mean * mean, "B²"),
            Line("epsilon", epsilon, "Σε"),
            Line("delta", leak, "Σδ of leaks and certificates"),
        )
        super().__init__(lines, {"residue": ("residue", "delta"), "basic": ("epsilon", "delta")})
        self.epsilon, self.delta, self.leak = epsilon, delta, leak
        self.prices = ResiduePrices(lines[0], lines[2], float(leak) * (1 - 2.0**-50) / _SLACK)
        self._basic: dict[object, dict[str, int] | str] = {}

    def terms(self) -> dict[str, str]:
        """The target and the share of δ for leaks."""
        return {"epsilon": written(self.epsilon), "delta": written(self.delta), "leak": written(self.leak)}

    def ask(self, release: Release, state: State) -> Price:
        """By both ways, as far as they go."""
        ways: dict[str, dict[str, int]] = {}
        unable: dict[str, str] = {}
        basic = self._plain(release)
        if isinstance(basic, str):
            unable["basic"] = basic
        else:
            ways["basic"] = basic
        left = state["residue"].left
        if not state["residue"].dead:
            charge = self.prices.of(release.composition, left)
            if charge is not None:
                ways["residue"] = {"residue": charge.residue, "delta": charge.leak}
            elif reason := self.prices.why_not(release.composition):
                unable["residue"] = reason
            else:  # no charge is certified here: it asks for more than is left
                ways["residue"] = {"residue": left + 1, "delta": 0}
        return Price(ways, unable, frozenset({"residue", "delta"}))

    def fits(self, release: Release, state: State) -> int:
        """Band by band: within one, equal releases cost the same."""
        counts = [0]
        basic = self._plain(release)
        living = self.living(state)
        if "basic" in living and not isinstance(basic, str):
            rooms = [state[line].left // amount for line, amount in basic.items() if amount]
            counts.append(min(rooms, default=MAX_COUNT))
        if "residue" in living:
            counts.append(self.prices.repeats(release.composition, state["residue"].left, state["delta"].left))
        return max(counts)

    def _plain(self, release: Release) -> dict[str, int] | str:
        """Σε and Σδ, or why there are none."""
        if release.key not in self._basic:
            try:
                ways = {"epsilon": 0, "delta": 0}
                for promise, count in release.promises(ApproxDP):
                    ways["epsilon"] += count * self.lines["epsilon"].price(Fraction(promise.epsilon))
                    ways["delta"] += count * self.lines["delta"].price(Fraction(promise.delta))
                self._basic[release.key] = ways
            except ConversionRefused as refusal:
                self._basic[release.key] = str(refusal)
        return self._basic[release.key]
