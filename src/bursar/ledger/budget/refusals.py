"""What a scope says no to: releases that it cannot measure, and those that its budget does not allow."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from bursar.errors import BudgetExceeded, CostInvalid, CurrencyMismatch, PerChargeCap
from bursar.ledger.budget import words
from bursar.ledger.budget.currencies import Balance, Refusal
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.body import Short

_LEAK_HINT = "; a scope keeps a hundredth of its δ for releases that leak, unless it is opened with leak=…"


def alike(scopes: Sequence[Scope], release: Release) -> None:
    """Refuse a release that these scopes, which are of one measure, have no price for."""
    if release.relation != scopes[0].relation:
        raise CurrencyMismatch(
            f"the release is measured under {release.relation}, {scopes[0].name} under {scopes[0].relation}"
        )
    if release.delta is not None and all(scope.row.currency != "sums" for scope in scopes):
        raise CostInvalid("only a scope with the currency 'sums' prices a composition at a δ: leave delta= out")


class Caps(NamedTuple):
    """The largest shares of a limit that one charge may take, and that may sit reserved."""

    charge: Fraction | None = None
    reserved: Fraction | None = None


UNCAPPED = Caps()


def within_cap(cap: Fraction | None, amount: int, before: Balance, whose: str) -> None:
    """Refuse a charge that is larger than a share of its limit."""
    if cap is not None and amount > cap * before.limit:
        # whose is a scope's line: census's epsilon; no name has an apostrophe
        scope = whose.rpartition("'s ")[0]
        raise PerChargeCap(f"one charge may take at most {words.left(cap)} of {scope}", scope=scope or None)


def short(scope: Scope, refusal: Refusal) -> Short:
    """A refusal as the journal keeps it."""
    balance = refusal.balance
    numbers = (refusal.asked, balance.spent, balance.held, balance.limit, balance.left)
    return Short(scope.name, refusal.line, *map(str, numbers))


def asked_and_left(scope: Scope, refused: Short) -> str:
    """What was asked for and what is left, in per cent: asked for 6 %, 0.8 % is left."""
    units = refused.numbers()
    limit = units["limit"] or 1
    left, of = words.left(Fraction(units["left"], limit)), words.of_line(scope.row.currency, refused.line)
    if units["asked"] == units["left"] + 1:  # so is written what no certificate admits
        return f"asked for more than is left{of}, {left}"
    return f"asked for {words.taken(Fraction(units['asked'], limit))}{of}, {left} is left"


def refusal_of(scope: Scope, refused: Short, replayed: bool) -> BudgetExceeded:
    """The refusal that an entry records, in the scope's own measure."""
    line = scope.currency.lines[refused.line]
    numbers = {name: units * line.unit for name, units in refused.numbers().items()}
    leaky = refused.line == "delta" and scope.row.currency in ("residue", "advanced", "concentrated")
    return BudgetExceeded(
        f"{refused.scope}: {asked_and_left(scope, refused)}. Nothing was charged{_LEAK_HINT if leaky else ''}",
        scope=refused.scope,
        line=refused.line,
        numbers=numbers,
        replayed=replayed,
    )
