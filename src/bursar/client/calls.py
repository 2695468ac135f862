"""What can be asked, apart from how it is sent: each verb as a call with its body and the type of its answer."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import httpx
import msgspec

from bursar import wire
from bursar.errors import BudgetExceeded, BursarError, ConsentNeeded, Refused, refusals
from bursar.ledger.arguments import own_key
from bursar.ledger.budget.amounts import exact

Answer = TypeVar("Answer")
RETRIED = frozenset({429, 502, 503, 504, 507})
"""Statuses after which the same request may be sent again: it did not happen, or its key finds what did."""
_NUMBERS = ("asked", "spent", "held", "limit", "left")


class ServiceError(BursarError):
    """The service could not answer, or its answer cannot be read; ``problem`` is what it said, where it did."""

    def __init__(self, message: str, problem: wire.Problem | None = None) -> None:
        super().__init__(message)
        self.problem = problem


@dataclass(frozen=True)
class Call(Generic[Answer]):
    """One request."""

    method: str
    path: str
    body: wire.Asked | None
    answer: type[Answer]

    def request(self, client: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """For httpx."""
        if self.method == "GET":
            given = {} if self.body is None else msgspec.to_builtins(self.body)
            return client.build_request("GET", self.path, params=given)
        content = msgspec.json.encode(self.body)
        return client.build_request(
            self.method, self.path, content=content, headers={"Content-Type": "application/json"}
        )

    def read(self, response: httpx.Response) -> Answer:
        """The answer, or the refusal as the exception that the ledger itself raises."""
        if response.status_code >= 400:
            raise _error(response)
        try:
            if self.answer is str:
                return response.text  # type: ignore[return-value]
            return msgspec.json.decode(response.content, type=self.answer)
        except msgspec.MsgspecError as problem:
            raise ServiceError(f"{self.path}: the answer cannot be read: {problem}") from None


def _error(response: httpx.Response) -> BursarError:
    try:
        problem = msgspec.json.decode(response.content, type=wire.Problem)
    except msgspec.MsgspecError:
        return ServiceError(f"the service answered {response.status_code}")
    kind = refusals().get(problem.code)
    if kind is BudgetExceeded and problem.asked is not None:
        numbers = {name: exact(getattr(problem, name), name) for name in _NUMBERS}
        return BudgetExceeded(
            problem.detail,
            scope=problem.scope or "",
            line=problem.line or "",
            numbers=numbers,
            replayed=bool(problem.replayed),
        )
    if kind is None or kind is BudgetExceeded:
        made: BursarError = ServiceError(f"{problem.title}: {problem.detail}", problem)
        if problem.code == "insufficient_budget":
            made = Refused(problem.detail)
            made.code = problem.code
        return made
    if kind is ConsentNeeded:
        return ConsentNeeded(problem.detail, consent=problem.consent or "")
    if problem.code == "rate_limited":
        return kind(problem.detail, after=float(response.headers.get("retry-after", "1")))  # type: ignore[call-arg]
    return kind(problem.detail)


def pause(attempt: int, response: httpx.Response | None) -> float:
    """Seconds before the next attempt: what the service says, else longer each time, and never all at once."""
    said = None if response is None else response.headers.get("retry-after")
    if said is not None and said.isdigit():
        return min(float(said), 30.0)
    return min(0.1 * 2.0**attempt, 5.0) * random.uniform(0.5, 1.5)


class Calls:
    """Every verb as a call."""

    @staticmethod
    def account(composition: str, **given: Any) -> Call[dict[str, Any]]:
        """What do releases cost?"""
        return Call("POST", "/v1/account", wire.Account(composition, **_texts(given)), dict[str, Any])

    @staticmethod
    def plan(template: str, epsilon: Any, delta: Any, **given: Any) -> Call[dict[str, Any]]:
        """Which value fits?"""
        asked = wire.Plan(template, str(epsilon), str(delta), **_texts(given))
        return Call("POST", "/v1/plan", asked, dict[str, Any])

    @staticmethod
    def quote(scopes: str | Sequence[str], what: Any, delta: Any = None) -> Call[wire.Quoted]:
        """Would it pass?"""
        return Call("POST", "/v1/quote", wire.Quote(_names(scopes), _what(what), _text(delta)), wire.Quoted)

    @staticmethod
    def spend(scopes: str | Sequence[str], what: Any, key: str | None = None, delta: Any = None) -> Call[wire.Receipt]:
        """Charge a release."""
        return Call(
            "POST", "/v1/spend", wire.Spend(_names(scopes), _what(what), key or own_key(), _text(delta)), wire.Receipt
        )

    @staticmethod
    def reserve(
        scopes: str | Sequence[str], what: Any, ttl: Any, key: str | None = None, delta: Any = None
    ) -> Call[wire.Reservation]:
        """Set an allowance aside."""
        asked = wire.Reserve(_names(scopes), _what(what), str(ttl), key or own_key(), _text(delta))
        return Call("POST", "/v1/reserve", asked, wire.Reservation)

    @staticmethod
    def draw(reservation: str, what: Any = None, key: str | None = None) -> Call[wire.Receipt]:
        """Spend from a reservation."""
        return Call(
            "POST",
            "/v1/draw",
            wire.Draw(reservation, key or own_key(), None if what is None else _what(what)),
            wire.Receipt,
        )

    @staticmethod
    def close(reservation: str, key: str | None = None) -> Call[wire.Receipt]:
        """End a reservation."""
        return Call("POST", "/v1/close", wire.Close(reservation, key or own_key()), wire.Receipt)

    @staticmethod
    def scopes() -> Call[wire.ScopeList]:
        """The scopes that the token reaches."""
        return Call("GET", "/v1/scopes", None, wire.ScopeList)

    @staticmethod
    def statement(scope: str) -> Call[wire.Statement]:
        """A scope now."""
        return Call("GET", "/v1/statement", wire.OfScope(scope), wire.Statement)

    @staticmethod
    def entries(scope: str, after: int = 0, most: int = 100) -> Call[wire.Entries]:
        """What was written about a scope."""
        return Call("GET", "/v1/entries", wire.Page(scope, after, most), wire.Entries)

    @staticmethod
    def verify(*, reprice: bool = False) -> Call[wire.Verification]:
        """Recompute everything."""
        return Call("POST", "/v1/verify", wire.Verify(reprice), wire.Verification)

    @staticmethod
    def export(form: str = "jsonl") -> Call[str]:
        """The journal as a file."""
        return Call("GET", "/v1/export", wire.Export(form), str)  # type: ignore[arg-type]

    @staticmethod
    def registry(root: str, facts: Mapping[str, Any]) -> Call[str]:
        """A draft for the deployments registry."""
        return Call("POST", "/v1/export", wire.Registry(root, dict(facts)), str)

    @staticmethod
    def health() -> Call[wire.Health]:
        """Is it up?"""
        return Call("GET", "/health", None, wire.Health)


def _what(what: Any) -> str:
    """A text as it is; a mechanism or a composition as the text that means it, or not at all."""
    if isinstance(what, str):
        return what
    from bursar.composition import as_composition
    from bursar.jobs.spec import read_back

    return read_back(as_composition(what)).text()


def _names(scopes: str | Sequence[str]) -> list[str]:
    return [scopes] if isinstance(scopes, str) else list(scopes)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _texts(given: dict[str, Any]) -> dict[str, Any]:
    plain = ("theorems", "effort")
    return {name: value if name in plain or value is None else str(value) for name, value in given.items()}
