"""What a scope says no to: releases that it cannot measure, and those that its budget does not allow."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bursar.errors import BudgetExceeded, CostInvalid, CurrencyMismatch, PerChargeCap
from bursar.ledger.budget.amounts import shown
from bursar.ledger.budget.currencies import Balance
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.entry import Chained

_LEAK_HINT = "; a scope keeps a hundredth of its δ for releases that leak, unless it is opened with leak=…"


def alike(scopes: Sequence[Scope], release: Release) -> None:
    """Refuse a release that these scopes, which are of one measure, have no price for."""
    if release.relation != scopes[0].relation:
        raise CurrencyMismatch(
            f"the release is measured under {release.relation}, {scopes[0].name} under {scopes[0].relation}"
        )
    if release.delta is not None and all(scope.row.currency != "sums" for scope in scopes):
        raise CostInvalid("only a scope with the currency 'sums' prices a composition at a δ: leave delta= out")


def within_cap(cap: Fraction | None, amount: int, before: Balance, whose: str) -> None:
    """Refuse a charge that is larger than a share of its limit."""
    if cap is not None and amount > cap * before.limit:
        # whose is a scope's line: census's epsilon; no name has an apostrophe
        raise PerChargeCap(f"one charge may take at most {cap} of {whose}", scope=whose.rpartition("'s ")[0] or None)


def refusal_of(scope: Scope, chained: Chained, replayed: bool) -> BudgetExceeded:
    """The refusal that an entry records."""
    name, line, *numbers = chained.entry.content()["refusal"]
    unit = scope.currency.lines[line].unit
    asked, spent, held, limit, left = (int(number) * unit for number in numbers)
    means = scope.currency.lines[line].means
    hint = _LEAK_HINT if line == "delta" and scope.row.currency in ("residue", "advanced", "concentrated") else ""
    return BudgetExceeded(
        f"{name}: asked {shown(asked, up=True)} of {means}, {shown(left, up=False)} is left of "
        f"{shown(limit, up=False)} (spent {shown(spent, up=True)}, held {shown(held, up=True)}). Nothing was charged; "
        f"a smaller request may still pass{hint}",
        scope=name,
        line=line,
        numbers={"asked": asked, "spent": spent, "held": held, "limit": limit, "left": left},
        replayed=replayed,
    )
