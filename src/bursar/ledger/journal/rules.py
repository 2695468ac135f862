"""What an entry of a kind may do to the lines of scopes: rules that need no price, and that every journal keeps."""

from __future__ import annotations

from collections.abc import Iterator

from bursar.ledger.journal.body import Body, Effect
from bursar.ledger.journal.rows import Balance, Split

NOTHING = Balance(0, 0, 0)
"""What stands for a line before its scope was opened."""
_VERBS: dict[str, set[str | None]] = {
    **{verb: {verb} for verb in ("open", "spend", "reserve", "draw", "correct", "import", "limit", "status", "charge")},
    **{verb: {verb} for verb in ("share", "admit")},
    "compact": {"admit"},
    "close": {"close", None},
    "expire": {None},
    "restore": {None},
}
"""By the kind of an entry, the verb that asked for it; None where nobody did."""
_GIVES_BACK = ("close", "expire", "limit")
_RELIMITS = ("open", "limit")


def broken(kind: str, body: Body) -> Iterator[str]:
    """What is wrong with an entry, apart from its price."""
    if kind != "refuse" and body.asked().get("verb") not in _VERBS.get(kind, ()):
        yield f"is of the kind {kind}, which its request is not"
    if kind == "refuse" and body.effect:
        yield "refuses, and changes something"
    if body.overdrawn and kind != "correct":
        yield "overdraws a scope, which only a correction may"
    lines = [(one.scope, one.line) for one in body.effect]
    if len(set(lines)) < len(lines):
        yield "names a line twice"
    for one in body.effect:
        for wrong in _moves(kind, one):
            yield f"{wrong} {one.scope}.{one.line}"


def _moves(kind: str, one: Effect) -> Iterator[str]:
    before, after = one.before, one.after
    each = () if after.splits is None else after.splits.each
    if min(after.spent, after.held, after.left, *(number for split in each for number in split)) < 0:
        yield "exceeds the limit of"
    if kind not in _RELIMITS and limits_of(before) != limits_of(after):
        yield "changes the limit of"
    if kind == "open":
        return
    taken, now = before.spent + before.held, after.spent + after.held
    if after.spent < before.spent or (now < taken and kind not in _GIVES_BACK):
        yield "gives back what was charged to"
    was = () if before.splits is None else before.splits.each
    if any(_grows(kind, *two) for two in zip(was, each, strict=False)):
        yield "gives back what was charged to a split of"


def limits_of(balance: Balance) -> tuple[object, ...]:
    """What a line may hold at most: what only an opening and a new limit decide."""
    splits = balance.splits
    return (balance.limit, None if splits is None else (*splits[:3], len(splits.each)))


def _grows(kind: str, before: Split, after: Split) -> bool:
    """Whether a split has more than before, or lives again."""
    if (after.mode < before.mode and after.mode) or (after.mode and not before.mode):
        return True
    if kind == "limit":
        return False
    total = after.pure + after.held > before.pure + before.held
    return after.gaussian > before.gaussian or total or (after.pure > before.pure and kind not in _GIVES_BACK)
