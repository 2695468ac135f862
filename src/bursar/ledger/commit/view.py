"""What a transaction, or somebody who only looks, sees of the scopes: their states now, and what a charge debits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Generic, TypeVar

from bursar.errors import LedgerHalted
from bursar.ledger.budget.currencies import Balance
from bursar.ledger.budget.deciding import Seen
from bursar.ledger.budget.refusals import alike
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.reservations import given_back, holds
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.catalogue import Catalogue
from bursar.ledger.journal.held import Held, held_in
from bursar.ledger.journal.rows import Head
from bursar.ledger.stores._base import Reader

Rows = TypeVar("Rows", bound=Reader)


class View(Generic[Rows]):
    """The scopes as they are at one moment; nothing is written."""

    def __init__(self, rows: Rows, catalogue: Catalogue, now: int, seen: dict[str, Head]) -> None:
        """``seen`` has the ends of the chains that this process has seen: the store must not be behind them."""
        self.rows, self.catalogue, self.now, self.seen = rows, catalogue, now, seen

    def lines(self, scope: Scope) -> dict[str, Balance]:
        """The balances of a scope, as whoever writes next will find them: what has expired is no longer held."""
        state = self._balances(scope)
        if holds(state):
            for row in self.rows.due(scope.row.root, self.now):
                state.update(given_back(held_in(row), scope.name, state))
        return state

    def _balances(self, scope: Scope) -> dict[str, Balance]:
        """The table's rows, each of which must be there."""
        balances = self.rows.balances(scope.name)
        if damage := scope.currency.damage(balances):
            raise LedgerHalted(f"the balance of {scope.name} is damaged: {damage}")
        return balances

    def scope(self, name: str) -> Scope:
        """One scope, of a root that is not behind."""
        scope, _, head = self.catalogue.find(name, self.rows)
        self.not_behind(scope.row.root, head)
        return scope

    def debited(self, names: Sequence[str], *releases: Release) -> tuple[Scope, ...]:
        """Every scope that a charge of these releases debits, once, in order; closed, frozen and mixed ones are
        refused, and releases that are measured in another way.
        """
        found = self.catalogue.debits(tuple(names), self.rows)
        for release in releases:
            alike(found, release)
        for scope in found:
            self.not_behind(scope.row.root, self.rows.head(scope.row.root))
        return found

    def states(self, names: Sequence[str], release: Release) -> Seen:
        """The scopes that a charge on these names would debit, each with its state."""
        return [(scope, self.lines(scope)) for scope in self.debited(names, release)]

    def released(self, name: str) -> list[tuple[str, int]]:
        """What was released in a scope, with counts."""
        return self.rows.released(name)

    def reserved(self, root: str) -> dict[str, Held]:
        """What the open reservations of a root hold, by their ids."""
        return {row.id: held_in(row) for row in self.rows.reservations(root) if row.status == "open"}

    def ran(self, scope: Scope, ended: Collection[str] = ()) -> bool:
        """Whether anything ran in a scope, or may still run there by an open reservation other than ``ended``."""
        open_ones = (held for id, held in self.reserved(scope.row.root).items() if id not in ended)
        return bool(self.released(scope.name)) or any(scope.name in held.scopes and held.left for held in open_ones)

    def not_behind(self, root: str, head: Head | None) -> None:
        """Halt where the store has lost entries that this process has seen."""
        seen = self.seen.get(root)
        if seen is not None and (
            head is None or head.seq < seen.seq or (head.seq == seen.seq and head.hash != seen.hash)
        ):
            raise LedgerHalted(f"{root}: entries up to {seen.seq} were seen, the store now ends earlier or differs")
