"""Short looks for whoever answers on behalf of others, such as a service: nothing here takes time to count."""

from __future__ import annotations

from collections.abc import Sequence

from bursar.ledger.arguments import entry_of, names_of, reservation_id
from bursar.ledger.budget.deciding import Seen
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import scope_name
from bursar.ledger.commit.office import Office
from bursar.ledger.journal.held import held_in
from bursar.ledger.verbs.correct import charged_by as every_scope
from bursar.ledger.views import statement


def states(office: Office, scopes: str | Sequence[str], release: Release) -> Seen:
    """The scopes that a charge would debit, as they are now."""
    names = names_of(scopes)
    office.check()
    with office.store.reading() as reader:
        return office.view(reader).states(names, release)


def look_at(office: Office, scope: str) -> statement.Seen:
    """A scope as a statement shows it, without what its releases have cost."""
    with office.store.reading() as reader:
        view = office.view(reader)
        return statement.seen(view, view.scope(scope_name(scope)))


def held_by(office: Office, reservation: str) -> tuple[str, ...]:
    """The scopes that a reservation was made on; none where there is no such reservation."""
    with office.store.reading() as reader:
        row = reader.reservation(reservation_id(reservation))
    held = None if row is None else held_in(row)
    return () if held is None else tuple(held.named or held.scopes)


def charged_by(office: Office, root: str, seq: int) -> tuple[str, ...]:
    """The scopes that an entry charged, in every root; none where it is no charge, or is not there."""
    with office.store.reading() as reader:
        chained = reader.entry(*entry_of((root, seq)))
        return () if chained is None else tuple(every_scope(reader, chained))
