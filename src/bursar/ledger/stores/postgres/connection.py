"""A connection to PostgreSQL that is given up whenever its use ends in anything but a refusal of our own.

An interrupt may leave a connection in the middle of a transaction, of a pipeline or of an answer; whatever is asked on
it afterwards would be part of that, and a charge would be acknowledged without a commit. Giving it up makes the server
undo the transaction and let go of its locks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from bursar.errors import BursarError, InputError


class Line:
    """One connection, made when it is needed; used by one thread at a time."""

    def __init__(
        self, url: str, meet: Callable[[psycopg.Connection[Any], bool], None], *, snapshots: bool = False
    ) -> None:
        """``snapshots``: for reading only, all of a transaction as it was at its first question. ``meet`` is told of
        each new connection, and whether there was one before.
        """
        self._url, self._meet, self._snapshots = url, meet, snapshots
        self._connection: psycopg.Connection[Any] | None = None
        self._settled, self._depth = True, 0

    @contextmanager
    def used(self) -> Iterator[psycopg.Connection[Any]]:
        """The connection, in order."""
        if self._depth and self._connection is not None:  # a reading inside a reading
            yield self._connection
            return
        if not self._settled:
            self.close()
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
        connection = self._connection
        self._settled, self._depth = False, 1
        try:
            yield connection
            self._settled = True
        except BursarError:
            self._settled = connection.info.transaction_status == TransactionStatus.IDLE
            raise
        finally:
            self._depth = 0
            if not self._settled:
                connection.close()

    def _connect(self) -> psycopg.Connection[Any]:
        connection = psycopg.connect(self._url, autocommit=True)
        if connection.info.server_version < 140000:
            connection.close()
            raise InputError("PostgreSQL 14 or newer is needed", argument="url")
        try:
            connection.execute("SET synchronous_commit = on")
            self._meet(connection, self._connection is not None)
        except BaseException:
            connection.close()
            raise
        if self._snapshots:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
        return connection

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()
