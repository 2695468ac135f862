"""What a scope says no to: releases that it cannot measure, and those that its budget does not allow."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from bursar.errors import BudgetExceeded, CostInvalid, CurrencyMismatch, PerChargeCap
from bursar.ledger.budget import words
from bursar.ledger.budget.currencies import Refusal
from bursar.ledger.budget.deciding import Decided
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import Scope
from bursar.ledger.budget.shares import measured
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


def within_share(cap: Fraction | None, share: Fraction, scope: str) -> None:
    """Refuse a charge that takes more of a scope's limit than is allowed."""
    if cap is not None and share > cap:
        raise PerChargeCap(f"one charge may take at most {words.left(cap)} of {scope}", scope=scope)


def within_cap(cap: Fraction | None, one: Decided) -> None:
    """The same for what a release does."""
    within_share(cap, one.takes(), one.scope.name)


def within_caps(caps: Caps, one: Decided) -> None:
    """Refuse a reservation beyond its cap; what is spent at once is under both caps at once."""
    if one.price.fixed:
        for cap in caps:
            within_cap(cap, one)
    held = max(Fraction(balance.held, balance.limit or 1) for balance in measured(one.after).values())
    if caps.reserved is not None and held > caps.reserved:
        raise PerChargeCap(f"at most {words.left(caps.reserved)} of {one.scope.name} may sit reserved")


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
