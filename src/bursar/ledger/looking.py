"""Looking without changing anything: statements, entries, verification, exports."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bursar.errors import InputError, LedgerHalted
from bursar.ledger.arguments import entry_of, reservation_id
from bursar.ledger.budget.scope import Scope, scope_name
from bursar.ledger.commit.office import Desk
from bursar.ledger.journal import export, registry
from bursar.ledger.journal.entry import Chained
from bursar.ledger.journal.reprice import Pricer
from bursar.ledger.journal.verify import Verification, verify
from bursar.ledger.verbs.correct import charged_by
from bursar.ledger.views.statement import Seen, Statement, seen, statement


class Looking(Desk):
    """The verbs of everybody."""

    def show(self, scope: str) -> Statement:
        """Spent, held and left of a scope, its odometer, and what the same releases would cost if fixed in advance."""
        halted = None if self._halted is None else str(self._halted)
        return replace(statement(self.look_at(scope)), halted=halted)  # others read meanwhile

    def look_at(self, scope: str) -> Seen:
        """The same without what takes time to count."""
        with self.store.reading() as reader:
            view = self._view(reader)
            return seen(view, view.scope(scope_name(scope)))

    def released(self, scope: str) -> list[tuple[str, int]]:
        """What was released in a scope, with counts."""
        with self.store.reading() as reader:
            return reader.released(scope_name(scope))

    def scopes(self) -> list[Scope]:
        """All scopes, by name."""
        with self.store.reading() as reader:
            return [Scope(row) for row in reader.scopes()]

    def scope(self, name: str) -> Scope:
        """One scope; `ScopeUnknown` where there is none."""
        return self._scope(scope_name(name))

    def held_by(self, reservation: str) -> tuple[str, ...]:
        """The scopes that a reservation was made on; none where there is no such reservation."""
        with self.store.reading() as reader:
            row = reader.reservation(reservation_id(reservation))
        detail = {} if row is None else json.loads(row.detail)
        return tuple(detail.get("named") or detail.get("scopes", ()))

    def charged_by(self, root: str, seq: int) -> tuple[str, ...]:
        """The scopes that an entry charged, in every root; none where it is no charge, or is not there."""
        with self.store.reading() as reader:
            chained = reader.entry(*entry_of((root, seq)))
            return () if chained is None else tuple(charged_by(reader, chained))

    def ask_store(self) -> None:
        """Whether the store answers: whatever is wrong is raised."""
        self.store.answers()

    @property
    def halted(self) -> LedgerHalted | None:
        """Why the ledger accepts nothing; None where it does."""
        return self.store.halted or self._halted

    def entries(self, root: str, *, after: int = 0, most: int | None = None) -> list[Chained]:
        """A root's entries in order."""
        with self.store.reading() as reader:
            return list(reader.entries(scope_name(root), after, most))

    def last(self, root: str) -> int:
        """The number of a root's last entry."""
        with self.store.reading() as reader:
            head = reader.head(scope_name(root))
        return 0 if head is None else head.seq

    def verify(self, *, reprice: bool = False) -> Verification:
        """Recompute the chain, every balance and every anchor from the journal; ``reprice`` computes every price anew
        too.
        """
        with self.store.reading() as reader:
            return verify(
                reader,
                self._chain,
                None if self._anchors is None else self._anchors.read(),
                Pricer(self.read, self.find) if reprice else None,
            )

    def export(
        self,
        form: str = "jsonl",
        *,
        root: str | None = None,
        facts: Mapping[str, Any] | None = None,
        curator: str | None = None,
    ) -> str:
        """The journal as JSON Lines (``jsonl``, checked by `bursar.ledger.journal.export.verifier`), as ``csv``, or a
        draft for the OpenDP deployments registry (``opendp``, of one root), for which ``facts`` says what no ledger
        knows: who publishes what, where, when and what for. ``curator`` is an old name of one of them.
        """
        if form == "opendp" and root is not None:
            with self.store.reading() as reader:
                return registry.deployment(reader, scope_name(root), _curated(facts, curator))
        if facts is not None or curator is not None:
            raise InputError("facts are for the registry: export as opendp with root=", argument="facts")
        with self.store.reading() as reader:
            if form == "jsonl":
                return "\n".join(export.json_lines(reader, self._chain)) + "\n"
            if form == "csv":
                return export.comma_separated(reader)
        raise InputError("export as jsonl or csv, or as opendp with root=", argument="form")


def _curated(facts: Mapping[str, Any] | None, curator: str | None) -> Mapping[str, Any]:
    """The facts, with a curator who was named in the old way."""
    given = {} if facts is None else facts
    if curator is None:
        return given
    warnings.warn("curator= is now facts={'data_curators': […]}", DeprecationWarning, stacklevel=3)
    if "data_curators" in given:
        raise InputError("name the curators once: in facts", argument="curator")
    return {**given, "data_curators": [curator]}
