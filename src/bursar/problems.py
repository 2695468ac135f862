"""Refusals and errors as problems (RFC 9457): every code, its status and its title in one table."""

from __future__ import annotations

import logging
import time

import msgspec

from bursar.errors import (
    BudgetExceeded,
    BursarError,
    ConsentNeeded,
    InputError,
    KeyReused,
    LedgerHalted,
    PlanImpossible,
    Refused,
    StorageFailed,
)
from bursar.ledger.budget.amounts import written
from bursar.ledger.budget.words import percent
from bursar.wire import Problem

REFUSALS = {
    "insufficient_budget": (409, "The budget does not allow it"),
    "scope_unknown": (404, "No such scope"),
    "scope_closed": (409, "The scope is closed for good"),
    "scope_frozen": (409, "The scope is frozen"),
    "currency_mismatch": (422, "These cannot be charged together"),
    "cost_invalid": (422, "The release has no price here"),
    "per_charge_cap": (422, "More than one charge may take"),
    "rate_limited": (429, "Too many requests"),
    "too_much_work": (422, "Counting this takes too long"),
    "reservation_expired": (409, "The reservation has expired"),
    "reservation_closed": (409, "The reservation is closed"),
    "key_reused": (409, "The key belongs to another request"),
    "not_permitted": (403, "Not permitted"),
    "consent_needed": (409, "It would do more than charge the release"),
    "ledger_halted": (503, "The ledger has halted"),
    "storage_unavailable": (503, "The store cannot be used at present"),
    "storage_full": (507, "The charge could not be made durable"),
}
"""The closed list of the ledger's own refusals."""
OTHERS = {
    "unauthenticated": (401, "A valid token is needed"),
    "malformed": (400, "The request cannot be read"),
    "input_invalid": (422, "A value cannot be meant"),
    "impossible": (422, "No value fits"),
    "not_found": (404, "No such page"),
    "method_not_allowed": (405, "Not this method"),
    "too_slow": (408, "The request took too long to arrive"),
    "too_large": (413, "The request is too large"),
    "not_json": (415, "Send application/json"),
    "failed": (500, "The service failed"),
}
_QUIET = 10.0  # seconds between two equal lines of the log
_log = logging.getLogger("bursar")


class Rejected(Exception):
    """A request that never reaches the ledger; ``code`` is one of `OTHERS`."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


def problem_of(error: Exception) -> Problem:
    """What to say about an error."""
    if isinstance(error, Rejected):
        return _problem(error.code, str(error))
    if isinstance(error, msgspec.ValidationError):
        return _problem("input_invalid", str(error))
    if isinstance(error, (msgspec.DecodeError, UnicodeDecodeError)):
        return _problem("malformed", f"this is not JSON: {error}")
    if isinstance(error, BudgetExceeded):
        found = _problem(error.code, str(error))
        found.scope, found.line, found.replayed = error.scope, error.line, error.replayed
        for name in ("asked", "spent", "held", "limit", "left"):
            setattr(found, name, written(getattr(error, name)))
        if error.limit:
            found.asked_percent = percent(error.asked / error.limit, up=True)
            found.left_percent = percent(error.left / error.limit, up=False)
        found.would_pass = error.would_pass
        return found
    if isinstance(error, ConsentNeeded):
        found = _problem(error.code, str(error))
        found.consent = error.consent
        return found
    if isinstance(error, KeyReused):  # which entry it is may be somebody else's business
        return _problem(error.code, "this key belongs to another request; nothing was changed")
    if isinstance(error, Refused):
        found = _problem(error.code, str(error))
        found.would_pass = getattr(error, "would_pass", None)
        return found
    if isinstance(error, PlanImpossible):
        return _problem("impossible", str(error))
    if isinstance(error, InputError):
        found = _problem("input_invalid", str(error))
        found.argument = error.argument
        return found
    if isinstance(error, BursarError):
        return _problem("input_invalid", str(error))
    _log.error("a request failed", exc_info=error)
    return _problem("failed", "this is a fault of the service; it has been logged")


def told(error: Exception) -> Problem:
    """What to say to somebody elsewhere: where the ledger lives and what its driver said is for the log."""
    if isinstance(error, (LedgerHalted, StorageFailed)):
        _aside.note(error.code, str(error))
        return _problem(error.code, error.public)
    return problem_of(error)


class _Aside:
    """Writes what is not told into the log: once in a while, however many ask."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[str, float]] = {}

    def note(self, code: str, text: str) -> None:
        """Write an error into the log, unless it was written just now."""
        now = time.monotonic()
        before, at = self._last.get(code, ("", 0.0))
        if text != before or now - at > _QUIET:
            self._last[code] = (text, now)
            _log.error("%s: %s", code, text)


_aside = _Aside()


def _problem(code: str, detail: str) -> Problem:
    status, title = REFUSALS.get(code) or OTHERS[code]
    return Problem(f"urn:bursar:problem:{code}", title, status, detail, code)
