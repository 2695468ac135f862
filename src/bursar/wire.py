"""What goes over the wire: the bodies that are asked with and the answers, as types.

Numbers that cost something travel as text (``"1/3"``, ``"1e-6"``), never as JSON numbers. The answers are the JSON that
Python's ``to_dict`` and the command line's ``--json`` give.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

Text = Annotated[str, Meta(min_length=1, max_length=20_000)]
Number = Annotated[str, Meta(min_length=1, max_length=400, description="An exact number in text: 0.1, 1e-6 or 1/3.")]
Name = Annotated[str, Meta(min_length=1, max_length=100)]
Key = Annotated[str, Meta(min_length=1, max_length=255, description="Your own: a retry with it is charged once.")]
Reason = Annotated[str, Meta(min_length=1, max_length=2_000)]
Effort = Literal["low", "normal", "high"]
Scopes = Annotated[list[Name], Meta(min_length=1, max_length=64)]


class Asked(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A body or a query; what is unknown is refused."""


class Account(Asked):
    """What do these releases cost?"""

    composition: Text
    delta: Number | None = None
    epsilon: Number | None = None
    theorems: Annotated[list[Name], Meta(max_length=50)] | None = None
    width: Number | None = None
    effort: Effort = "normal"


class Plan(Asked):
    """Which value of the one unknown, written ?, fits?"""

    template: Text
    epsilon: Number
    delta: Number
    width: Number | None = None
    effort: Effort = "normal"


class Quote(Asked):
    """Would it pass, and how many more?"""

    scopes: Scopes
    what: Text
    delta: Number | None = None


class Spend(Asked):
    """Charge a release."""

    scopes: Scopes
    what: Text
    key: Key
    delta: Number | None = None


class Reserve(Asked):
    """Set an allowance aside."""

    scopes: Scopes
    what: Text
    ttl: Number
    key: Key
    delta: Number | None = None


class Draw(Asked):
    """Spend from a reservation: a part, or all that is left."""

    reservation: Name
    key: Key
    what: Text | None = None


class Close(Asked):
    """End a reservation."""

    reservation: Name
    key: Key


class Correct(Asked):
    """Add spend that an entry should have had."""

    root: Name
    seq: Annotated[int, Meta(ge=1, le=2**53)]
    what: Text
    reason: Reason
    key: Key


class Open(Asked):
    """Open a scope."""

    scope: Name
    key: Key
    epsilon: Number | None = None
    delta: Number | None = None
    rho: Number | None = None
    mu: Number | None = None
    order: Number | None = None
    renyi: Number | None = None
    leak: Number | None = None
    currency: Name | None = None
    parent: Name | None = None
    kind: Name | None = None
    unit: Name | None = None
    relation: Name | None = None
    period: Number | None = None
    second_person: bool = False
    spent: Annotated[list[Text], Meta(max_length=1000)] = []


class Limit(Asked):
    """Raise or lower a limit."""

    scope: Name
    reason: Reason
    key: Key
    epsilon: Number | None = None
    delta: Number | None = None
    rho: Number | None = None
    mu: Number | None = None
    renyi: Number | None = None
    approved_by: Name | None = None


class Status(Asked):
    """Freeze, thaw or retire a scope."""

    scope: Name
    reason: Reason
    key: Key


class Verify(Asked):
    """Recompute everything; ``reprice`` every price too."""

    reprice: bool = False


class NewToken(Asked):
    """A token for somebody."""

    name: Name
    role: Literal["owner", "steward", "analyst", "auditor"]
    scope: Name = "*"
    days: Annotated[int, Meta(ge=1, le=3650)] = 90


class Revoke(Asked):
    """A token that shall open nothing any more."""

    id: Name


class OfScope(Asked):
    """Which scope."""

    scope: Name


class Page(Asked):
    """Which entries of a scope: those after a number."""

    scope: Name
    after: Annotated[int, Meta(ge=0, le=2**53)] = 0
    most: Annotated[int, Meta(ge=1, le=1000)] = 100


class Export(Asked):
    """The journal as a file."""

    form: Literal["jsonl", "csv", "opendp"] = "jsonl"
    root: Name | None = None


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
    """A scope now."""

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
    hindsight: Hindsight | None


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


class Health(Struct):
    """Whether the ledger accepts charges."""

    status: Literal["ok", "halted"]
    version: str


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


Report = dict[str, Any]
"""As `bursar.Report.to_dict` has it."""


def encode(answer: Any) -> bytes:
    """As JSON."""
    return msgspec.json.encode(answer)
