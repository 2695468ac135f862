"""What is counted in processes of its own: pure functions of what they are given. None of them opens a ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bursar.errors import BursarError
from bursar.jobs.account import account
from bursar.jobs.plan import plan
from bursar.jobs.report import Report
from bursar.jobs.spec import parse
from bursar.ledger.budget import instead as advice
from bursar.ledger.budget.currencies import Balance, currency_with
from bursar.ledger.budget.refusals import Caps
from bursar.ledger.budget.release import Release, release_of
from bursar.ledger.budget.scope import Scope
from bursar.ledger.inspection.bases import deeply
from bursar.ledger.journal.body import Basis
from bursar.ledger.journal.rows import ScopeRow
from bursar.ledger.verbs import spend as charging
from bursar.ledger.verbs.bring_in import read_past
from bursar.ledger.views import hindsight
from bursar.service.dashboard import views

Lines = Mapping[str, Balance]


def account_of(composition: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What do releases cost?"""
    return account(parse(composition), **given).to_dict()


def plan_of(template: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Which noise or how many releases fit?"""
    return plan(template, **given).to_dict()


def account_page(composition: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The same for the dashboard, with a picture."""
    return _page(account(parse(composition), **given))


def plan_page(template: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The same for the dashboard, with a picture."""
    found = plan(template, **given)
    return {"plan": found.to_dict(), **_page(found.report)}


def _page(report: Report) -> dict[str, Any]:
    try:
        chart = views.curve(report.composition)
    except (BursarError, ArithmeticError, ValueError):  # no losses are known: the table says why
        chart = None
    return {"report": views.report(report), "chart": chart}


def read(text: str, delta: Fraction | None) -> Release:
    """What a text means, as something to be charged."""
    found = release_of(text, delta)
    return found.at(found.delta)


def past(table: str) -> list[Release]:
    """What a table of past releases means, each as something to be charged."""
    return [one.at(one.delta) for one in read_past(table)]


def find(
    sought: Sequence[tuple[str, str, Sequence[Release], Lines, bool, tuple[Basis, ...] | None]],
) -> list[Any]:
    """Prices that nobody knows yet, as lessons for the currencies that lack them."""
    found = []
    for name, terms, releases, state, late, bases in sought:
        currency = currency_with(name, terms, bases)
        currency.find(releases, state, late)
        found.append(currency.lessons(releases))
    return found


def quote(seen: Sequence[tuple[ScopeRow, Lines]], release: Release) -> dict[str, Any]:
    """Would it pass, and how many more?"""
    return charging.quote([(Scope(row), dict(state)) for row, state in seen], release).to_dict()


def losses(row: ScopeRow, released: Sequence[tuple[str, int]]) -> tuple[float | None, tuple[float, float] | None]:
    """A scope's odometer, and what its releases cost with hindsight."""
    return hindsight.losses(Scope(row), released)


def more(seen: Sequence[tuple[ScopeRow, Lines]], release: Release) -> int:
    """How many more of these would be admitted."""
    return charging.quote([(Scope(row), dict(state)) for row, state in seen], release).fits


def instead(seen: Sequence[tuple[ScopeRow, Lines]], release: Release, caps: Caps) -> str | None:
    """What would pass in place of a release that was refused."""
    return advice.instead([(Scope(row), dict(state)) for row, state in seen], release, caps)


def compare(basis: Basis) -> str:
    """What is wrong with what an engine once found, by the engines of today."""
    return deeply(basis)


TASKS = {
    "compare": compare,
    "account": account_of,
    "plan": plan_of,
    "account_page": account_page,
    "plan_page": plan_page,
    "read": read,
    "past": past,
    "price": find,
    "quote": quote,
    "more": more,
    "instead": instead,
    "losses": losses,
}


def warm() -> None:
    """Have everything loaded that is loaded when it is first needed."""
    account_of("poisson(gaussian(sigma=1), rate=0.01)*100 + laplace(scale=9)", {"delta": 1e-6})
    plan_of("gaussian(sigma=?)*2", {"epsilon": 1, "delta": 1e-6})
    terms = '{"delta":"1/1000000","epsilon":"1","leak":"1/100000000"}'
    currency = currency_with("residue", terms)
    currency.find([release_of("laplace(scale=100)")], currency.opening())
