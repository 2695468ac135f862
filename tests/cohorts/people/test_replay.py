"""Bulk replay: the same decisions as one query after another, by a dictionary."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bursar.cohorts import PersonFilter
from bursar.cohorts.people import fold, packed
from bursar.errors import InputError, StorageFailed
from support.cohorts import People


def alike(number: int) -> int:
    """People whose numbers, spread over 64 bits, differ in the last of them only."""
    spread = (number // 8 * 2**40 + number % 8) * pow(0x9E3779B97F4A7C15, -1, 2**64) % 2**64
    return spread - 2**64 * (spread >= 2**63)


NAMES: dict[str, Callable[[int], Any]] = {
    "numbers": lambda number: number - 5,
    "texts": "p{}".format,
    "bytes": lambda number: bytes([number]) * number,
    "alike": alike,
    "far": lambda number: (number - 5) * 2**24,
}


@pytest.mark.parametrize("rule", ["skip", "halt"])
@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(("people", "shuffled"), [(30, True), (200, False)])
def test_every_charge_is_decided_as_by_the_dictionary(
    rule: str, kind: str, people: int, shuffled: bool, visits: PersonFilter, tmp_path: Path
) -> None:
    """Skewed people, in any order, several rows of a person in one query, in buckets: the same are admitted."""
    chance = random.Random(3)
    rows: list[tuple[int, Any, int]] = []
    for query in range(60):
        for _ in range(chance.randrange(40 if people < 64 else 240)):
            who = min(chance.randrange(people), chance.randrange(people))
            rows.append((query, NAMES[kind](who), chance.randrange(4 * 10**6)))
    if shuffled:
        chance.shuffle(rows)
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    done: list[tuple[int, int]] = []
    target = visits.replay(
        pa.table(columns, ["query", "person", "charge"]),
        tmp_path / "out",
        rule=rule,
        buckets=5 if shuffled else 1,
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
    parts = len(done)
    assert done == [(number, parts) for number in range(1, parts + 1)]
    assert visits.ledger.last("visits") == 1


def test_a_person_with_many_charges_costs_what_others_cost(visits: PersonFilter, tmp_path: Path) -> None:
    """One person with half of all charges is counted alone: in the end as the dictionary says, by both rules."""
    count = 40_000
    persons = [0 if number % 2 else number for number in range(count)]
    table = pa.table({"query": range(count), "person": persons, "charge": [number % 1997 for number in range(count)]})
    for rule in ("skip", "halt"):
        oracle = People(10**7, rule)
        expected = [bool(oracle.admit({str(who): at % 1997})) for at, who in enumerate(persons)]
        found = pq.read_table(visits.replay(table, tmp_path / rule, rule=rule, buckets=2)).sort_by("query")
        assert found["admitted"].to_pylist() == expected
        assert not all(expected)


def test_kinds_of_persons(visits: PersonFilter, tmp_path: Path) -> None:
    """Numbers of every size and identifiers keep their kind, and nobody is taken for somebody else."""
    given = duckdb.from_arrow(
        pa.table({"query": [1, 1, 2, 2], "person": [1, 2, 1, 2], "charge": [6 * 10**6, 1, 6 * 10**6, 1]})
    )
    for place, kind in enumerate(("UTINYINT", "INTEGER", "UBIGINT", "UUID")):
        number = "printf('00000000-0000-4000-8000-%012d', person)" if kind == "UUID" else "person"
        asked = given.project(f"query, CAST({number} AS {kind}) AS person, charge")
        found = pq.read_table(visits.replay(asked, tmp_path / str(place), buckets=3))
        rows = sorted((str(row["person"])[-1:], row["query"], row["admitted"]) for row in found.to_pylist())
        assert rows == [("1", 1, True), ("1", 2, False), ("2", 1, True), ("2", 2, True)]


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


def test_files_of_different_kinds(visits: PersonFilter, tmp_path: Path) -> None:
    """By the kinds of the first file a charge in another one would be rounded down: such a folder is refused."""
    (tmp_path / "in").mkdir()
    for place, charge in enumerate([1, 9_400_000.4]):
        table = pa.table({"query": [place], "person": [1], "charge": [charge]})
        pq.write_table(table, tmp_path / "in" / f"{place}.parquet")
    with pytest.raises(InputError, match="keep charge in different kinds"):
        visits.replay(tmp_path / "in", tmp_path / "out")


@pytest.mark.parametrize("query", [2**63 - 1, -(2**63)])
def test_queries_at_the_end_of_all_numbers(query: int, visits: PersonFilter, tmp_path: Path) -> None:
    """The first and the last whole number that there is keep their names in what a replay writes."""
    table = pa.table({"query": [query] * 9, "person": list(range(9)), "charge": [5] * 9})
    found = pq.read_table(visits.replay(table, tmp_path / "out"))
    assert found["query"].to_pylist() == [query] * 9


def test_nobody_takes_half_a_replay_for_all_of_it(visits: PersonFilter, tmp_path: Path) -> None:
    """While it is written there is no target, so neither where its process dies; what lies beside it is private."""
    seen: list[tuple[bool, int]] = []
    table = pa.table({"query": [1] * 9, "person": list(range(9)), "charge": [5] * 9})

    def look(done: int, _: int) -> None:
        (beside,) = tmp_path.glob(".*.replay")
        seen.append(((tmp_path / "out").exists(), beside.stat().st_mode & 0o077))

    visits.replay(table, tmp_path / "out", buckets=2, progress=look)
    assert seen == [(False, 0)] * 2
    assert not list(tmp_path.glob(".*.replay"))


def test_the_slower_of_two_replays_takes_nothing_away(visits: PersonFilter, tmp_path: Path) -> None:
    """Two with one target: who comes second is refused, and what the first has written stays."""
    table = pa.table({"query": [1], "person": [1], "charge": [5]})

    def meanwhile(*_: int) -> None:
        visits.replay(table, tmp_path / "out")

    with pytest.raises(InputError, match="exists"):
        visits.replay(table, tmp_path / "out", progress=meanwhile)
    assert pq.read_table(tmp_path / "out").num_rows == 1
    assert not list(tmp_path.glob(".*.replay"))


@pytest.mark.parametrize(("person", "place", "name"), [("Ann", fold, "together"), (7, packed, "changes")])
def test_a_lack_of_memory_counts_nothing(
    person: Any, place: Any, name: str, visits: PersonFilter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numpy says for how many rows there was no room: that is left out, and nothing half done stays behind."""

    def none_left(*_: Any) -> None:
        raise MemoryError("Unable to allocate 1.07 KiB for an array with shape (137,)")

    monkeypatch.setattr(place, name, none_left)
    with pytest.raises(StorageFailed, match="may show data") as caught:
        visits.replay(pa.table({"query": [1], "person": [person], "charge": [5]}), tmp_path / "out")
    assert "137" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["it's", "charge=0", "v[1]*"])
def test_names_of_targets_say_nothing(visits: PersonFilter, tmp_path: Path, name: str) -> None:
    """Nothing of a folder's name is taken for a part of a statement, for a column, or for a pattern."""
    table = pa.table({"query": [1, 2], "person": [7, 7], "charge": [6 * 10**6, 6 * 10**6]})
    found = visits.replay(table, tmp_path / name / "out", buckets=1)
    assert pq.ParquetFile(found / "bucket=0.parquet").read()["admitted"].to_pylist() == [True, False]
