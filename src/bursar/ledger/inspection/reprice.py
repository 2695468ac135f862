"""Every charge computed anew, from what was asked and the state before it: none may have been cheaper than its price.

Spends and reservations are priced as they come, imports and corrections as releases that come late where others ran.
Draws and closings move what was priced before; what a correction overdrew has no room for its price. A price that is
not the one paid may also mean that something else was charged under the same name: that is said in either case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bursar.errors import BursarError
from bursar.ledger.budget.currencies import CERTIFICATES, Balance, Currency, Price, Refusal, State, Unpriced
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.body import Body, body_in
from bursar.ledger.journal.entry import Entry
from bursar.ledger.journal.fold import changes_of
from bursar.ledger.stores._base import Reader

States = dict[str, dict[str, Balance]]
_HOMONYM = "or something else was charged under this name"


class Pricer(NamedTuple):
    """How texts are read and prices found: both take time."""

    read: Callable[[Any, Any], Release]
    find: Callable[[Unpriced], None]

    def price(self, currency: Currency, release: Release, state: State, late: Sequence[str]) -> Price:
        """What a release costs."""
        try:
            return currency.known(release, state, late)
        except Unpriced as missing:
            self.find(missing)
        return currency.known(release, state, late)


class Repriced(NamedTuple):
    """What is wrong with the charges of a root, and what is only odd."""

    problems: list[str]
    notices: list[str]


def repriced(reader: Reader, root: str, pricer: Pricer) -> Repriced:
    """Every charge of a root."""
    found = Repriced([], [])
    scopes = {row.name: Scope(row) for row in reader.scopes(root)}
    now: States = {}
    ran: dict[str, dict[str, None]] = {}
    for entry, _ in reader.entries(root):
        body = body_in(entry.body)
        before = {name: dict(now.get(name, {})) for name in body.charged()}
        for one in body.effect:
            before[one.scope][one.line] = one.before
            now.setdefault(one.scope, {})[one.line] = one.after
        try:
            releases = _asked(entry, body, pricer)
        except BursarError as problem:  # a plug-in that is not installed here, say
            found.problems.append(f"{root}: entry {entry.seq} has no price now: {problem}")
            releases = []
        for name in before if releases else ():
            if name not in (body.overdrawn or ()):
                late = list(ran.get(name, {})) if entry.kind in ("import", "correct") else []
                charge = _Charge(entry, body, scopes[name], before[name], now[name])
                _compare(charge, releases, late, pricer, found)
        for scope, what, _ in changes_of(root, entry.seq, entry.kind, body, 0).released:
            ran.setdefault(scope, {})[what] = None
    return found


def _asked(entry: Entry, body: Body, pricer: Pricer) -> list[Release]:
    """What an entry had to pay for."""
    request = body.asked()
    if entry.kind in ("spend", "reserve", "correct"):
        return [pricer.read(request["what"], request.get("delta"))]
    if entry.kind == "import":
        return [pricer.read(one["what"], one.get("delta")) for one in request["releases"]]
    return []


class _Charge(NamedTuple):
    """An entry's charge to one scope."""

    entry: Entry
    body: Body
    scope: Scope
    before: dict[str, Balance]
    after: dict[str, Balance]

    def said(self, what: str) -> str:
        """A sentence that names the entry, the scope and what is wrong."""
        request = self.body.asked()
        name = f" for {request['what'][:60]}" if "what" in request else ""
        return f"{self.entry.root}: entry {self.entry.seq} charged {self.scope.name} {what}{name}"


def _compare(
    charge: _Charge, releases: Sequence[Release], late: Sequence[str], pricer: Pricer, found: Repriced
) -> None:
    """What a scope paid against the prices of these releases, one after another."""
    state: State = charge.before
    less = f"less than its price{_version(charge)}, {_HOMONYM},"
    for release in releases:
        try:
            following = charge.scope.currency.step(state, pricer.price(charge.scope.currency, release, state, late))
        except BursarError as problem:
            found.problems.append(f"{charge.entry.root}: entry {charge.entry.seq} has no price now: {problem}")
            return
        if isinstance(following, Refusal):
            found.problems.append(charge.said(less))
            return
        state = following
    paid = {line: balance.spent + balance.held for line, balance in charge.after.items()}
    if any(balance.spent + balance.held > paid[line] for line, balance in state.items()):
        found.problems.append(charge.said(less))
    elif any(balance.dead and not charge.after[line].dead for line, balance in state.items()):
        found.problems.append(charge.said("and left a way open that its price gives up,"))
    elif any(balance.spent + balance.held < paid[line] for line, balance in state.items()):
        found.notices.append(charge.said(f"more than today's price{_version(charge)}, {_HOMONYM},"))


def _version(charge: _Charge) -> str:
    made = charge.body.certificate
    return "" if made is None else f" (its certificate has version {made}, today's {CERTIFICATES['residue']})"
