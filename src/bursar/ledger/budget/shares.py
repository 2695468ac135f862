"""What people see of a scope's state: how much of each measure is left, and one share for all of it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from bursar.ledger.budget.amounts import PARTS
from bursar.ledger.journal.rows import Balance

State = Mapping[str, Balance]


def measured(state: State) -> dict[str, Balance]:
    """Each line; of splits, what is left for Gaussian-like and for pure releases on the split that has most of it,
    against the undivided target.
    """
    found: dict[str, Balance] = {}
    for line, balance in state.items():
        splits = balance.splits
        if splits is None:
            found[line] = balance
            continue
        best = max(splits.each, key=lambda split: split.pure)
        gaussian = max(split.gaussian for split in splits.each)
        found["gaussian"] = Balance(splits.gaussian, max(splits.gaussian - gaussian, 0), 0)
        found["pure"] = Balance(splits.pure, max(splits.pure - best.pure - best.held, 0), best.held)
    return found


def shares(state: State) -> dict[str, Fraction]:
    """The share that is left of each measure."""
    return {name: of_line(balance) for name, balance in measured(state).items()}


def of_line(balance: Balance) -> Fraction:
    """The share of its limit that a line has left."""
    return Fraction(balance.left, balance.limit) if balance.limit else Fraction(0)


def share_left(state: State) -> Fraction:
    """The share of a scope that is left."""
    return overall(shares(state))


def overall(left: Mapping[str, Fraction]) -> Fraction:
    """Of several measures: the least; of a target with splits, the better of what is left for the two kinds of
    releases, since each can be spent on either.
    """
    if "gaussian" in left and "pure" in left:
        return max(left["gaussian"], left["pure"])
    return min(left.values())


def used_parts(balance: Balance) -> int:
    """What is used of a line, or of a target with splits, in parts of the whole: fast, for whoever looks at each charge
    of many.
    """
    splits = balance.splits
    if splits is None:
        return (balance.spent + balance.held) * PARTS // balance.limit if balance.limit else 0
    gaussian = max(split.gaussian for split in splits.each) * PARTS // splits.gaussian
    return PARTS - max(gaussian, max(split.pure for split in splits.each) * PARTS // splits.pure)


class Figures(NamedTuple):
    """What is left of a target with splits."""

    gaussian: Fraction
    """For Gaussian-like releases, as a share of what the undivided target has for them."""
    pure: Fraction
    """For pure releases, as an ε."""
    epsilon: Fraction
    """The whole ε."""

    @property
    def smaller(self) -> Fraction:
        """The smaller of both shares, by which lists are sorted."""
        return min(self.gaussian, self.pure / self.epsilon)


def figures(state: State) -> Figures | None:
    """Of a target with splits; None of any other."""
    for balance in state.values():
        if balance.splits is not None:
            left, epsilon = shares(state), Fraction(balance.splits.epsilon)
            return Figures(left["gaussian"], left["pure"] * epsilon, epsilon)
    return None
