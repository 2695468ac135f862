"""Every verb of the service, described once: its name, how it is asked and what it answers.

The service's endpoints, its OpenAPI document and both clients are made from this table. A verb has the name that it has
in Python: the `Ledger`'s method, the command of ``bursar ledger``, the address ``/v1/NAME``, the client's method and
what a role may do are all called the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from bursar.wire import answers, asked, looked

Body = TypeVar("Body")
Answer = TypeVar("Answer")
JSON, TEXT = "application/json", "text/plain"


@dataclass(frozen=True)
class Verb(Generic[Body, Answer]):
    """One thing that can be asked of the service, in one way."""

    name: str
    method: Literal["GET", "POST"]
    body: type[Body] | None
    """The type of the body, or of the query; None where there is none."""
    answer: type[Answer]
    summary: str
    place: str | None = None
    """Its address, where that is not /v1 and the name."""
    status: int = 200
    media: str = JSON
    anybody: bool = False
    """Whether it is answered without a token."""
    repeatable: bool = True
    """Whether asking again, after an answer was lost, is the same as asking once."""
    old: tuple[str, ...] = ()
    """Addresses of the version before, which go on working in this one."""

    @property
    def path(self) -> str:
        """The path at which it is asked."""
        return self.place or f"/v1/{self.name}"


ACCOUNT = Verb("account", "POST", asked.Account, answers.Report, "What do releases cost?")
PLAN = Verb("plan", "POST", asked.Plan, answers.Report, "Which noise or how many releases fit?")

QUOTE = Verb("quote", "POST", asked.Quote, answers.Quoted, "Would it pass, and how many more?")
SPEND = Verb("spend", "POST", asked.Spend, answers.Receipt, "Charge a release before it runs")
RESERVE = Verb("reserve", "POST", asked.Reserve, answers.Reservation, "Set an allowance aside")
DRAW = Verb("draw", "POST", asked.Draw, answers.Receipt, "Spend from a reservation")
CLOSE = Verb("close", "POST", asked.Close, answers.Receipt, "End a reservation")

OPEN = Verb("open", "POST", asked.Open, answers.Receipt, "Open a scope", status=201)
LIMIT = Verb("limit", "POST", asked.Limit, answers.Receipt, "Raise or lower a limit")
FREEZE = Verb("freeze", "POST", asked.Status, answers.Receipt, "Accept no charges")
THAW = Verb("thaw", "POST", asked.Status, answers.Receipt, "Accept charges again")
RETIRE = Verb("retire", "POST", asked.Status, answers.Receipt, "Close for good")
CORRECT = Verb("correct", "POST", asked.Correct, answers.Receipt, "Add forgotten spend")
BRING_IN = Verb("bring_in", "POST", asked.BringIn, answers.Receipt, "Charge a table of past releases, or none of it")

SCOPES: Verb[None, looked.ScopeList] = Verb(
    "scopes", "GET", None, looked.ScopeList, "The scopes that the token reaches"
)
SHOW = Verb("show", "GET", asked.OfScope, looked.Standing, "A scope now", old=("/v1/statement",))
RELEASED = Verb("released", "GET", asked.OfScope, looked.ReleasedList, "What was released in a scope, how often")
ENTRIES = Verb("entries", "GET", asked.Page, looked.Entries, "What was written about a scope")
VERIFY = Verb("verify", "POST", asked.Verify, answers.Verification, "Recompute everything")
EXPORT = Verb("export", "GET", asked.Export, str, "The journal as a file", media=TEXT)
EXPORT_WITH_FACTS = Verb(
    "export", "POST", asked.Registry, str, "A draft for the deployments registry", media="application/yaml"
)

HEALTH: Verb[None, answers.Health] = Verb(
    "health",
    "GET",
    None,
    answers.Health,
    "Is it up, and does the ledger accept charges?",
    place="/health",  # where probes look
    anybody=True,
)
METRICS: Verb[None, str] = Verb("metrics", "GET", None, str, "Counters for Prometheus", place="/metrics", media=TEXT)
TOKEN_LIST: Verb[None, answers.TokenList] = Verb(
    "token_list", "GET", None, answers.TokenList, "All tokens, without secrets", old=("/v1/tokens",)
)
TOKEN_ADD = Verb(
    "token_add",
    "POST",
    asked.NewToken,
    answers.Issued,
    "Issue a token",
    status=201,
    repeatable=False,
    old=("/v1/tokens",),
)
TOKEN_REVOKE = Verb("token_revoke", "POST", asked.Revoke, answers.Revoked, "Revoke a token", old=("/v1/tokens/revoke",))

VERBS: tuple[Verb[Any, Any], ...] = (
    *(ACCOUNT, PLAN),
    *(QUOTE, SPEND, RESERVE, DRAW, CLOSE),
    *(OPEN, LIMIT, FREEZE, THAW, RETIRE, CORRECT, BRING_IN),
    *(SCOPES, SHOW, RELEASED, ENTRIES, VERIFY, EXPORT, EXPORT_WITH_FACTS),
    *(HEALTH, METRICS, TOKEN_LIST, TOKEN_ADD, TOKEN_REVOKE),
)
"""All of them, by what they are for: counting, spending, stewarding, looking, running."""
