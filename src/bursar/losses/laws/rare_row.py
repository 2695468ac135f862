"""A table with one loss that is far larger than all others and all but never seen: two tables on either side of it.

Of its outcome (p, q) a part (q·e^l, q) loses no more than another outcome does, whose loss is l. Where the rest, with
(p − q·e^l, 0), is told apart from it the pair can be told apart no worse, and where the whole outcome is taken together
with the other one no better: either table becomes the other by forgetting (proofs/likeness.md §6).
"""

from __future__ import annotations

from flint import arb

from bursar.losses.laws.table_rows import Row
from bursar.numerics.balls import maximum

_RARE = arb(10) ** -20  # of the mass: less than a δ that anybody minds
_FAR = 100  # times all other losses

Rows = tuple[Row, ...]


def around_rare(rows: Rows) -> tuple[Rows, Rows] | None:
    """The smaller and the larger table; None where no loss is so rare and so large."""
    finite = [row for row in rows if row.loss is not None and row.p > 0]
    if len(finite) < 2:
        return None
    *others, last = sorted(finite, key=lambda row: float(row.loss) if row.loss is not None else 0.0)
    if last.loss is None or not last.p < _RARE:
        return None
    most = maximum(*(abs(row.loss) for row in others if row.loss is not None))
    if not last.loss > _FAR * most:
        return None
    near = max(others, key=lambda row: float(row.p))
    if near.loss is None or not (near.p > _RARE and near.q > _RARE):
        return None
    rest = tuple(row for row in rows if row is not last and row is not near)
    loss = near.loss + (last.p / near.p).log1p() - (last.q / near.q).log1p()
    together = Row(near.p + last.p, near.q + last.q, loss)
    like, seen = (
        Row(near.p + last.q * near.loss.exp(), near.q + last.q, near.loss),
        -last.p * (near.loss - last.loss).expm1(),
    )
    return (*rest, together), (*rest, like, Row(seen, arb(0), None))
