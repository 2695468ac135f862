"""A service that needs nothing and explains itself: a ledger in memory, some scopes, some history, a token per role."""

from __future__ import annotations

import contextlib
import itertools

from bursar.errors import BudgetExceeded
from bursar.ledger.ledger import Ledger
from bursar.service.core import Service
from bursar.service.settings import Settings
from bursar.service.tokens import ROLES, Tokens

_HISTORY = ("gaussian(sigma=40)", "laplace(scale=50)", "gaussian(sigma=60)*2", "randomized_response(epsilon=0.05)")


def demo(settings: Settings) -> tuple[Service, dict[str, str]]:
    """The service, and the secret of each role's token."""
    clock = itertools.count(1_790_000_000_000_000, 3_600_000_000)  # an hour between any two entries
    ledger = Ledger("memory://", alert=None, clock=lambda: next(clock))
    ledger.open("census", epsilon="1", delta="1e-6", by="ada")
    ledger.open("census/maps", parent="census", epsilon="1/2", delta="1e-7", by="ada")
    ledger.open("survey", epsilon="2", by="ada")
    for number in range(24):
        what = _HISTORY[number % len(_HISTORY)]
        ledger.spend("census/maps" if number % 6 == 5 else "census", what, key=f"history-{number}", by="grace")
    for number in range(7):
        ledger.spend("survey", "laplace(scale=4)", key=f"survey-{number}", by="grace")
    with contextlib.suppress(BudgetExceeded):
        ledger.spend("survey", "laplace(scale=2)", key="survey-too-much", by="grace")
    tokens = Tokens(":memory:")
    secrets = {role: tokens.add(f"demo {role}", role, seconds=86_400)[1] for role in ROLES}
    return Service(settings, ledger, tokens), secrets
