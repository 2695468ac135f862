"""Every charge computed anew, from what was asked and the state before it: none may have been cheaper than its price.

Spends and reservations are priced as they come, imports and corrections as releases that come late where others ran or
may still run by a reservation, and so is what was released before a scope was opened. Draws and closings move what was
priced before; what a correction overdrew has no room for its price. A price that is not the one paid may also mean that
something else was charged under the same name: that is said in either case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bursar.errors import BursarError
from bursar.ledger.budget.currencies import CERTIFICATES, Balance, Currency, Price, Refusal, State, Unpriced
from bursar.ledger.budget.currencies._base import ALL
from bursar.ledger.budget.release import Release
from bursar.ledger.budget.scope import Scope
from bursar.ledger.journal.body import Body, Charge, body_in
from bursar.ledger.journal.entry import Entry
from bursar.ledger.journal.fold import changes_of
from bursar.ledger.journal.held import Held, held_in
from bursar.ledger.stores._base import Reader

States = dict[str, dict[str, Balance]]
_HOMONYM = "or something else was charged under this name"
_AGREED = 48  # bits of a certified charge that every processor finds; journals hold some that end in other digits


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


class _Past:
    """What a root's journal has said so far: its lines, what ran, and what may still run by reservations."""

    def __init__(self) -> None:
        self.lines: States = {}
        self._ran: dict[str, dict[str, None]] = {}
        self._open: dict[str, Held] = {}

    def late(self, scope: str) -> list[str]:
        """What a release that comes late in a scope comes after."""
        reserved = [text for held in self._open.values() if scope in held.scopes for text, _ in held.left]
        return [*self._ran.get(scope, {}), *reserved]

    def add(self, entry: Entry, body: Body) -> None:
        """Take what an entry says into account."""
        for one in body.effect:
            self.lines.setdefault(one.scope, {})[one.line] = one.after
        changes = changes_of(entry.root, entry.seq, entry.kind, body, 0)
        for scope, what, _ in changes.released:
            self._ran.setdefault(scope, {})[what] = None
        for row in changes.reservations:
            self._open.pop(row.id, None)
            if row.status == "open":
                self._open[row.id] = held_in(row)


def repriced(reader: Reader, root: str, pricer: Pricer) -> Repriced:
    """Every charge of a root."""
    found, past = Repriced([], []), _Past()
    scopes = {row.name: Scope(row) for row in reader.scopes(root)}
    for entry, _ in reader.entries(root):
        body = body_in(entry.body)
        try:
            releases = _asked(entry, body, pricer)
        except BursarError as problem:  # a plug-in that is not installed here, say
            found.problems.append(f"{root}: entry {entry.seq} has no price now: {problem}")
            releases = []
        if body.blocks is not None and releases:
            _compare_blocks(_charge(entry, body, scopes[root], past), body.blocks, releases[0], pricer, found)
            releases = []
        places = [name for name in body.charged() if name not in (body.overdrawn or ())] if releases else []
        charges = [_charge(entry, body, scopes[name], past) for name in places]
        past.add(entry, body)
        for charge in charges:
            _compare(charge, releases, past.lines[charge.scope.name], pricer, found)
    return found


def _asked(entry: Entry, body: Body, pricer: Pricer) -> list[Release]:
    """What an entry had to pay for."""
    request = body.asked()
    if entry.kind in ("spend", "reserve", "correct", "charge"):
        return [pricer.read(request["what"], request.get("delta"))]
    if entry.kind == "import":
        return [pricer.read(one["what"], one.get("delta")) for one in request["releases"]]
    return [pricer.read(text, None) for text in body.opening or ()]


def _charge(entry: Entry, body: Body, scope: Scope, past: _Past) -> _Charge:
    """What an entry found in a scope that it charges."""
    changed = {one.line: one for one in body.effect if one.scope == scope.name}
    if entry.kind != "open":
        before = {**past.lines.get(scope.name, {}), **{line: one.before for line, one in changed.items()}}
        late = past.late(scope.name) if entry.kind in ("import", "correct") else []
        return _Charge(entry, body, scope, before, late)
    if scope.kind == "block":  # what was charged to all of the data was charged here too
        return _Charge(entry, body, scope, dict(past.lines[entry.root]), past.late(entry.root))
    opening = scope.currency.opening()
    return _Charge(
        entry, body, scope, {line: opening[line]._replace(window=one.window) for line, one in changed.items()}, []
    )


class _Charge(NamedTuple):
    """An entry's charge to one scope."""

    entry: Entry
    body: Body
    scope: Scope
    before: dict[str, Balance]
    late: Sequence[str]
    """What ran, or may run, before it was charged, where it does not come in its order."""

    def said(self, what: str) -> str:
        """A sentence that names the entry, the scope and what is wrong."""
        request = self.body.asked()
        name = f" for {request['what'][:60]}" if "what" in request else ""
        return f"{self.entry.root}: entry {self.entry.seq} charged {self.scope.name} {what}{name}"


def _compare(charge: _Charge, releases: Sequence[Release], after: State, pricer: Pricer, found: Repriced) -> None:
    """What a scope paid against the prices of these releases, one after another."""
    state: State = charge.before
    less = f"less than its price{_version(charge)}, {_HOMONYM},"
    for release in releases:
        try:
            price = pricer.price(charge.scope.currency, release, state, charge.late)
            following = charge.scope.currency.step(state, price)
        except BursarError as problem:
            found.problems.append(f"{charge.entry.root}: entry {charge.entry.seq} has no price now: {problem}")
            return
        if isinstance(following, Refusal):
            found.problems.append(charge.said(less))
            return
        state = following
    apart = [_apart(line, charge.before, balance, after[line]) for line, balance in state.items()]
    if any(over > 0 for over in apart):
        found.problems.append(charge.said(less))
    elif any(balance.dead and not after[line].dead for line, balance in state.items()):
        found.problems.append(charge.said("and left a way open that its price gives up,"))
    elif any(over < 0 for over in apart):
        found.notices.append(charge.said(f"more than today's price{_version(charge)}, {_HOMONYM},"))


def _apart(line: str, before: State, priced: Balance, after: Balance) -> int:
    """By how many units the price of a line is above what was paid there; 0 where only the last digits differ."""
    start, price, paid = (one.spent + one.held for one in (before[line], priced, after))
    over = price - paid
    return 0 if line in CERTIFICATES and abs(over) <= abs(paid - start) >> _AGREED else over


def _compare_blocks(charge: _Charge, blocks: Charge, release: Release, pricer: Pricer, found: Repriced) -> None:
    """What each block of a box paid against the price, which does not depend on what was spent there."""
    try:
        asked = pricer.price(charge.scope.currency, release, charge.before, ()).ways[ALL]
    except BursarError as problem:
        found.problems.append(f"{charge.entry.root}: entry {charge.entry.seq} has no price now: {problem}")
        return
    if any(amount > blocks.amounts.get(line, 0) for line, amount in asked.items()):
        found.problems.append(charge.said(f"less than its price, {_HOMONYM},"))
    elif asked != blocks.amounts:
        found.notices.append(charge.said(f"more than today's price, {_HOMONYM},"))


def _version(charge: _Charge) -> str:
    made = charge.body.certificate
    return "" if made is None else f" (its certificate has version {made}, today's {CERTIFICATES['residue']})"
