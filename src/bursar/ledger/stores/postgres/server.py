"""Which PostgreSQL server a ledger talks to: a new connection may lead to another one.

A cluster has a number of its own, and each recovery to a point in time and each promotion of a standby begins a new
timeline. Another number, or another database, is another ledger. Another timeline may lack commits that were
acknowledged: the anchors say so. A server that was put back as a whole (a snapshot of its disk) says nothing, so that
every time a connection is made anew the anchors are asked. All of this is asked once for each connection.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import psycopg

from bursar.errors import LedgerHalted
from bursar.ledger.stores._base import Doubt

# the name of the current log file begins with the timeline; the checkpoint's, which a standby has, may be older
_WHO = """
SELECT (SELECT system_identifier::text FROM pg_control_system()),
    (SELECT oid::bigint FROM pg_database WHERE datname = current_database()),
    CASE WHEN pg_is_in_recovery() THEN (SELECT lpad(to_hex(timeline_id), 8, '0') FROM pg_control_checkpoint())
    ELSE lower(substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)) END
"""


class Identity(NamedTuple):
    """A cluster, a database in it, and its history."""

    system: str
    database: int
    timeline: str


def identity(connection: psycopg.Connection[Any]) -> Identity | None:
    """Who answers; None where the server does not tell (anybody may ask, unless it was forbidden)."""
    try:
        row = connection.execute(_WHO).fetchone()
    except psycopg.OperationalError:  # it is not there
        raise
    except psycopg.DatabaseError:
        return None
    return None if row is None or None in row else Identity(*row)


class Server:
    """What the connections of one store have found."""

    def __init__(self) -> None:
        self._first: Identity | None = None
        self._mutex = threading.Lock()

    def meet(self, connection: psycopg.Connection[Any], *, again: bool) -> Doubt | None:
        """Compare a new connection with those before; halt where it leads to another ledger."""
        found = identity(connection)
        with self._mutex:
            first, self._first = self._first, found or self._first
            if first is None or found is None:
                return (
                    Doubt("the connection was made anew, and the server does not say which one it is")
                    if again
                    else None
                )
            if found[:2] != first[:2]:
                self._first = first
                raise LedgerHalted(
                    f"the address now leads to another server or database (cluster {found.system}, database "
                    f"{found.database}) than before (cluster {first.system}, database {first.database}), with a "
                    "history of its own. Close this ledger and open it anew: its anchor says whether entries are lost"
                )
            if found.timeline != first.timeline:
                return Doubt(
                    f"the server went from timeline {first.timeline} to {found.timeline} (a standby was promoted, or a "
                    "backup recovered), so that entries may be lost",
                    certain=True,
                )
        return Doubt("the connection was made anew") if again else None
