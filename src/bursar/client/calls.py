"""One request of a client, apart from how it is sent: a verb with what is asked, and what its answer means; and how a
method that says what is asked becomes one that asks it.
"""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from fractions import Fraction
from functools import update_wrapper, wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast, overload

import httpx
import msgspec

from bursar.errors import BudgetExceeded, BursarError, ConsentNeeded, Refused, refusals
from bursar.wire import Problem, Verb

Body = TypeVar("Body")
Answer = TypeVar("Answer")
Given = ParamSpec("Given")
Other = TypeVar("Other")
RETRIED = frozenset({429, 502, 503, 504, 507})
"""Statuses after which the same request may be sent again: it did not happen, or its key finds what did."""
_REFUSED = 429  # before anything was done
_NUMBERS = ("asked", "spent", "held", "limit", "left")
_EXACT = re.compile(r"-?\d{1,4000}(?:/0*[1-9]\d{0,3999})?", re.ASCII)


class ServiceError(BursarError):
    """The service could not answer, or its answer cannot be read; ``problem`` is what it said, where it did."""

    def __init__(self, message: str, problem: Problem | None = None) -> None:
        super().__init__(message)
        self.problem = problem


@dataclass(frozen=True)
class Call(Generic[Answer]):
    """One request, and how its answer is read."""

    verb: Verb[Any, Any]
    body: Any
    pick: Callable[[Any], Answer]
    """From what the service answers to what the client gives."""

    def request(self, client: httpx.Client | httpx.AsyncClient) -> httpx.Request:
        """The request, for httpx."""
        verb = self.verb
        if verb.method == "GET":
            given = {} if self.body is None else msgspec.to_builtins(self.body)
            return client.build_request("GET", verb.path, params=given)
        content = msgspec.json.encode(self.body)
        return client.build_request(
            verb.method, verb.path, content=content, headers={"Content-Type": "application/json"}
        )

    def read(self, response: httpx.Response) -> Answer:
        """The answer, or the refusal as the exception that the ledger itself raises."""
        if response.status_code >= 400:
            raise _error(response)
        if self.verb.answer is str:
            return self.pick(response.text)
        try:
            found = msgspec.json.decode(response.content, type=self.verb.answer)
        except msgspec.MsgspecError as problem:
            raise ServiceError(f"{self.verb.path}: the answer cannot be read: {problem}") from None
        return self.pick(found)

    def then(self, pick: Callable[[Answer], Other]) -> Call[Other]:
        """The same request, with a part of its answer."""
        before = self.pick
        return Call(self.verb, self.body, lambda found: pick(before(found)))

    def attempts(self, most: int) -> Generator[float, httpx.Response | httpx.TransportError, Answer]:
        """The course of it until it is answered, whoever sends it: each step says how many seconds to wait before the
        next attempt, is told what came of that, and the last one gives the answer. A retry carries the same key, so it
        is charged once.
        """
        came: httpx.Response | httpx.TransportError = yield 0.0
        for attempt in range(1, most):
            status = came.status_code if isinstance(came, httpx.Response) else None
            if status not in (None, *RETRIED) or not (self.verb.repeatable or status == _REFUSED):
                break
            came = yield _pause(attempt - 1, came)
        if isinstance(came, httpx.Response):
            return self.read(came)
        raise ServiceError(f"no answer after {most} attempts: {came}") from came


def call(verb: Verb[Body, Answer], body: Body) -> Call[Answer]:
    """A verb with what is asked."""
    return Call(verb, body, lambda found: found)


def _pause(attempt: int, came: httpx.Response | httpx.TransportError) -> float:
    """Seconds before the next attempt: what the service says, else longer each time, and never all at once."""
    said = came.headers.get("retry-after") if isinstance(came, httpx.Response) else None
    if said is not None and said.isdigit():
        return min(float(said), 30.0)
    return min(0.1 * 2.0**attempt, 5.0) * random.uniform(0.5, 1.5)


def _error(response: httpx.Response) -> BursarError:
    """What a refusal is as an exception: the ledger's own where its code is one of the ledger's."""
    try:
        problem = msgspec.json.decode(response.content, type=Problem)
    except msgspec.MsgspecError:
        return ServiceError(f"the service answered {response.status_code}")
    kind = refusals().get(problem.code)
    if kind is None:
        return ServiceError(f"{problem.title}: {problem.detail}", problem)
    if kind is BudgetExceeded:
        return _exceeded(problem)
    if kind is ConsentNeeded:
        return ConsentNeeded(problem.detail, consent=problem.consent or "")
    if problem.code == "rate_limited":
        return kind(problem.detail, after=float(response.headers.get("retry-after", "1")))  # type: ignore[call-arg]
    return kind(problem.detail)


def _exceeded(problem: Problem) -> Refused:
    """A refused charge with its numbers, which stay untold where the scope is above those of the token."""
    texts = {name: getattr(problem, name) or "" for name in _NUMBERS}
    if all(_EXACT.fullmatch(text) for text in texts.values()):
        numbers = {name: Fraction(text) for name, text in texts.items()}
        scope, line, replayed = problem.scope or "", problem.line or "", bool(problem.replayed)
        would_pass = problem.would_pass
        said = problem.detail.removesuffix(f"; {would_pass} would pass")  # which it says again
        made = BudgetExceeded(said, scope=scope, line=line, numbers=numbers, replayed=replayed)
        made.advice = lambda: would_pass
        return made
    untold = Refused(problem.detail)
    untold.code = problem.code
    return untold


class Blocking(ABC):
    """A client whose verbs give their answers."""

    @abstractmethod
    def send(self, call: Call[Answer]) -> Answer:
        """The answer to a call."""


class Awaiting(ABC):
    """A client whose verbs are awaited."""

    @abstractmethod
    async def send(self, call: Call[Answer]) -> Answer:
        """The answer to a call."""


class verb(Generic[Given, Answer]):  # noqa: N801  # a decorator
    """A method that says what is asked, as one that asks it."""

    def __init__(self, build: Callable[Concatenate[Any, Given], Call[Answer]]) -> None:
        self._build = build
        update_wrapper(cast("Any", self), build)

    @overload
    def __get__(self, client: None, owner: Any) -> Callable[Concatenate[Any, Given], Call[Answer]]: ...
    @overload
    def __get__(self, client: Blocking, owner: Any) -> Callable[Given, Answer]: ...
    @overload
    def __get__(self, client: Awaiting, owner: Any) -> Callable[Given, Coroutine[Any, Any, Answer]]: ...
    def __get__(self, client: Any, owner: Any) -> Callable[..., Any]:
        """The function itself of a class; bound to a client, one that asks."""
        if client is None:
            return self._build
        bound = self._build.__get__(client)

        @wraps(bound)
        def ask(*given: Any, **named: Any) -> Any:
            return client.send(bound(*given, **named))

        return ask
