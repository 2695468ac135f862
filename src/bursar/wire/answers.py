"""What the service answers: the JSON that Python's ``to_dict`` and the command line's ``--json`` give."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class Figures(Struct):
    """What an entry took of a scope with splits, and what was left: for Gaussian-like releases in per cent, for pure
    ones as an ε.
    """

    scope: str
    gaussian_left: str
    gaussian_taken: str
    pure_left: str
    pure_taken: str


class Receipt(Struct):
    """Where an entry stands."""

    root: str
    seq: int
    hash: str
    at: int
    kind: str
    key: str
    replayed: bool
    taken: list[Figures] = []


class Reservation(Struct):
    """An allowance set aside."""

    id: str
    expires: int
    given_back: bool
    receipt: Receipt


class Part(Struct):
    """What a release would ask of a line."""

    scope: str
    line: str
    asked: str
    left: str
    asked_percent: str
    left_percent: str
    given_back: bool


class Taken(Struct):
    """What a release would take of a scope's limit, and what would be left of it, in per cent; of a scope with splits
    also what it would take of either kind, and leave.
    """

    scope: str
    takes_percent: str
    left_percent: str
    left_after_percent: str
    gaussian_left: str | None = None
    gaussian_taken: str | None = None
    pure_left: str | None = None
    pure_taken: str | None = None


class Quoted(Struct):
    """What spending would do now."""

    what: str
    fits: int
    passes: bool
    reason: str | None
    would_pass: str | None
    taken: list[Taken]
    parts: list[Part]


class Verification(Struct):
    """What was checked, and everything that is wrong."""

    ok: bool
    entries: int
    roots: int
    anchored: int
    problems: list[str]
    notices: list[str] = []


class TokenInfo(Struct):
    """A token without its secret."""

    id: str
    name: str
    role: str
    scope: str
    created: int
    expires: int
    revoked: bool


class TokenList(Struct):
    """All tokens."""

    tokens: list[TokenInfo]


class Issued(Struct):
    """A new token with its secret, which is shown this once."""

    token: TokenInfo
    secret: str


class Revoked(Struct):
    """Whether there was such a token."""

    revoked: bool


class Health(Struct, omit_defaults=True):
    """Whether the ledger accepts charges."""

    status: Literal["ok", "halted", "unavailable"]
    version: str
    reason: str | None = None


class Problem(Struct, omit_defaults=True):
    """Why not, by RFC 9457; the numbers of a refused charge as text."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    scope: str | None = None
    line: str | None = None
    asked: str | None = None
    spent: str | None = None
    held: str | None = None
    limit: str | None = None
    left: str | None = None
    asked_percent: str | None = None
    left_percent: str | None = None
    would_pass: str | None = None
    replayed: bool | None = None
    argument: str | None = None
    consent: str | None = None


Report = dict[str, Any]
"""As `bursar.Report.to_dict` has it."""
