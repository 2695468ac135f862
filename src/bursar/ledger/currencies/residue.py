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
from math import isqrt
from typing import NamedTuple

from bursar.composition import Composition
from bursar.errors import ConversionRefused, InputError, LossUnknown
from bursar.guarantees import GDP, ZCDP, ApproxDP, Renyi
from bursar.guarantees.gdp import gaussian_delta
from bursar.ledger.amounts import PARTS, written
from bursar.ledger.currencies._base import Balance, Currency, Line, Price, State
from bursar.ledger.currencies._target import largest
from bursar.ledger.release import Release
from bursar.losses.residue import VERSION, ResidueLaw, law_of_directions, law_of_promise, smallest_charge
from bursar.mechanisms._base import Mechanism
from bursar.numerics.balls import working

RUNGS = tuple(PARTS * isqrt(isqrt(2 ** (80 - j))) >> 20 for j in range(45))
"""Four to each halving of the allowance, down to a two-thousandth of it."""
SMALLEST_DELTA = Fraction(1, 10**100)
_SLACK = 2**32  # of the share for leaks, one release's certificate may take the 2^-32th part
_MOST_LAWS = 512


class Charge(NamedTuple):
    """Units of the allowance, and units of δ."""

    residue: int
    leak: int


class Residue(Currency):
    """B² or Σε, and Σδ."""

    name = "residue"
    stateless = False
    version = VERSION

    def __init__(self, epsilon: Fraction, delta: Fraction, leak: Fraction) -> None:
        if delta < SMALLEST_DELTA:
            raise InputError(
                "the residue currency needs a δ of at least 1e-100; 'concentrated' takes any", argument="delta"
            )
        mean = largest(gaussian_delta, epsilon, delta - leak)
        super().__init__(
            (
                Line("residue", mean * mean, "B²"),
                Line("epsilon", epsilon, "Σε"),
                Line("delta", leak, "Σδ of leaks and certificates"),
            ),
            {"residue": ("residue", "delta"), "basic": ("epsilon", "delta")},
        )
        self.epsilon, self.delta, self.leak = epsilon, delta, leak
        self.slack = float(leak) * (1 - 2.0**-50) / _SLACK
        self._laws: dict[Mechanism, ResidueLaw | str] = {}
        self._charges: dict[tuple[Mechanism, int], Charge | None] = {}
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
        if not state["residue"].dead:
            way, paid = self._by_residue(release, state["residue"])
            if paid is None:
                unable["residue"] = way
            else:
                ways["residue"] = paid
        return Price(ways, unable, frozenset({"residue"}))

    def fits(self, release: Release, state: State) -> int:
        """Band by band: within one, equal releases cost the same."""
        counts = [0]
        basic = self._plain(release)
        living = self.living(state)
        if "basic" in living and not isinstance(basic, str):
            counts.append(min(state[line].left // amount for line, amount in basic.items() if amount))
        if "residue" in living:
            counts.append(self._repeats(release, state))
        return max(counts)

    def _repeats(self, release: Release, state: State) -> int:
        """How often the whole release is admitted by the residue."""
        left, leak = state["residue"].left, state["delta"].left
        terms = release.composition.terms
        count = 0
        while True:
            if len(terms) == 1:
                rounds, left, leak = self._within_band(terms[0].mechanism, terms[0].count, left, leak)
            else:
                charge = self._sequence(release.composition, left)
                fit = charge is not None and charge.residue <= left and charge.leak <= leak
                rounds, left, leak = (1, left - charge.residue, leak - charge.leak) if charge and fit else (0, 0, 0)
            if not rounds:
                return count
            count += rounds

    def _within_band(self, mechanism: Mechanism, times: int, left: int, leak: int) -> tuple[int, int, int]:
        """Repeats of ``times`` equal releases that start and end above the rung that prices them now; else one repeat
        across rungs; none where it does not fit.
        """
        band = self._band(left)
        charge = None if band is None else self._charge(mechanism, band)
        if band is not None and charge is not None and charge.residue:
            rounds = (left - RUNGS[band] + charge.residue) // charge.residue // times
            if charge.leak:
                rounds = min(rounds, leak // (charge.leak * times))
            rounds = min(rounds, left // (charge.residue * times))
            if rounds:
                return rounds, left - rounds * times * charge.residue, leak - rounds * times * charge.leak
        total = self._run(mechanism, times, left)
        if total is None or total.residue > left or total.leak > leak:
            return 0, left, leak
        return 1, left - total.residue, leak - total.leak

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

    def _by_residue(self, release: Release, balance: Balance) -> tuple[str, dict[str, int] | None]:
        charge = self._sequence(release.composition, balance.left)
        if charge is None:
            reasons = [law for term in release.composition for law in [self._law(term.mechanism)] if isinstance(law, str)]
            if reasons:
                return "; ".join(reasons), None
            charge = Charge(balance.left + 1, 0)  # no charge is certified here: more than is left
        return "", {"residue": charge.residue, "delta": charge.leak}

    def _sequence(self, composition: Composition, left: int) -> Charge | None:
        """All its releases one after another."""
        spent = leaked = 0
        for mechanism, count in composition.terms:
            charge = self._run(mechanism, count, left - spent)
            if charge is None:
                return None
            spent, leaked = spent + charge.residue, leaked + charge.leak
        return Charge(spent, leaked)

    def _run(self, mechanism: Mechanism, count: int, left: int) -> Charge | None:
        """``count`` equal releases from an allowance of ``left`` units; where they do not fit, what they would ask."""
        spent = leaked = 0
        while count:
            now = left - spent
            band = self._band(now)
            charge = self._gaussian(mechanism) if band is None else self._charge(mechanism, band)
            if charge is None:
                return None
            steps = count
            if band is not None and charge.residue:
                steps = min(count, (now - RUNGS[band]) // charge.residue + 1)
            if charge.residue * steps > now:
                return Charge(spent + count * charge.residue, leaked + count * charge.leak)
            spent, leaked, count = spent + steps * charge.residue, leaked + steps * charge.leak, count - steps
        return Charge(spent, leaked)

    @staticmethod
    def _band(left: int) -> int | None:
        """The rung at or below an allowance."""
        return next((band for band, rung in enumerate(RUNGS) if rung <= left), None)

    def _charge(self, mechanism: Mechanism, band: int) -> Charge | None:
        """The smallest of what a certificate and what plain GDP asks at a rung."""
        key = (mechanism, band)
        if key not in self._charges:
            if len(self._charges) > _MOST_LAWS * len(RUNGS):
                self._charges.clear()
            ways = [way for way in (self._gaussian(mechanism), self._certified(mechanism, band)) if way is not None]
            self._charges[key] = min(ways) if ways else None
        return self._charges[key]

    def _gaussian(self, mechanism: Mechanism) -> Charge | None:
        """A release that is μ-GDP costs μ², at any allowance."""
        try:
            return Charge(self.lines["residue"].price(Fraction(mechanism.promise(GDP).mu) ** 2), 0)
        except ConversionRefused:
            return None

    def _certified(self, mechanism: Mechanism, band: int) -> Charge | None:
        law = self._law(mechanism)
        if isinstance(law, str) or mechanism.name == "gaussian":
            return None
        unit = self.lines["residue"].unit
        allowance = float(RUNGS[band] * unit) * (1 - 2.0**-50)
        charge = smallest_charge(law, allowance, self.slack)
        if charge is None:
            return None
        leak = self.lines["delta"].price(law.leak + Fraction(self.slack))
        return Charge(self.lines["residue"].price(Fraction(charge)), leak)

    def _law(self, mechanism: Mechanism) -> ResidueLaw | str:
        if mechanism not in self._laws:
            if len(self._laws) > _MOST_LAWS:
                self._laws.clear()
            with working():
                self._laws[mechanism] = self._read(mechanism)
        return self._laws[mechanism]

    def _read(self, mechanism: Mechanism) -> ResidueLaw | str:
        """Its own losses, or the worst case of what it promises; leaks are set aside before."""
        try:
            return law_of_directions(mechanism.losses(), self.slack)
        except LossUnknown as unknown:
            reason = str(unknown)
        try:
            promise = mechanism.promise(ZCDP)
            law = law_of_promise(ZCDP(promise.rho).delta_at, self.slack)
            return ResidueLaw(law.sides, law.leak + Fraction(promise.delta))
        except (ConversionRefused, LossUnknown):
            pass
        try:
            return law_of_promise(mechanism.promise(Renyi).delta_at, self.slack)
        except (ConversionRefused, LossUnknown):
            return reason
