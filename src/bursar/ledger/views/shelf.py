"""All budgets of a ledger at once: where each hangs, and how much of it is left. No price is asked for, so that
thousands of them are read as quickly as their rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from bursar.ledger.budget import words
from bursar.ledger.budget.scope import Scope
from bursar.ledger.budget.shares import Figures, figures, share_left
from bursar.ledger.commit.office import Office
from bursar.ledger.commit.view import View
from bursar.ledger.journal.body import LOST
from bursar.ledger.stores._base import Reader
from bursar.ledger.views.history import Step, read, steps
from bursar.ledger.views.last import FAR, Last, backwards

DAY = 86_400_000_000
"""In microseconds."""
MONTH = 30 * DAY


@dataclass
class Place:
    """A budget on the shelf."""

    scope: Scope
    left: Fraction
    figures: Figures | None = None
    """Of a target with splits: what is left for either kind of releases."""
    below: list[Place] = field(default_factory=list)
    """Those that hang directly below it."""

    @property
    def least(self) -> Fraction:
        """The smaller share of both kinds, by which lists are sorted."""
        return self.left if self.figures is None else self.figures.smaller

    @property
    def said(self) -> str:
        """What is left, in words."""
        return f"{words.left(self.left)} left" if self.figures is None else words.both(self.figures)

    @property
    def name(self) -> str:
        """The name of the budget."""
        return self.scope.name


def shelf(office: Office) -> dict[str, Place]:
    """Every budget by its name, with what is left of each; a root with blocks has what its worst block has."""
    with office.store.reading() as reader:
        view = office.view(reader)
        scopes = [Scope(row) for row in reader.scopes()]
        states = {scope.name: view.lines(scope) for scope in scopes}
        places = {
            scope.name: Place(scope, share_left(state), figures(state))
            for scope, state in zip(scopes, states.values(), strict=True)
        }
    for place in places.values():
        above = places.get(place.scope.row.parent)
        if above is not None:
            above.below.append(place)
    for place in places.values():
        blocks = [one for one in place.below if one.scope.kind == "block"]
        if blocks:
            worst = min(blocks, key=lambda one: one.left)
            place.left, place.figures = worst.left, worst.figures
    return places


class Lately(NamedTuple):
    """What happened to a budget lately."""

    last: Last | None
    """Its last release."""
    ends: int | None
    """When nothing would be left if it went on like this, in microseconds since 1970; None where nobody can say."""


def lately(office: Office, scopes: list[Scope]) -> dict[str, Lately]:
    """Of each of these: the last release, and when it ends at the pace of the last month."""
    found: dict[str, Lately] = {}
    with office.store.reading() as reader:
        view = office.view(reader)
        for root in dict.fromkeys(scope.row.root for scope in scopes):
            entries = read(backwards(reader, root, FAR))[::-1]
            for scope in scopes:
                if scope.row.root == root:
                    found[scope.name] = _lately(view, scope, steps(scope, view.lines(scope), entries))
    return found


def _lately(view: View[Reader], scope: Scope, taken: list[Step]) -> Lately:
    charged = [Last(what, step.entry.seq) for step in taken if (what := step.body.released) not in (None, LOST)]
    left = share_left(view.lines(scope))
    return Lately(charged[-1] if charged else None, ends(taken, left, view.now))


def ends(taken: list[Step], left: Fraction, now: int) -> int | None:
    """When nothing would be left at the pace of the last month; None where there is no pace to speak of."""
    lately = [step for step in taken if step.took and step.entry.at >= now - MONTH]
    if len(lately) < 3 or now - lately[0].entry.at < DAY or not left:
        return None
    pace = sum((step.took for step in lately), Fraction(0)) / (now - lately[0].entry.at)
    when = now + left / pace
    return int(when) if when < now + 3650 * DAY else None
