"""(ε, δ) by the residue of a Gaussian and by sums of ε, on several splits of the target at once: the default.

Statement: the target (ε, δ′) is divided into splits (s, w), and each keeps a sum of ε up to s and an allowance B², at
first the largest one whose Gaussian meets (ε − s, w·δ′). On every split that lives a release is paid from the sum, or
charged c on the allowance if the release followed by a Gaussian of allowance B² − c is no easier to tell apart than a
Gaussian of allowance B². While one split lives the whole is (ε, δ′ + Σ leaks)-DP, however the releases were chosen.
Hypotheses: a pair that dominates the release (its own, or that of its promise), costs declared before it runs.
Source: proofs/residue.md; the family of filters is that of Regehr et al. 2026.
Concurrent: by Haney et al. 2023, for filters over trade-off functions: a charge depends on the pair alone.
Rounding: charges up, by certificates in floats with proved errors (`bursar.losses.residue`); allowances down.
Checked: all transcripts of small adversaries enumerated; against balls on random laws; the counts of
docs/concepts/adaptivity.md.

Charges are looked up at levels of the allowance: one that is valid at an allowance is valid at every larger one, so the
charge at the nearest level below serves the whole band, equal releases cost the same there, and `fits` is exact without
running them.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from fractions import Fraction
from functools import partial
from typing import Any

from bursar.errors import CostInvalid, InputError
from bursar.guarantees.gdp import gaussian_delta
from bursar.ledger.budget.amounts import PARTS, units_down, written
from bursar.ledger.budget.currencies import splits
from bursar.ledger.budget.currencies._base import Currency, Line, Sought, Unpriced
from bursar.ledger.budget.currencies._certificates import Finder, from_bases
from bursar.ledger.budget.currencies._residue_costs import LEVELS, Costs, Key, Missing, level_below
from bursar.ledger.budget.currencies._step import Price, Refusal, State
from bursar.ledger.budget.currencies._target import largest
from bursar.ledger.budget.currencies.splits import LINE, SQUARES, UNUSED, Payment, Share
from bursar.ledger.budget.release import Release
from bursar.ledger.journal.body import Basis
from bursar.ledger.journal.rows import Balance, Split, Splits
from bursar.numerics.validate import MAX_COUNT

SMALLEST_DELTA = Fraction(1, 10**100)
_WHOLE = Share(Fraction(0), Fraction(1))
_STATE = frozenset({LINE, "delta"})
_SLACK = 2**32  # of the share for leaks, each certificate may take the 2^-32th part


class Residue(Currency):
    """Splits, and Σδ."""

    name = "residue"

    def __init__(self, epsilon: Fraction, delta: Fraction, leak: Fraction, shares: Sequence[Share]) -> None:
        if delta < SMALLEST_DELTA:
            raise InputError(
                "the residue currency needs a δ of at least 1e-100; 'concentrated' takes any", argument="delta"
            )
        if leak < SMALLEST_DELTA:
            raise InputError("the share of δ for leaks must be at least 1e-100", argument="leak")
        self.epsilon, self.delta, self.leak = epsilon, delta, leak
        self.shares = tuple(shares)
        undivided, first = self._allowance(_WHOLE), self._allowance(self.shares[0])
        lines = (
            # its unit is that of the first split, so that the levels of certificates begin where that begins
            Line("gaussian", undivided, "B²", first / PARTS),
            Line("pure", epsilon, "Σε"),
            Line("delta", leak, "Σδ of leaks and certificates"),
        )
        super().__init__(lines)
        slack = float(leak) * (1 - 2.0**-50) / _SLACK
        self._slack = lines[2].price(Fraction(slack))
        self.costs = Costs()
        self.finder = Finder(self.costs, *lines, slack)

    def _allowance(self, share: Share) -> Fraction:
        """The largest B² of a split, rounded down."""
        mean = largest(gaussian_delta, self.epsilon * (1 - share.epsilon), (self.delta - self.leak) * share.delta)
        return mean * mean

    def terms(self) -> dict[str, Any]:
        """The target, the share of δ for leaks, and the splits."""
        numbers = {"epsilon": written(self.epsilon), "delta": written(self.delta), "leak": written(self.leak)}
        return {**numbers, "splits": splits.as_texts(self.shares)}

    def rest_on(self, bases: tuple[Basis, ...]) -> None:
        """Composed profiles are those that a journal has."""
        super().rest_on(bases)
        self.finder.compose = partial(from_bases, bases)

    def squares(self, release: Release) -> int | None:
        """What a release costs a Gaussian part at any allowance and in any order; None where it has no such price."""
        each = [term.squares for term in self.finder.terms(release)]
        if any(one is None for one in each):
            return None
        return sum(count * (one or 0) for (_, count), one in zip(release.terms, each, strict=True))

    def certifies(self, release: Release, left: int, paid: int) -> bool:
        """Whether it is proved that a Gaussian part with so much left has paid enough for a release, even if its price
        is another today: as a whole, or as equal releases at the least allowance that they met.
        """
        finder, (count, *others) = self.finder, [count for _, count in release.terms]
        if release.count > 1 and finder.proves(release.composition, level_below(left), paid):
            return True
        return not others and finder.proves(
            release.mechanisms[0], level_below(left - paid + paid // count), paid // count
        )

    @property
    def state_lines(self) -> Set[str]:
        """One line for all splits, one for leaks."""
        return _STATE

    def damage(self, state: State) -> str:
        """Also where there are other splits than were opened."""
        if found := super().damage(state):
            return found
        found_here = state[LINE].splits
        if found_here is None or len(found_here.each) != len(self.shares) + 1 or state["delta"].splits is not None:
            return "its splits are not those that were opened"
        return ""

    def opening(self) -> dict[str, Balance]:
        """All splits, and beside them the pure one."""
        return {LINE: Balance(0, 0, 0, self._fresh(self)), "delta": Balance(PARTS, 0, 0)}

    def _fresh(self, target: Residue) -> Splits:
        """The splits of a target in which nothing was charged, in the units of this one."""
        gaussian, pure = self.lines["gaussian"].unit, self.lines["pure"].unit
        if max(target._allowance(share) for share in (*self.shares, _WHOLE)) >= 345 * PARTS * gaussian:
            # amounts are 64-bit integers of a unit that the first split is PARTS of
            raise InputError("the first split has too little beside the others: give it more of δ", argument="splits")
        each = [
            Split(
                units_down(target._allowance(share), gaussian),
                units_down(share.epsilon * target.epsilon, pure),
                0,
                UNUSED,
            )
            for share in self.shares
        ]
        whole = Split(0, units_down(target.epsilon, pure), 0, UNUSED)
        undivided = units_down(target.lines["gaussian"].limit, gaussian)
        return Splits(undivided, whole.pure, written(target.epsilon), (*each, whole))

    def relimited(self, now: Splits, before: Residue, after: Residue) -> Splits | None:
        """The splits under another target, ``after`` in place of ``before``; None where no split is left."""
        return splits.relimited(now, self._fresh(before), self._fresh(after))

    # ---- prices

    def price(self, release: Release, state: State, late: bool = False) -> Price:
        """What each split that lives would pay."""
        return self._price(self.finder, release, state, late)

    def known(self, release: Release, state: State, late: bool = False) -> Price:
        """The same, from what has been found."""
        try:
            return self._price(self.costs, release, state, late)
        except Missing:
            raise Unpriced(Sought(self, (release,), state, late)) from None

    def lessons(self, releases: Sequence[Release]) -> dict[Key, Any]:
        """The part of the table that concerns them."""
        return self.costs.part(releases)

    def learn(self, lessons: dict[Key, Any]) -> None:
        """Take prices that were found elsewhere into the table."""
        self.costs.learn(lessons)

    def _price(self, costs: Costs, release: Release, state: State, late: bool) -> Price:
        every = state[LINE].splits
        assert every is not None
        pay = costs.late_payment if late else costs.payment
        payments = [pay(release, split) if split.mode else None for split in every.each]
        payments, leak = self._within_leaks(costs, release, payments, state["delta"].left)
        if not any(payments):
            return self._none(costs, release, every, late)
        bases = dict.fromkeys(basis for one in payments if one is not None for basis in one.bases)
        units = tuple(0 if isinstance(term.pure, str) else term.pure[0] for term in costs.terms(release))
        return Price(
            {"delta": leak},
            frozenset({"gaussian", "delta"}),
            {"pure": units},
            payments=tuple(payments),
            bases=tuple(bases),
        )

    def _within_leaks(
        self, costs: Costs, release: Release, payments: list[Payment | None], left: int
    ) -> tuple[list[Payment | None], int]:
        """The payments, and what they leak. Where that is too much splits are given up: first those that need a δ for a
        promise, else those that need it for certificates, else both.
        """
        leak = costs.leak(release, payments, self._slack)
        if leak <= left:
            return payments, leak
        for kept in ({"law"}, {"pure"}, set()):
            fewer = [one if one is not None and _leaks_by(one) <= kept else None for one in payments]
            least = costs.leak(release, fewer, self._slack)
            if any(fewer) and least <= left:
                return fewer, least
        return payments, leak

    def _none(self, costs: Costs, release: Release, every: Splits, late: bool) -> Price:
        """Why no split can pay: a release that has no price at all is refused at once."""
        said = costs.terms(release)
        unpaid = [term.pure for term in said if isinstance(term.pure, str)]
        if reason := costs.why_not(release):
            raise CostInvalid(
                f"{release.text} has no price here: {reason}; {unpaid[0]}. A scope with the currency 'sums' takes what "
                "has an ε at a δ that you name, 'renyi' what has a Rényi divergence at its order"
            )
        squares = all(term.squares is not None for term in said if isinstance(term.pure, str))
        latest = SQUARES if squares else UNUSED
        if late and unpaid and not any(split.gaussian and split.mode <= latest for split in every.each):
            raise CostInvalid(
                f"{release.text} would be charged out of its order, and what was charged since depends on that order"
            )
        best = max(every.each, key=lambda split: split.gaussian)
        gaussian = None if late else costs.asked(release, best.gaussian)
        pure = (
            None
            if unpaid
            else sum(
                count * term.pure[0]
                for (_, count), term in zip(release.terms, said, strict=True)
                if not isinstance(term.pure, str)
            )
        )
        return Price({}, short=self._short(every, gaussian, pure))

    def _short(self, every: Splits, gaussian: int | None, pure: int | None) -> Refusal:
        """The measure on which least is missing."""
        most = max(split.gaussian for split in every.each)
        left = max(split.pure for split in every.each)
        of_pure = Refusal("pure", pure or 0, Balance(every.pure, every.pure - left, 0))
        asked = most + 1 if gaussian is None else max(gaussian, most + 1)
        of_gaussian = Refusal("gaussian", asked, Balance(every.gaussian, max(every.gaussian - most, 0), 0))
        if pure is not None and pure > left and (gaussian is None or not most or self._nearer(of_pure, of_gaussian)):
            return of_pure
        return of_gaussian

    def _nearer(self, one: Refusal, other: Refusal) -> bool:
        missing = [Fraction(short.asked - short.balance.left, short.balance.limit) for short in (one, other)]
        return missing[0] <= missing[1]

    def alike(self, release: Release, state: State) -> int:
        """As long as every split that pays stays within its band, and can pay again."""
        every = state[LINE].splits
        assert every is not None
        price, most = self._price(self.finder, release, state, False), MAX_COUNT
        squares = all(term.gaussian for term in self.finder.terms(release))
        for split, payment in zip(every.each, price.payments, strict=False):
            if payment is not None and payment.pure:
                most = min(most, split.pure // payment.pure)
            if payment is not None and payment.gaussian:
                level = level_below(split.gaussian)
                floor = 0 if level is None or squares else LEVELS[level]
                most = min(most, (split.gaussian - floor) // payment.gaussian)
        return max(1, most)


def _leaks_by(payment: Payment) -> set[str]:
    """Which parts of a payment need a share of δ."""
    return {part for part, _, _ in payment.leaks} | ({"law"} if payment.certificates else set())
