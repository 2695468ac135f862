"""How a scope stands: per cent used and left, about how many more fit, and how this is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from bursar.ledger.budget import words
from bursar.ledger.budget.amounts import shown, written
from bursar.ledger.budget.scope import Scope
from bursar.ledger.budget.shares import Figures, figures, measured, overall, share_left
from bursar.ledger.commit.view import View
from bursar.ledger.journal.rows import Balance, Splits
from bursar.ledger.stores._base import Reader
from bursar.ledger.views.counted import counted
from bursar.ledger.views.hindsight import HINDSIGHT, ODOMETER, Lost, losses
from bursar.ledger.views.last import Last, last_release
from bursar.numerics.validate import choice
from bursar.presented import Bare, Presented


@dataclass(frozen=True, repr=False)
class LineStanding(Presented):
    """One line, in its own measure."""

    name: str
    means: str
    limit: Fraction
    spent: Fraction
    held: Fraction
    left: Fraction

    def _facts(self) -> list[tuple[str, object]]:
        return [("name", self.name), ("left", Bare(words.left(self.share)))]

    @property
    def share(self) -> Fraction:
        """The share of the limit that is left."""
        return self.left / self.limit if self.limit else Fraction(0)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: exact numbers as text, and a decimal beside each, rounded to the safe side."""
        safe = {"limit": False, "spent": True, "held": True, "left": False}
        numbers = {name: getattr(self, name) for name in safe}
        return {
            "name": self.name,
            **{name: written(value) for name, value in numbers.items()},
            "decimal": {name: shown(value, up=safe[name], digits=12) for name, value in numbers.items()},
        }


@dataclass(frozen=True, repr=False)
class Standing(Presented):
    """A scope now."""

    scope: Scope
    lines: tuple[LineStanding, ...]
    released: tuple[tuple[str, int], ...]
    odometer: float | None
    """ε so far, time-uniform at the scope's δ; None where it is not known."""
    hindsight: tuple[float, float] | None
    """ε of what was released, as a composition fixed in advance: lower and upper."""
    worst_block: str | None = None
    """Of a root with blocks: the block whose state this is."""
    halted: str | None = None
    """Why the ledger accepts nothing; None where it does."""
    like: str | None = None
    """The last release that was charged; None where there is none, or it is long ago."""
    more: int | None = None
    """How many more like that one would be admitted; None where that is not known."""
    last: int | None = None
    """The number of the entry of that release, in its root."""
    figures: Figures | None = None
    """Of a target with splits: what is left for Gaussian-like and for pure releases."""
    splits: Splits | None = None
    """The splits themselves."""

    def _facts(self) -> list[tuple[str, object]]:
        return [("scope", self.scope.name), ("status", self.scope.row.status), ("left", Bare(words.left(self.left)))]

    @property
    def left(self) -> Fraction:
        """The share of the limit that is left."""
        return overall({line.name: line.share for line in self.lines})

    def line(self, name: str) -> LineStanding:
        """The line of this name."""
        found = {line.name: line for line in self.lines}
        return found[choice(line=name, among=tuple(found))]

    def to_dict(self) -> dict[str, Any]:
        """The standing as JSON has it, exact numbers as text."""
        return {
            "scope": self.scope.name,
            "kind": self.scope.kind,
            "parent": self.scope.row.parent,
            "status": self.scope.row.status,
            "currency": self.scope.row.currency,
            "target": self.scope.target,
            "used_percent": words.percent(1 - self.left, up=True),
            "left_percent": words.percent(self.left, up=False),
            **words.figures_left(self.figures),
            "like": self.like,
            "more": self.more,
            "worst_block": self.worst_block,
            "unit": self.scope.unit,
            "relation": self.scope.relation,
            "lines": [row.to_dict() for row in self.lines],
            "released": [{"what": what, "count": count} for what, count in self.released],
            "odometer": None if self.odometer is None else {"epsilon": self.odometer, "means": ODOMETER},
            "hindsight": None
            if self.hindsight is None
            else {"epsilon": {"lower": self.hindsight[0], "upper": self.hindsight[1]}, "means": HINDSIGHT},
            "halted": self.halted,
            "concurrent": self.scope.currency.concurrent,
        }

    def counted(self) -> str:
        """How this is counted: every line, the odometer and the cost with hindsight, for experts."""
        return "\n".join(f"  {row}" for row in counted(self))

    def __str__(self) -> str:
        rows = [] if self.halted is None else [f"HALTED, nothing is charged: {self.halted}"]
        rows.append(words.budget(self.scope))
        said = words.standing(self.left) if self.figures is None else words.both(self.figures)
        if more := words.more(self.more, self.like):
            said += f"; {more}"
        rows.append(f"  {said}")
        rows += [f"  {line}" for line in promises(self)]
        return "\n".join(rows)


def promises(found: Standing) -> list[str]:
    """What holds for a scope, and what is unusual about it."""
    scope, said = found.scope, list[str]()
    if scope.lost:
        said.append("entries were lost: all that was left counts as used, and nobody knows what was spent")
    elif scope.overdrawn or scope.overdrawn is None:
        said.append(_overdrawn(scope))
    else:
        said.append(f"never more than {words.promise(scope.target)}, whatever is asked")
    if scope.row.status != "open":
        said.append(f"it is {scope.row.status}: nothing is charged")
    if found.worst_block is not None:
        said.append(f"as its worst block is, {found.worst_block}")
    return said


def _overdrawn(scope: Scope) -> str:
    if scope.overdrawn is None:
        return "overdrawn by a correction that has no price: more was released than the limit allows, for good"
    beyond = max(
        Fraction(units) * scope.currency.lines[line].unit / scope.currency.lines[line].limit
        for line, units in scope.overdrawn.items()
    )
    return f"overdrawn: a correction took {words.taken(beyond)} beyond the limit, which a larger one pays first"


class Seen(NamedTuple):
    """What a store tells of a scope."""

    scope: Scope
    lines: tuple[LineStanding, ...]
    released: tuple[tuple[str, int], ...]
    state: Mapping[str, Balance]
    worst_block: str | None = None
    last: Last | None = None

    @property
    def like(self) -> str | None:
        """The last release."""
        return None if self.last is None else self.last.what


def seen(view: View[Reader], scope: Scope) -> Seen:
    """A scope as it is now; a root with blocks is as its worst block is."""
    found = placed(view, scope)
    return found._replace(last=last_release(view.rows, scope.row.root, found.worst_block or scope.name))


def placed(view: View[Reader], scope: Scope) -> Seen:
    """The same without its last release."""
    blocks = [view.scope(row.name) for row in view.rows.scopes(scope.name) if row.kind == "block"]
    if scope.kind == "root" and blocks:
        worst = min((_single(view, block) for block in blocks), key=lambda one: share_left(one.state))
        return worst._replace(scope=scope, worst_block=worst.scope.name)
    return _single(view, scope)


def standing(found: Seen, more: int | None = None) -> Standing:
    """With what the releases cost, which takes time: it needs no store for that."""
    return told(found, losses(found.scope, found.released), more)


def told(found: Seen, lost: Lost, more: int | None = None) -> Standing:
    """With what the releases cost, as somebody has counted it."""
    made = Standing(found.scope, found.lines, found.released, *lost, found.worst_block)
    splits = next((line.splits for line in found.state.values() if line.splits is not None), None)
    made = replace(made, figures=figures(found.state), splits=splits)
    return made if found.last is None else replace(made, like=found.last.what, last=found.last.seq, more=more)


def _single(view: View[Reader], scope: Scope) -> Seen:
    state = view.lines(scope)
    lines, measures = [], measured(state)
    for name, line in scope.currency.lines.items():
        balance = measures[name]
        limit, spent, held, left = (
            part * line.unit for part in (balance.limit, balance.spent, balance.held, balance.left)
        )
        lines.append(LineStanding(name, line.means, limit, spent, held, left))
    return Seen(scope, tuple(lines), tuple(view.rows.released(scope.name)), state)
