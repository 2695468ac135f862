"""The bodies and queries that the service is asked with."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Text = Annotated[str, Meta(min_length=1, max_length=20_000)]
Number = Annotated[str, Meta(min_length=1, max_length=400, description="An exact number in text: 0.1, 1e-6 or 1/3.")]
Name = Annotated[str, Meta(min_length=1, max_length=100)]
Key = Annotated[str, Meta(min_length=1, max_length=255, description="Your own: a retry with it is charged once.")]
Reason = Annotated[str, Meta(min_length=1, max_length=2_000)]
Effort = Literal["low", "normal", "high"]
Secret = Annotated[
    str, Meta(min_length=1, max_length=200, description="Another person's token; needed where two must agree.")
]
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
    reason: Reason | None = None


class Reserve(Asked):
    """Set an allowance aside."""

    scopes: Scopes
    what: Text
    ttl: Number
    key: Key
    delta: Number | None = None
    reason: Reason | None = None


class Draw(Asked):
    """Spend from a reservation: a part, or all that is left."""

    reservation: Name
    key: Key
    what: Text | None = None
    reason: Reason | None = None


class Close(Asked):
    """End a reservation."""

    reservation: Name
    key: Key


class Correct(Asked):
    """Add spend that an entry should have had. Where it would do more than charge the release, the refusal
    `consent_needed` says what, and which `consent` agrees to exactly that.
    """

    root: Name
    seq: Annotated[int, Meta(ge=1, le=2**53)]
    what: Text
    reason: Reason
    key: Key
    consent: Name | None = None


class Open(Asked):
    """Open a scope. Without a `parent`, a name under an existing scope opens below that one; with the `kind` root it
    has a budget of its own. Where `spent` would do more than cost its releases, `consent_needed` says what.
    """

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
    splits: Annotated[
        list[tuple[Number, Number]], Meta(max_length=12, description="A share of ε and one of δ for each split.")
    ] = []
    second_person: bool = False
    spent: Annotated[list[Text], Meta(max_length=1000)] = []
    consent: Name | None = None


class Limit(Asked):
    """Raise or lower a limit. Where nothing would be left for Gaussian-like releases, `consent_needed` says so."""

    scope: Name
    reason: Reason
    key: Key
    epsilon: Number | None = None
    delta: Number | None = None
    rho: Number | None = None
    mu: Number | None = None
    renyi: Number | None = None
    approval: Secret | None = None
    consent: Name | None = None


class Status(Asked):
    """Freeze, thaw or retire a scope."""

    scope: Name
    reason: Reason
    key: Key


class BringIn(Asked):
    """Charge past releases, all of them or none, in the order in which they ran: the text of a CSV table with a column
    `what`, and perhaps `count` and `delta`. Where that would do more than charge them, `consent_needed` says what, as
    for a correction.
    """

    scope: Name
    table: Annotated[str, Meta(min_length=1, max_length=1_000_000)]
    key: Key
    consent: Name | None = None


class Verify(Asked):
    """Recompute everything; ``reprice`` checks every price too, ``deep`` also what engines once found."""

    reprice: bool = False
    deep: bool = False


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


class Registry(Asked):
    """A draft for the OpenDP deployments registry. `facts` says what no ledger knows, by the registry's names
    (data_curators, data_product_region, …); what is missing is named in the refusal.
    """

    root: Name
    facts: dict[str, Any]


class Export(Asked):
    """The journal as a file."""

    form: Literal["jsonl", "csv", "opendp"] = "jsonl"
    root: Name | None = None
