"""What a steward can do on a page: each verb's fields, and what they ask of the service.

A verb is filled in, then shown with its price, and done when somebody says yes to that (`acting`). What is done goes
through the verb's own endpoint, so a page allows nothing that a token does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bursar import wire
from bursar.errors import InputError, described
from bursar.ledger.budget.amounts import exact, written
from bursar.ledger.budget.choosing import CHOICES, Choice
from bursar.ledger.budget.scope import Scope

Fields = Mapping[str, str]
LIMITS = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "mu": "μ", "renyi": "divergence"}


@dataclass(frozen=True)
class Field:
    """One thing to fill in."""

    name: str
    label: str
    kind: str = "text"
    hint: str = ""
    value: str = ""
    required: bool = True
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Form:
    """A verb as people meet it."""

    title: str
    says: str
    fields: Callable[[Scope | None], tuple[Field, ...]]
    asks: Callable[[Fields], Any]
    """The body of the request."""
    button: str
    tone: str = "primary"
    choices: tuple[Choice, ...] = ()
    """What there is to choose from, where that needs a table."""


_DIGITS = 15  # of a number that a store and a browser both know exactly
_WHAT = Field("what", "Release", hint="gaussian(sigma=60)*2")
_REASON = Field("reason", "Reason", hint="It is kept in the journal.")
_IF_ANY = Field("reason", "Reason, if you like", hint="It is kept in the journal.", required=False)


def _limits(scope: Scope | None) -> tuple[Field, ...]:
    assert scope is not None
    current = scope.target
    given = tuple(
        Field(name, f"New {symbol}", value=current[name], required=False)
        for name, symbol in LIMITS.items()
        if name in current and not (name == "delta" and Fraction(current[name]) == 0)
    )
    return (*given, _REASON)


def _changed(form: Fields) -> dict[str, str]:
    return {name: form[name] for name in LIMITS if name in form}


def _limited(form: Fields) -> wire.Limit:
    reason, key, second = form.get("reason", ""), form.get("key", ""), form.get("approval")
    return wire.Limit(form.get("scope", ""), reason, key, approval=second, **_changed(form))


def _number(form: Fields, name: str, what: str) -> int:
    given = form.get(name, "")
    if not given.isdecimal() or len(given) > _DIGITS:
        raise InputError(f"{what} is a whole number, not {described(given or None)}", argument=name)
    return int(given)


def _seconds(form: Fields) -> str:
    return written(exact(form.get("hours", ""), "hours") * 3600)


def _status(form: Fields) -> wire.Status:
    return wire.Status(form.get("scope", ""), form.get("reason", ""), form.get("key", ""))


def _opening(scope: Scope | None) -> tuple[Field, ...]:
    above = "" if scope is None else f"{scope.name}/"
    return (
        Field("scope", "Name", hint="census/maps opens below census", value=above),
        Field("epsilon", "Limit ε", hint="1 or 1/4"),
        Field("delta", "at δ", hint="1e-6; leave it empty for a pure budget", required=False),
        Field("currency", "Counted in", "select", options=("", "sums", "concentrated", "pure"), required=False),
        Field("unit", "Protects each", value="person" if scope is None else scope.unit, required=False),
        Field("kind", "Kind", "select", options=("", "root", "quota", "block"), required=False),
        Field("second_person", "A change of the limit needs two people", "checkbox", required=False),
    )


def _opened(form: Fields) -> wire.Open:
    given: dict[str, Any] = {
        name: form[name] for name in ("epsilon", "delta", "currency", "unit", "kind") if name in form
    }
    return wire.Open(
        scope=form.get("scope", ""), key=form.get("key", ""), second_person="second_person" in form, **given
    )


FORMS: dict[str, Form] = {
    "spend": Form(
        "Charge a release",
        "It is charged before it runs, and never given back.",
        lambda _: (_WHAT, _IF_ANY),
        lambda form: wire.Spend(
            [form.get("scope", "")], form.get("what", ""), form.get("key", ""), reason=form.get("reason")
        ),
        "Charge it",
    ),
    "reserve": Form(
        "Reserve",
        "Set an allowance aside: it counts as used until it is drawn, closed or over.",
        lambda _: (_WHAT, Field("hours", "For how many hours", value="24"), _IF_ANY),
        lambda form: wire.Reserve(
            [form.get("scope", "")],
            form.get("what", ""),
            _seconds(form),
            form.get("key", ""),
            reason=form.get("reason"),
        ),
        "Reserve it",
    ),
    "limit": Form(
        "Change the limit",
        "What is used stays used; its share of the limit changes.",
        _limits,
        _limited,
        "Change the limit",
    ),
    "freeze": Form(
        "Freeze", "Nothing is charged until it is thawed.", lambda _: (_REASON,), _status, "Freeze it", "danger"
    ),
    "thaw": Form("Thaw", "It accepts charges again.", lambda _: (_REASON,), _status, "Thaw it"),
    "retire": Form(
        "Retire",
        "It closes for good, and so do those below it. The journal keeps everything.",
        lambda _: (_REASON,),
        _status,
        "Close it for good",
        "danger",
    ),
    "correct": Form(
        "Correct an entry",
        "Add what an entry should have charged. A correction can only add.",
        lambda _: (Field("seq", "Number of the entry"), _WHAT, _REASON),
        lambda form: wire.Correct(
            form.get("root", ""),
            _number(form, "seq", "the number of an entry"),
            form.get("what", ""),
            form.get("reason", ""),
            form.get("key", ""),
            form.get("consent"),
        ),
        "Correct it",
        "danger",
    ),
    "bring_in": Form(
        "Bring in past releases",
        "All of them are charged, or none: in the order in which they ran.",
        lambda _: (Field("table", "Table", "table", hint="what,count\nlaplace(scale=100),3"),),
        lambda form: wire.BringIn(
            form.get("scope", ""), form.get("table", ""), form.get("key", ""), form.get("consent")
        ),
        "Charge all of them",
    ),
    "open": Form(
        "Open a budget",
        "A name under an existing budget opens below it: every charge there counts above, too.",
        _opening,
        _opened,
        "Open it",
        choices=CHOICES,
    ),
}
"""By the names of verbs."""
