"""What `verify` adds up again: snapshots, by the files that they stand for, on both engines."""

from __future__ import annotations

from typing import Any

import pytest

import bursar as b
from bursar.cohorts import PersonFilter
from bursar.cohorts.people.engines import duck
from support.tables import Rows, arrow

WRONG = {
    "less": "SELECT person, CAST(SUM(charge) - 1 AS BIGINT) AS charge, FALSE AS admitted FROM state GROUP BY person",
    "nobody": "SELECT person, charge, FALSE AS admitted FROM state WHERE FALSE",
    "somebody else": "SELECT CAST('0123456789abcdef' AS BLOB) AS person, charge, FALSE AS admitted FROM state",
}
"""Snapshots that a filter must not write."""


def charged(people: PersonFilter, number: int) -> None:
    """Two people, one of whom is charged each time."""
    rows: Rows = [("ann", 1.0), ("bob", 2.0)][: 1 + number % 2]
    people.admit(arrow(rows), b.Gaussian(sigma=200), key=f"q-{number}")


@pytest.mark.parametrize("how", WRONG)
def test_a_snapshot_is_added_up_again(
    how: str, visits: PersonFilter, spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that says something else than its files is found, with its hash in the journal, and no other one is named."""
    for number in range(3):
        charged(visits, number)
    visits.compact()
    charged(visits, 3)
    assert visits.verify() == ((), 0)
    with monkeypatch.context() as changed:
        real = duck.statement
        changed.setattr(
            duck, "statement", lambda name, **given: WRONG[how] if name == "snapshot" else real(name, **given)
        )
        visits.compact()
    charged(visits, 4)
    visits.compact()
    (wrong,) = [row for row in visits._desk.look().rows if row.seq == 7]
    for session in (None, spark):
        (problem,) = visits.verify(spark=session).problems
        assert problem == f"visits: snapshot {wrong.path} of entry 7 is not what the files before it add up to"
