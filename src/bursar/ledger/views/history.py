"""What each entry took of a scope, and what was left after it: read from the journal, which has every line before and
after every entry.

An entry says how the lines changed that it touched. The others were as some later entry found them, or as they are now
where none touched them since: so whoever looks at some entries walks on from there until every line was met.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from bursar.ledger.budget.scope import Scope
from bursar.ledger.budget.shares import share_left
from bursar.ledger.commit.view import View
from bursar.ledger.journal.body import Body, body_in
from bursar.ledger.journal.entry import Chained, Entry
from bursar.ledger.journal.rows import Balance
from bursar.ledger.stores._base import Reader

FAR = 20_000
"""How many entries are walked through to find a line; beyond that it is not known."""
_STEP = 500


class Step(NamedTuple):
    """An entry, and how much of a scope was left before and after it, as shares of its limit."""

    entry: Entry
    body: Body
    before: Fraction
    after: Fraction

    @property
    def took(self) -> Fraction:
        """What the entry took of the limit; what gives something back, or raises the limit, takes nothing."""
        return max(self.before - self.after, Fraction(0)) if self.entry.kind != "limit" else Fraction(0)


def steps(scope: Scope, after: dict[str, Balance], entries: Sequence[tuple[Chained, Body]]) -> list[Step]:
    """The entries that touched a scope, in their order; ``after`` is how its lines were after the last of them all."""
    state, found = dict(after), list[Step]()
    for chained, body in reversed(entries):
        touched = [one for one in body.effect if one.scope == scope.name]
        if not touched and body.refusal is None:
            continue
        state.update({one.line: one.after for one in touched})
        left = share_left(state)
        state.update({one.line: one.before for one in touched})
        opened = any(row.name == scope.name for row in body.scopes or ()) and chained.entry.kind == "open"
        before = Fraction(1) if opened else share_left(state)
        if touched or (body.refusal is not None and body.refusal.scope == scope.name):
            found.append(Step(chained.entry, body, before, left))
    return found[::-1]


def read(entries: Iterable[Chained]) -> list[tuple[Chained, Body]]:
    """Entries with their bodies."""
    return [(one, body_in(one.entry.body)) for one in entries]


def lines_after(view: View[Reader], scope: Scope, seq: int) -> dict[str, Balance] | None:
    """The lines of a scope as they were after an entry of its root; None where it is too long ago to find out."""
    now = view.lines(scope)
    head = view.rows.head(scope.row.root)
    found: dict[str, Balance] = {}
    while head is not None and seq < head.seq and len(found) < len(now):
        page = list(view.rows.entries(scope.row.root, seq, _STEP))
        for chained in page:
            for one in body_in(chained.entry.body).effect:
                if one.scope == scope.name:
                    found.setdefault(one.line, one.before)
        seq = page[-1].entry.seq if page else head.seq
        if seq < head.seq - FAR:
            return None
    return {**now, **found}
