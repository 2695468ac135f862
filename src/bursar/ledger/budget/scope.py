"""A scope as the ledger knows it: where it hangs, what it is measured in, who it protects."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

from bursar.errors import InputError, described
from bursar.ledger.budget.amounts import PARTS, exact, written
from bursar.ledger.budget.currencies import Currency, currency_of, currency_with
from bursar.ledger.journal.entry import canonical
from bursar.ledger.journal.rows import ScopeRow
from bursar.numerics.validate import choice, listed
from bursar.presented import Bare, Presented
from bursar.relations import ADD_REMOVE, relation_field

KINDS = ("root", "block", "quota")
ALERTS = (Fraction(1, 2), Fraction(4, 5), Fraction(9, 10), Fraction(1))
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:/@-]{0,99}\Z")


@dataclass(frozen=True, repr=False)
class Scope(Presented):
    """One named allowance, apart from its balances."""

    row: ScopeRow

    def _facts(self) -> list[tuple[str, object]]:
        target = ", ".join(f"{name} {value}" for name, value in self.target.items())
        return [("", self.name), ("kind", self.kind), ("status", self.row.status), ("target", Bare(target))]

    @property
    def name(self) -> str:
        """Its name, unique in the ledger."""
        return self.row.name

    @property
    def kind(self) -> str:
        """root (the guarantee), block or quota; a root that `bursar.cohorts` charges is a cohort."""
        return self.row.kind if self.cohort is None else "cohort"

    @cached_property
    def terms(self) -> dict[str, Any]:
        """What was agreed when it was opened."""
        terms: dict[str, Any] = json.loads(self.row.terms)
        return terms

    @cached_property
    def currency(self) -> Currency:
        """The filter, in the units of the day it was opened."""
        return currency_with(self.row.currency, canonical(self.terms["currency"]))

    @cached_property
    def current(self) -> Currency:
        """The filter with the limit as it is now."""
        return self.currency_at(self.target)

    def currency_at(self, target: dict[str, Any]) -> Currency:
        """The filter with another target, and the same splits if it has any."""
        shares = self.terms["currency"].get("splits")
        return currency_of(self.row.currency, target if shares is None else {**target, "splits": shares})

    @property
    def unit(self) -> str:
        """Whom the promise protects: person, household, record."""
        return str(self.terms["unit"])

    @cached_property
    def relation(self) -> str:
        """Which data sets count as neighbours."""
        return str(self.terms["relation"])

    @property
    def target(self) -> dict[str, str]:
        """The limit as it is now, in the words in which it was given."""
        return dict(self.terms["target"])

    @cached_property
    def alerts(self) -> tuple[Fraction, ...]:
        """Shares of the limit at which somebody wants to know."""
        return tuple(Fraction(share) for share in self.terms["alerts"])

    @cached_property
    def marks(self) -> list[tuple[Fraction, int]]:
        """Each of these shares with the parts of the whole that it is."""
        return [(share, ceil(share * PARTS)) for share in self.alerts]

    @cached_property
    def cohort(self) -> dict[str, Any] | None:
        """What `bursar.cohorts` keeps for this root; None where it is charged as a whole."""
        return self.terms.get("cohort")

    @property
    def second_person(self) -> bool:
        """Whether a change of the limit needs two people."""
        return bool(self.terms.get("second_person", False))

    @property
    def lost(self) -> bool:
        """Whether entries of its root were lost, so that nobody knows what was spent."""
        return bool(self.terms.get("lost", False))

    @property
    def overdrawn(self) -> dict[str, int] | None:
        """What corrections took beyond each line's limit, in units; None where that is not known."""
        kept = self.terms.get("overdrawn", {})
        return None if kept is None else {line: int(units) for line, units in kept.items()}

    def with_terms(self, **terms: Any) -> Scope:
        """The scope with these terms beside or in place of the old ones."""
        return Scope(self.row._replace(terms=canonical({**self.terms, **terms})))

    def with_status(self, status: str) -> Scope:
        """Frozen, thawed or closed."""
        return Scope(self.row._replace(status=status))


def new_scope(
    name: object,
    parent: Scope | None,
    kind: object,
    currency: str | None,
    limits: dict[str, Any],
    options: dict[str, Any],
) -> Scope:
    """Check what a steward asked for."""
    checked = scope_name(name)
    usual = "root" if parent is None else "quota"
    if kind == "window":
        raise InputError(
            "there is no kind 'window': a budget for each period is a quota that a scheduled job opens, and closes "
            "when the next one begins (docs/howto/quotas.md)",
            argument="kind",
        )
    which = choice(kind=usual if kind is None else kind, among=KINDS)
    if (which == "root") != (parent is None):
        raise InputError(f"a {which} scope {'has no' if which == 'root' else 'needs a'} parent", argument="parent")
    if parent is not None and which == "block":
        return _block(checked, parent, limits, options)
    made = currency_of(currency, limits)
    alerts = _alerts(options.get("alerts"))
    terms: dict[str, Any] = {"currency": made.terms(), "target": target_of(made), "alerts": alerts}
    if parent is None:
        terms["unit"], terms["relation"] = (
            _unit(options.get("unit")),
            relation_field(options.get("relation") or ADD_REMOVE),
        )
    else:
        terms["unit"], terms["relation"] = parent.unit, parent.relation
        for field in ("unit", "relation"):
            if options.get(field) not in (None, terms[field]):
                raise InputError(f"{field} must be the root's, {terms[field]}", argument=field)
    if options.get("cohort"):
        terms["cohort"] = json.loads(options["cohort"])
    if options.get("second_person"):
        terms["second_person"] = True
    root, above = (checked, "") if parent is None else (parent.row.root, parent.name)
    return Scope(ScopeRow(checked, root, above, which, made.name, canonical(terms), "open"))


def _block(name: str, parent: Scope, limits: dict[str, Any], options: dict[str, Any]) -> Scope:
    """A disjoint part of the data has the root's own terms: the guarantee is that of the worst block."""
    if parent.kind != "root":
        raise InputError("a block is a part of a root's data: its parent must be a root", argument="parent")
    if parent.relation != ADD_REMOVE:
        raise InputError(
            f"under {parent.relation} a record may leave one block and enter another, so blocks do not protect apart: "
            "use add_remove",
            argument="kind",
        )
    given = [key for key, value in {**limits, **options}.items() if value]
    if given:
        raise InputError(f"a block takes its root's terms; leave out {', '.join(given)}", argument=given[0])
    return Scope(parent.row._replace(name=name, parent=parent.name, kind="block"))


def scope_name(name: object) -> str:
    """A name that can be typed anywhere."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise InputError(
            f"a scope's name has up to 100 letters, digits, spaces or . _ : / @ -, not {described(name)}",
            argument="scope",
        )
    return str.__str__(name)  # of the exact type, before anybody looks it up


def whole_parts(name: str) -> None:
    """Refuse a new name with nothing between its slashes: a//b and a/ lie under a for nobody, but look as if."""
    if not all(part.strip() for part in name.split("/")):
        raise InputError(f"a new name has something between its slashes, not {described(name)}", argument="scope")


def names_above(name: str) -> list[str]:
    """The names that a name lies under, the nearest first: a/b and a for a/b/c."""
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


def _alerts(shares: Any) -> list[str]:
    given = ALERTS if shares is None else tuple(exact(share, "alerts") for share in listed(alerts=shares))
    if any(not 0 < share <= 1 for share in given):
        raise InputError("alerts must be shares of the limit, above 0 and at most 1", argument="alerts")
    return [written(share) for share in sorted(set(given))]


def _unit(unit: Any) -> str:
    if unit is None:
        return "record"
    if not isinstance(unit, str) or not _NAME.match(unit):
        raise InputError(f"unit must be a word such as person or record, not {described(unit)}", argument="unit")
    return str.__str__(unit)


def target_of(currency: Currency) -> dict[str, str]:
    """The limit in words: the terms of a currency without its splits."""
    return {name: value for name, value in currency.terms().items() if name != "splits"}
