"""What the service answers: the JSON that Python's ``to_dict`` and the command line's ``--json`` give."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct


class Receipt(Struct):
    """Where an entry stands."""

    root: str
    seq: int
    hash: str
    at: int
    kind: str
    key: str
    replayed: bool


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
    given_back: bool


class Quoted(Struct):
    """What spending would do now."""

    what: str
    fits: int
    passes: bool
    reason: str | None
    parts: list[Part]


class Line(Struct):
    """One line of a scope, in its own measure."""

    name: str
    limit: str
    spent: str
    held: str
    left: str
    dead: bool


class Released(Struct):
    """What was released, how often."""

    what: str
    count: int


class ReleasedList(Struct):
    """What was released in a scope."""

    released: list[Released]


class Interval(Struct):
    """Both ends hold."""

    lower: float
    upper: float


class Odometer(Struct):
    """A bound that held at all times so far."""

    epsilon: float
    means: str


class Hindsight(Struct):
    """The cost if all had been fixed in advance."""

    epsilon: Interval
    means: str


class Statement(Struct):
    """A scope now; ``lifetime`` is the odometer of a window's root, ``halted`` why the ledger accepts nothing."""

    scope: str
    kind: str
    parent: str | None
    status: str
    currency: str
    target: dict[str, str]
    worst_block: str | None
    unit: str
    relation: str
    lines: list[Line]
    released: list[Released]
    odometer: Odometer | None
    lifetime: Odometer | None
    hindsight: Hindsight | None
    halted: str | None


class Scope(Struct):
    """A scope, without its balances."""

    name: str
    kind: str
    parent: str | None
    status: str
    currency: str
    target: dict[str, str]


class ScopeList(Struct):
    """The scopes that a token reaches."""

    scopes: list[Scope]


class Effect(Struct):
    """A line after an entry."""

    line: str
    limit: str
    spent: str
    held: str


class Refusal(Struct):
    """Why an entry charged nothing."""

    line: str
    asked: str
    left: str


class Entry(Struct):
    """An entry of the journal, as far as it concerns one scope."""

    seq: int
    at: int
    kind: str
    key: str
    actor: str
    hash: str
    what: str | None
    reason: str | None
    effect: list[Effect]
    refusal: Refusal | None


class Entries(Struct):
    """A page; ``next`` is what the following one comes after."""

    scope: str
    root: str
    entries: list[Entry]
    next: int | None


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
    replayed: bool | None = None
    argument: str | None = None
    consent: str | None = None


Report = dict[str, Any]
"""As `bursar.Report.to_dict` has it."""
