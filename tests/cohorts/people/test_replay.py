"""Bulk replay: the same decisions as one query after another, by a dictionary."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bursar.cohorts import PersonFilter
from bursar.errors import InputError
from support.cohorts import People


@pytest.mark.parametrize("rule", ["skip", "halt"])
@pytest.mark.parametrize("named", [True, False])
def test_every_charge_is_decided_as_by_the_dictionary(
    rule: str, named: bool, visits: PersonFilter, tmp_path: Path
) -> None:
    """Skewed people, unsorted rows, several rows of a person in one query, in buckets: the same are admitted."""
    chance = random.Random(3)
    rows = []
    for query in range(60):
        for _ in range(chance.randrange(40)):
            who = min(chance.randrange(30), chance.randrange(30))
            rows.append((query, f"p{who}" if named else who, chance.randrange(4 * 10**6)))
    chance.shuffle(rows)
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    done: list[tuple[int, int]] = []
    target = visits.replay(
        pa.table(columns, ["query", "person", "charge"]),
        tmp_path / "out",
        rule=rule,
        buckets=5,
        progress=lambda *step: done.append(step),
    )
    found = {
        (row["query"], row["person"]): (row["charge"], row["admitted"])
        for row in pq.read_table(sorted(target.glob("*.parquet"))).to_pylist()
    }
    oracle, expected = People(10**7, rule), {}
    for query in range(60):
        asked: dict[object, int] = {}
        for at, who, charge in rows:
            if at == query:
                asked[who] = asked.get(who, 0) + charge
        admitted = oracle.admit(asked)  # type: ignore[arg-type]
        expected |= {(query, who): (charge, who in admitted) for who, charge in asked.items()}
    assert found == expected
    assert 0 < sum(admitted for _, admitted in found.values()) < len(found)
    assert done == [(number, 5) for number in range(1, 6)]
    assert visits.ledger.last("visits") == 1


def test_bad_replays(visits: PersonFilter, tmp_path: Path) -> None:
    """A folder that exists, a column that is missing, a rule that is none: each is refused by name."""
    table = pa.table({"query": [1], "person": [1], "charge": [1]})
    with pytest.raises(InputError, match="exists"):
        visits.replay(table, tmp_path)
    with pytest.raises(InputError, match="person is missing"):
        visits.replay(table.drop_columns(["person"]), tmp_path / "out")
    with pytest.raises(InputError, match="rule"):
        visits.replay(table, tmp_path / "other", rule="cap")
    assert visits.replay(table.slice(0, 0), tmp_path / "none").is_dir()


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("charge", [6_000_000.4, 4_000_000.4]),
        ("charge", [-1, 10_000_000]),
        ("charge", [None, 5]),
        ("charge", [2**62, 2**62]),
        ("query", [None, 1]),
        ("query", [1.5, 1.4]),
        ("person", [math.nan, math.nan]),
    ],
)
def test_charges_that_are_none(visits: PersonFilter, tmp_path: Path, column: str, values: list[Any]) -> None:
    """What would be rounded down, left out or counted wrong is refused, and nothing half done stays behind."""
    given: dict[str, list[Any]] = {"query": [1, 1], "person": [7, 7], "charge": [5, 5], column: values}
    with pytest.raises(InputError) as refused:
        visits.replay(pa.table(given), tmp_path / "out")
    assert refused.value.argument == "charges"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["it's", "charge=0", "v[1]*"])
def test_names_of_targets_say_nothing(visits: PersonFilter, tmp_path: Path, name: str) -> None:
    """Nothing of a folder's name is taken for a part of a statement, for a column, or for a pattern."""
    table = pa.table({"query": [1, 2], "person": [7, 7], "charge": [6 * 10**6, 6 * 10**6]})
    found = visits.replay(table, tmp_path / name / "out", buckets=1)
    assert pq.ParquetFile(found / "bucket=0.parquet").read()["admitted"].to_pylist() == [True, False]
