"""What the service answers to whoever looks: scopes, how they stand, and what was written about them."""

from __future__ import annotations

from msgspec import Struct


class Decimal(Struct):
    """The numbers of a line as decimals, rounded to the safe side."""

    limit: str
    spent: str
    held: str
    left: str


class Line(Struct):
    """One line of a scope, in its own measure."""

    name: str
    limit: str
    spent: str
    held: str
    left: str
    decimal: Decimal


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


class Standing(Struct):
    """A scope now: the per cent of its limit that are used and left, and how many ``more`` like the last release would
    be admitted. ``gaussian_left`` (in per cent) and ``pure_left`` (an ε) are what a scope with splits has for the two
    kinds of releases. ``halted`` says why the ledger accepts nothing, ``concurrent`` whether
    questions to several interactive mechanisms may be interleaved (null: not said).
    """

    scope: str
    kind: str
    parent: str | None
    status: str
    currency: str
    target: dict[str, str]
    used_percent: str
    left_percent: str
    like: str | None
    more: int | None
    worst_block: str | None
    unit: str
    relation: str
    lines: list[Line]
    released: list[Released]
    odometer: Odometer | None
    hindsight: Hindsight | None
    halted: str | None
    concurrent: bool | None = None
    gaussian_left: str | None = None
    pure_left: str | None = None


Statement = Standing
"""What it was called before."""


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
    said: str
    """In words: asked for 6 %, 0.8 % is left."""


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
    took_percent: str | None
    left_percent: str | None


class Entries(Struct):
    """A page; ``next`` is what the following one comes after."""

    scope: str
    root: str
    entries: list[Entry]
    next: int | None
