"""Tokens: 256 random bits, shown once, kept as a hash, bound to a role and to a part of the tree, expiring."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

import apsw
import msgspec

from bursar.errors import InputError, described
from bursar.ledger.asked import word
from bursar.ledger.scope import scope_name

ROLES = ("owner", "steward", "analyst", "auditor")
EVERYTHING = "*"
_PREFIX = "bursar_"
_FRESH = 1.0  # seconds for which a token is trusted without looking again
_LONGEST = 3650 * 86_400


class Token(msgspec.Struct, frozen=True):
    """Who holds it, and what it allows; never the secret."""

    id: str
    name: str
    role: str
    scope: str
    """The scope that it is bound to, with all below; * for all."""
    created: int
    expires: int
    """Seconds since 1970."""
    revoked: bool


class Tokens:
    """The file of tokens."""

    def __init__(self, path: str, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._mutex = threading.Lock()
        try:
            self._db = apsw.Connection(path)
            self._db.set_busy_timeout(5_000)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL,"
                " role TEXT NOT NULL, scope TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL,"
                " revoked INTEGER NOT NULL) STRICT"
            )
        except apsw.Error as problem:
            raise InputError(f"the tokens cannot be kept in {path}: {problem}", argument="tokens") from None
        self._known: dict[str, tuple[float, Token]] = {}

    def add(self, name: str, role: str, scope: str = EVERYTHING, *, seconds: int = 90 * 86_400) -> tuple[Token, str]:
        """A new token and its secret, which is shown this once."""
        if role not in ROLES:
            raise InputError(f"role must be one of {', '.join(ROLES)}, not {described(role)}", argument="role")
        if not 0 < seconds <= _LONGEST:
            raise InputError("a token lives between a second and ten years", argument="seconds")
        if scope != EVERYTHING:
            scope_name(scope)
        if not word(name, "name"):
            raise InputError("a token needs a name, for the journal", argument="name")
        secret, now = _PREFIX + secrets.token_urlsafe(32), int(self._clock())
        token = Token(secrets.token_hex(6), name, role, scope, now, now + seconds, False)
        with self._mutex:
            self._db.execute(
                "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (token.id, _hash(secret), name, role, scope, token.created, token.expires, 0),
            )
        return token, secret

    def find(self, secret: str) -> Token | None:
        """The token with this secret, if it is in force. Looking up a hash tells nobody how close a guess was."""
        digest, now = _hash(secret), self._clock()
        seen, token = self._known.get(digest, (0.0, None))
        if token is None or not now - _FRESH <= seen <= now:
            with self._mutex:
                rows = self._db.execute(f"{_SELECT} WHERE hash = ?", (digest,)).fetchall()
            if not rows:
                self._known.pop(digest, None)
                return None
            token = _token(rows[0])
            if len(self._known) > 10_000:
                self._known.clear()
            self._known[digest] = (now, token)
        return None if token.revoked or token.expires <= now else token

    def all(self) -> list[Token]:
        """Every token, old ones too."""
        with self._mutex:
            return [_token(row) for row in self._db.execute(f"{_SELECT} ORDER BY created, id")]

    def revoke(self, id: str) -> bool:
        """Whether there was such a token; from now on it opens nothing."""
        with self._mutex:
            self._db.execute("UPDATE tokens SET revoked = 1 WHERE id = ?", (id,))
            found = self._db.changes() > 0
        self._known.clear()
        return found

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


_SELECT = "SELECT id, name, role, scope, created, expires, revoked FROM tokens"


def _token(row: Any) -> Token:
    id, name, role, scope, created, expires, revoked = row
    return Token(id, name, role, scope, created, expires, bool(revoked))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
