"""What a scope looks like: spent, held and left; its odometer; and the cost with hindsight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from bursar.composition import Composition
from bursar.errors import BursarError, ConversionRefused, LossUnknown
from bursar.guarantees import ZCDP, PureDP
from bursar.jobs.account import account
from bursar.ledger.budget.amounts import shown, written
from bursar.ledger.budget.release import release_of
from bursar.ledger.budget.scope import Scope
from bursar.ledger.commit.view import View
from bursar.ledger.journal.body import LOST
from bursar.ledger.stores._base import Reader
from bursar.ledger.views.odometer import mixture

LIFETIME = "the odometer of the root: a window starts anew, what its people have lost does not"
ODOMETER = (
    "with probability at least 1 − δ the loss never exceeded this, at any time so far: a statement of another kind "
    "than the limit, which holds all the same and may be smaller"
)
HINDSIGHT = "what the same releases would cost if exactly they had been fixed in advance; it admits nothing"


@dataclass(frozen=True)
class LineStatement:
    """One line, in its own measure."""

    name: str
    means: str
    limit: Fraction
    spent: Fraction
    held: Fraction
    left: Fraction
    dead: bool


@dataclass(frozen=True)
class Statement:
    """A scope now."""

    scope: Scope
    lines: tuple[LineStatement, ...]
    released: tuple[tuple[str, int], ...]
    odometer: float | None
    """ε so far, time-uniform at the scope's δ; None where it is not known."""
    hindsight: tuple[float, float] | None
    """ε of what was released, as a composition fixed in advance: lower and upper."""
    worst_block: str | None = None
    """Of a root with blocks: the block whose state this is."""
    lifetime: float | None = None
    """Beside a window, which starts anew: the odometer of its root, which does not."""
    halted: str | None = None
    """Why the ledger accepts nothing; None where it does."""

    def line(self, name: str) -> LineStatement:
        """The line of this name."""
        return next(line for line in self.lines if line.name == name)

    def to_dict(self) -> dict[str, Any]:
        """The statement as JSON has it, exact numbers as text."""
        return {
            "scope": self.scope.name,
            "kind": self.scope.kind,
            "parent": self.scope.row.parent,
            "status": self.scope.row.status,
            "currency": self.scope.row.currency,
            "target": self.scope.target,
            "worst_block": self.worst_block,
            "unit": self.scope.unit,
            "relation": self.scope.relation,
            "lines": [
                {
                    "name": row.name,
                    "limit": written(row.limit),
                    "spent": written(row.spent),
                    "held": written(row.held),
                    "left": written(row.left),
                    "dead": row.dead,
                }
                for row in self.lines
            ],
            "released": [{"what": what, "count": count} for what, count in self.released],
            "odometer": None if self.odometer is None else {"epsilon": self.odometer, "means": ODOMETER},
            "lifetime": None if self.lifetime is None else {"epsilon": self.lifetime, "means": LIFETIME},
            "hindsight": None
            if self.hindsight is None
            else {"epsilon": {"lower": self.hindsight[0], "upper": self.hindsight[1]}, "means": HINDSIGHT},
            "halted": self.halted,
        }

    def __str__(self) -> str:
        target = ", ".join(f"{key} {shown(Fraction(value), up=False)}" for key, value in self.scope.target.items())
        rows = [] if self.halted is None else [f"HALTED, nothing is charged: {self.halted}"]
        rows += [
            f"{self.scope.name} ({self.scope.kind}, {self.scope.row.status}): {target}; {self.scope.row.currency}, "
            f"protects each {self.scope.unit} under {self.scope.relation}"
        ]
        if self.worst_block is not None:
            rows.append(f"  as its worst block is, {self.worst_block}:")
        for line in self.lines:
            state = "given up" if line.dead else f"{shown(line.left, up=False)} left of {shown(line.limit, up=False)}"
            rows.append(
                f"  {line.means}: {state} (spent {shown(line.spent, up=True)}, held {shown(line.held, up=True)})"
            )
        if self.scope.overdrawn is None:
            rows.append("  overdrawn by releases that have no price: it is never raised")
        for name, units in (self.scope.overdrawn or {}).items():
            beyond = shown(units * self.scope.currency.lines[name].unit, up=True)
            rows.append(f"  overdrawn: {beyond} of {name} beyond its limit, which a larger one pays first")
        if self.odometer is not None:
            rows.append(f"  odometer: ε ≤ {self.odometer:.6g} ({ODOMETER})")
        if self.lifetime is not None:
            rows.append(f"  lifetime: ε ≤ {self.lifetime:.6g} ({LIFETIME})")
        if self.hindsight is not None:
            rows.append(f"  hindsight: ε in [{self.hindsight[0]:.6g}, {self.hindsight[1]:.6g}] ({HINDSIGHT})")
        return "\n".join(rows)


class Seen(NamedTuple):
    """What a store tells of a scope."""

    scope: Scope
    lines: tuple[LineStatement, ...]
    released: tuple[tuple[str, int], ...]
    worst_block: str | None = None
    root: Seen | None = None


def seen(view: View[Reader], scope: Scope) -> Seen:
    """A scope as it is now; a root with blocks is as its worst block is."""
    blocks = [view.scope(row.name) for row in view.rows.scopes(scope.name) if row.kind == "block"]
    if scope.kind == "root" and blocks:
        worst = min((_single(view, block) for block in blocks), key=_room)
        return worst._replace(scope=scope, worst_block=worst.scope.name)
    found = _single(view, scope)
    return found._replace(root=seen(view, view.scope(scope.row.root))) if scope.kind == "window" else found


Lost = tuple[float | None, tuple[float, float] | None]
"""An odometer, and a cost with hindsight, each where it is known."""


def statement(found: Seen) -> Statement:
    """With what the releases cost, which takes time: it needs no store for that."""
    root = None if found.root is None else losses(found.root.scope, found.root.released)
    return told(found, losses(found.scope, found.released), root)


def told(found: Seen, lost: Lost, root: Lost | None) -> Statement:
    """With what the releases cost, as somebody has counted it."""
    scope, lines, released, worst, _ = found
    return Statement(scope, lines, released, *lost, worst, None if root is None else root[0])


def losses(scope: Scope, released: Sequence[tuple[str, int]]) -> Lost:
    """What these releases have cost by now, and would have cost if they had been fixed in advance."""
    return _odometer(scope, released), _hindsight(scope, released)


def _room(one: Seen) -> Fraction:
    """The share that is left on the best way of paying: a way has as much as the line of it that has least."""
    shares = {line.name: line.left / line.limit if line.limit else Fraction(0) for line in one.lines}
    return max(min(shares[line] for line in lines) for lines in one.scope.currency.ways.values())


def _single(view: View[Reader], scope: Scope) -> Seen:
    state = view.lines(scope)
    lines = []
    for name, line in scope.currency.lines.items():
        balance = state[name]
        limit, spent, held, left = (
            part * line.unit for part in (balance.limit, balance.spent, balance.held, balance.left)
        )
        lines.append(LineStatement(name, line.means, limit, spent, held, left, balance.dead))
    return Seen(scope, tuple(lines), tuple(view.rows.released(scope.name)))


def _delta(scope: Scope) -> Fraction:
    return Fraction(scope.target.get("delta", "0"))


def _odometer(scope: Scope, released: Sequence[tuple[str, int]]) -> float | None:
    """The smaller of Σε and the mixture boundary; leaks take their part of δ first."""
    if "epsilon" not in scope.target or any(what == LOST for what, _ in released):
        return None
    try:
        charged = [(release_of(text).composition, times) for text, times in released]
    except BursarError:  # a plug-in that is not installed here, say
        return None
    delta = _delta(scope)
    pure: Fraction | None = Fraction(0)
    rho, leak = Fraction(0), Fraction(0)
    for composition, times in charged:
        for mechanism, count in composition.terms:
            try:
                pure = None if pure is None else pure + times * count * Fraction(mechanism.promise(PureDP).epsilon)
            except ConversionRefused:
                pure = None
            try:
                promise = mechanism.promise(ZCDP)
            except ConversionRefused:
                return None if pure is None else _above(pure)
            if promise.delta > 0 and not _leaks_surely(mechanism):
                return None  # an (ε, δ) promise bounds no loss by itself
            rho, leak = rho + times * count * Fraction(promise.rho), leak + times * count * Fraction(promise.delta)
    if delta <= leak:
        return None if pure is None else _above(pure)
    # γ is fixed by what was agreed when the scope was opened
    gamma = Fraction(scope.terms["currency"]["epsilon"]) ** 2 / 64
    boundary = mixture(2 * rho, gamma, delta - leak) if rho else 0.0
    return boundary if pure is None else min(boundary, _above(pure))


def _above(value: Fraction) -> float:
    return float(value) * (1 + 2.0**-50)


def _leaks_surely(mechanism: Any) -> bool:
    """Whether its leak is that of its own losses, so that apart from it the loss is bounded."""
    try:
        return bool(mechanism.losses().attained)
    except LossUnknown:
        return False


def _hindsight(scope: Scope, released: Sequence[tuple[str, int]]) -> tuple[float, float] | None:
    if not released:
        return (0.0, 0.0)
    if any(what == LOST for what, _ in released):
        return None
    try:
        whole = sum((release_of(text).composition * count for text, count in released), Composition())
        report = account(whole, delta=_delta(scope))
    except BursarError:
        return None
    return (report.epsilon.lower, report.epsilon.upper) if report.epsilon.upper < float("inf") else None
