"""(ε, δ) by the residue of a Gaussian, or by plain sums of ε: the default.

Statement: the state is an allowance B², at first the largest one whose Gaussian meets (ε, δ′). A release is charged c
if the release followed by a Gaussian of allowance B² − c is no easier to tell apart than a Gaussian of allowance B²;
then the whole is (ε, δ′ + Σ leaks)-DP, however the releases were chosen. Beside it runs Σεᵢ ≤ ε, which needs no δ of
its own; whoever pays by one of them alone gives up the other.
Hypotheses: a pair that dominates the release (its own, or that of its promise), costs declared before it runs.
Source: proofs/residue.md; the family of filters is that of Regehr et al. 2026.
Concurrent: by Haney et al. 2023, for filters over trade-off functions: a charge depends on the pair alone.
Rounding: charges up, by certificates in floats with proved errors (`bursar.losses.residue`); allowances down.
Checked: all transcripts of small adversaries enumerated; against balls on random laws; the counts of
docs/concepts/adaptivity.md.

Charges are looked up at rungs: one that is valid at an allowance is valid at every larger one, so the charge at the
nearest rung below serves the whole band, equal releases cost the same there, and `fits` is exact without running them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from bursar.errors import InputError
from bursar.guarantees.gdp import gaussian_delta
from bursar.ledger.budget.amounts import written
from bursar.ledger.budget.currencies._base import Currency, Line, Sought, Unpriced
from bursar.ledger.budget.currencies._residue_appraiser import Appraiser
from bursar.ledger.budget.currencies._residue_prices import Charge, Missing, Tariff, alike, price_of, why_not
from bursar.ledger.budget.currencies._step import Price, State
from bursar.ledger.budget.currencies._target import largest
from bursar.ledger.budget.release import Release
from bursar.ledger.journal.rows import Balance
from bursar.numerics.validate import MAX_COUNT

SMALLEST_DELTA = Fraction(1, 10**100)
_SLACK = 2**32  # of the share for leaks, one release's certificate may take the 2^-32th part


class Residue(Currency):
    """B² or Σε, and Σδ."""

    name = "residue"

    def __init__(self, epsilon: Fraction, delta: Fraction, leak: Fraction) -> None:
        if delta < SMALLEST_DELTA:
            raise InputError(
                "the residue currency needs a δ of at least 1e-100; 'concentrated' takes any", argument="delta"
            )
        if leak < SMALLEST_DELTA:
            raise InputError("the share of δ for leaks must be at least 1e-100", argument="leak")
        mean = largest(gaussian_delta, epsilon, delta - leak)
        lines = (
            Line("residue", mean * mean, "B²"),
            Line("epsilon", epsilon, "Σε"),
            Line("delta", leak, "Σδ of leaks and certificates"),
        )
        super().__init__(lines, {"residue": ("residue", "delta"), "basic": ("epsilon", "delta")})
        self.epsilon, self.delta, self.leak = epsilon, delta, leak
        slack = float(leak) * (1 - 2.0**-50) / _SLACK
        self._slack = lines[2].price(Fraction(slack))
        self.tariff = Tariff()
        self.appraiser = Appraiser(self.tariff, *lines, slack)

    def terms(self) -> dict[str, str]:
        """The target and the share of δ for leaks."""
        return {"epsilon": written(self.epsilon), "delta": written(self.delta), "leak": written(self.leak)}

    def price(self, release: Release, state: State, ran: Sequence[str] = ()) -> Price:
        """By both ways, as far as they go."""
        return self._ask(self.appraiser, release, state, ran)

    def known(self, release: Release, state: State, ran: Sequence[str] = ()) -> Price:
        """The same, from what has been found."""
        try:
            return self._ask(self.tariff, release, state, ran)
        except Missing:
            raise Unpriced(Sought(self, (release,), state, tuple(ran))) from None

    def lessons(self, releases: Sequence[Release]) -> Tariff:
        """The part of the tariff that concerns them."""
        return self.tariff.part(releases)

    def learn(self, lessons: Tariff) -> None:
        """Take prices that were found elsewhere into the tariff."""
        self.tariff.learn(lessons)

    def _ask(self, tariff: Tariff, release: Release, state: State, ran: Sequence[str]) -> Price:
        left, charge, reason = state["residue"].left, None, ""
        if state["residue"].dead:
            return self._price(tariff, release, None, "")
        if ran:
            # a certificate speaks of the order in which releases ran; squares of Gaussians, all of them, and sums of ε
            # do not (proofs/residue.md §6)
            charge = tariff.whole(release).squares
            if charge is None or not all(map(_gaussian, ran)):
                charge, reason = None, f"{release.text} is charged out of its order, and not all there is Gaussian"
            return self._price(tariff, release, charge, reason)
        charge = price_of(tariff, release, left)
        if charge is None:
            reason = why_not(tariff, release)
            # no charge is certified here: it asks for more than is left
            charge = None if reason else Charge(left + 1, 0)
        return self._price(tariff, release, charge, reason)

    def _price(self, tariff: Tariff, release: Release, charge: Charge | None, reason: str) -> Price:
        ways: dict[str, dict[str, int]] = {}
        unable = {"residue": reason} if reason else {}
        units: dict[str, tuple[int, ...]] = {}
        if charge is not None:
            ways["residue"] = {"residue": charge.residue, "delta": charge.leak}
        whole = tariff.whole(release)
        if isinstance(whole.plain, str):
            unable["basic"] = whole.plain
        else:
            ways["basic"], units["epsilon"] = whole.basic, whole.plain[0]
        together = {}
        if len(ways) == 2 and whole.knows_losses:
            # one leak, counted once, and the certificates beside it (proofs/residue.md §5)
            together["delta"] = ways["residue"]["delta"] + max(ways["basic"]["delta"] - ways["residue"]["delta"], 0)
            together["delta"] += self._slack * release.count if ways["basic"]["delta"] else 0
        return Price(ways, unable, together, frozenset({"residue", "delta"}), units)

    def alike(self, release: Release, state: State) -> int:
        """Within a band equal releases cost the same."""
        if state["residue"].dead:
            return MAX_COUNT
        return alike(self.appraiser, release, state["residue"].left)

    def shrinks(self, line: str, balance: Balance) -> bool:
        """A charge is valid at the allowance it was made at and at larger ones, never at smaller ones."""
        return line != "residue" or balance.spent == 0


_GAUSSIAN = r"gaussian\([^()]*\)(\*\d+)?"
_GAUSSIANS = re.compile(rf"{_GAUSSIAN}( \+ {_GAUSSIAN})*")


def _gaussian(text: str) -> bool:
    """Whether a release was charged for the squares of its Gaussians alone: its text says what it is."""
    return _GAUSSIANS.fullmatch(text) is not None
