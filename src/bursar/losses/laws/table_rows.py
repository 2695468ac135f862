"""The outcomes of a table of losses, and what may be wrong with one."""

from __future__ import annotations

from typing import NamedTuple

from flint import arb

from bursar.numerics.balls import Ball, ball
from bursar.numerics.real import read


class Row(NamedTuple):
    """One outcome: its probabilities under P and Q, and ln(P/Q) where both are positive."""

    p: Ball
    q: Ball
    loss: Ball | None


def read_row(row: Row) -> Row:
    """The outcome in balls: rows of your own may hold numbers of any kind."""
    if all(part is None or isinstance(part, arb) for part in row):
        return row
    p, q, loss = row
    return Row(_number(p), _number(q), None if loss is None else _number(loss))


def _number(given: object) -> Ball:
    return given if isinstance(given, arb) else ball(read(given, "rows"))


def problem_of(row: Row) -> str:
    """What is wrong with an outcome."""
    p, q, loss = row
    if p < 0 or q < 0:
        return f"probabilities must be at least 0, not {float(p)!r} and {float(q)!r}"
    if loss is None:
        return "both probabilities are positive, so its loss is ln(p/q), not None" if p > 0 and q > 0 else ""
    gap = p - q * loss.exp()
    if gap < 0 or gap > 0:
        return f"its loss is ln(p/q) for p = {float(p)!r} and q = {float(q)!r}, not {float(loss)!r}"
    return ""


_RARE = -10  # of ln(q·e^l): below, the two parts of l + ln(q + (1−q)e^{−l}) would cancel


def sampled_loss(loss: Ball, rate: Ball) -> Ball:
    """ln(1 − q + q·e^l) of a finite l, with all digits on either side."""
    if loss > 1 and not loss + rate.log() < _RARE:
        return loss + (rate + (1 - rate) * (-loss).exp()).log()
    return (rate * loss.expm1()).log1p()
