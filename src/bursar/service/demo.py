"""A service that needs nothing and explains itself: a ledger in memory that tells a story, and a token per role.

A census office has a budget for three purposes and a survey beside it. Six people release something on most days of a
month, and say what for; one of them asks for too much; two people raise the limit; one release is corrected; and at the
end of the month one of them verifies the journal.
"""

from __future__ import annotations

import contextlib
import time
from typing import NamedTuple

from bursar.errors import BudgetExceeded
from bursar.ledger.ledger import Ledger
from bursar.service.core import Audit, Service
from bursar.service.settings import Settings
from bursar.service.tokens import ROLES, Tokens

_DAYS = 30
_HOUR = 3_600_000_000
"""In microseconds."""


class _Told(NamedTuple):
    """A release that somebody makes every so many days."""

    every: int
    hour: int
    who: str
    scope: str
    what: str
    reason: str


_HISTORY = (
    _Told(3, 9, "grace", "census/maps", "gaussian(sigma=60)*2", "commuters and students by district"),
    _Told(5, 10, "emmy", "census/maps", "laplace(scale=80)", "empty dwellings, for the housing board"),
    _Told(2, 11, "alan", "census/tables", "gaussian(sigma=70)", "births and deaths of the week"),
    _Told(4, 14, "mary", "census/tables", "gaussian(sigma=60)*2", "age by sex, two tables"),
    _Told(6, 15, "kurt", "census/research", "randomized_response(epsilon=0.02)", "pilot of the time-use study"),
    _Told(4, 16, "grace", "survey", "laplace(scale=4)", "panel of the week"),
)


class _Clock:
    """The story's time while it is told, then the true one."""

    def __init__(self) -> None:
        self.begin = time.time_ns() // 1000 - _DAYS * 24 * _HOUR
        self.now: int | None = self.begin

    def at(self, day: int, hour: int) -> None:
        """The story goes on at this hour of a day."""
        self.now = self.begin + (24 * day + hour) * _HOUR

    def __call__(self) -> int:
        return time.time_ns() // 1000 if self.now is None else self.now


def demo(settings: Settings) -> tuple[Service, dict[str, str]]:
    """The service, and the secret of each role's token."""
    clock = _Clock()
    ledger = Ledger("memory://", alert=None, clock=clock)
    _open(ledger)
    for day in range(_DAYS):
        _live(ledger, clock, day)
    audit = Audit(clock(), "kurt", ledger.verify().to_dict())
    clock.now = None
    tokens = Tokens(":memory:")
    secrets = {role: tokens.add(f"demo {role}", role, seconds=86_400)[1] for role in ROLES}
    service = Service(settings, ledger, tokens)
    service.audit = audit
    return service, secrets


def _open(ledger: Ledger) -> None:
    ledger.open("census", epsilon="0.8", delta="1e-6", unit="person", second_person=True, by="ada")
    ledger.open("census/maps", epsilon="0.4", delta="1e-7", by="ada")
    ledger.open("census/tables", epsilon="0.5", delta="1e-7", by="ada")
    ledger.open("census/research", epsilon="0.3", delta="1e-7", by="ada")
    ledger.open("survey", epsilon="2", unit="person", by="ada")


def _live(ledger: Ledger, clock: _Clock, day: int) -> None:
    """A day of the story."""
    for one in sorted(_HISTORY, key=lambda told: told.hour):
        if day % one.every == one.every - 1:
            clock.at(day, one.hour)
            ledger.spend(one.scope, one.what, key=f"{one.who}-{day}-{one.hour}", by=one.who, reason=one.reason)
    clock.at(day, 17)
    if day == 12:
        with contextlib.suppress(BudgetExceeded):
            ledger.spend("census/maps", "gaussian(sigma=5)", key="too-much", by="emmy", reason="a map by street")
    if day == 15:
        ledger.limit("census", epsilon=1, reason="the council agreed to a second edition", by="ada", approved_by="mary")
    if day == 20:
        past = next(one.entry for one in ledger.entries("survey") if one.entry.kind == "spend")
        ledger.correct(("survey", past.seq), "laplace(scale=20)", reason="it ran twice", key="twice", by="ada")
