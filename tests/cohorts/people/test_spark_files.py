"""Bulk replay of Parquet files by Spark: workers read them by themselves, and decide as the dictionary does."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bursar.cohorts import PersonFilter
from bursar.cohorts.people import spark_files
from bursar.errors import InputError, StorageFailed
from support.cohorts import by_dictionary, decided

Rows = list[tuple[Any, Any, Any]]


def some(chance: random.Random, who: Callable[[int], Any] = lambda number: number - 7) -> Rows:
    """Skewed people in random order, some of them with several rows in one query."""
    rows = [
        (query - 20, who(min(chance.randrange(40), chance.randrange(40))), chance.randrange(4 * 10**6))
        for query in range(50)
        for _ in range(chance.randrange(40))
    ]
    chance.shuffle(rows)
    return rows


def written(rows: Rows, folder: Path, files: int = 1, kind: Any = None, **options: Any) -> Path:
    """A list of charges as Parquet files with several row groups each, among other columns."""
    folder.mkdir()
    for number in range(files):
        query, person, charge = zip(*rows[number::files], strict=True)
        columns = {"other": list(map(str, query)), "charge": charge, "person": pa.array(person, kind), "query": query}
        pq.write_table(pa.table(columns), folder / f"{number}.parquet", row_group_size=200, **options)
    return folder


def never(*_: Any) -> None:
    """What must not be called."""
    raise AssertionError("these files need no frame")


@pytest.mark.parametrize(("rule", "files", "buckets"), [("skip", 3, 5), ("halt", 1, None)])
def test_files_are_decided_as_by_the_dictionary(
    rule: str,
    files: int,
    buckets: int | None,
    visits: PersonFilter,
    spark: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To the last unit, people in several files and row groups, by tasks that Spark gives no row to."""
    monkeypatch.setattr(spark_files, "read_whole", never)
    rows, done = some(random.Random(5)), list[tuple[int, int]]()
    charges = written(rows, tmp_path / "v[1] é", files)
    target = visits.replay(
        charges,
        tmp_path / "out it's",
        rule=rule,
        buckets=buckets,
        progress=lambda *step: done.append(step),
        spark=spark,
    )
    found = decided(target)
    assert found == by_dictionary(rows, 10**7, rule)
    assert 0 < sum(admitted for _, admitted in found.values()) < len(found)
    parts = buckets or 1
    assert {path.name for path in target.iterdir()} <= {f"bucket={number}.parquet" for number in range(parts)}
    assert done[-1] == (parts, parts)
    assert visits.ledger.last("visits") == 1


@pytest.mark.parametrize("kind", ["int8", "uint16", "uint64"])
def test_kinds_of_persons_in_files(kind: str, visits: PersonFilter, spark: Any, tmp_path: Path) -> None:
    """Persons keep their kind, at both ends of it."""
    least, most = {"int8": (-128, 127), "uint16": (0, 2**16 - 1), "uint64": (2**64 - 9, 2**64 - 1)}[kind]
    rows = [(query, who, 6 * 10**6) for query in range(2) for who in (least, most)]
    charges = written(rows, tmp_path / "in", kind=pa.type_for_alias(kind))
    target = visits.replay(charges / "0.parquet", tmp_path / "out", spark=spark)
    assert decided(target) == by_dictionary(rows, 10**7, "skip")
    assert str(pq.read_schema(next(target.iterdir())).field("person").type) == kind


@pytest.mark.parametrize("how", ["texts", "no statistics", "gaps", "65 bits"])
def test_what_files_do_not_say_goes_through_a_frame(
    how: str, visits: PersonFilter, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists that are no whole numbers, or that say nothing of themselves: decided the same, by Spark's own reader."""
    used, real = list[int](), spark_files.read_whole
    monkeypatch.setattr(spark_files, "read_whole", lambda *given: (used.append(1), real(*given))[1])
    who = {"texts": "p{}".format, "65 bits": lambda number: (number - 20) * 2**57}.get(how, lambda number: number)
    rows = some(random.Random(6), who)
    gaps: Rows = [(1, None, 5), (None, None, -5)] if how == "gaps" else []
    charges = written(rows + gaps, tmp_path / "in", 2, write_statistics=how != "no statistics")
    target = visits.replay(charges, tmp_path / "out", buckets=3, spark=spark)
    assert used == [1]
    assert decided(target) == by_dictionary(rows, 10**7, "skip")


def test_files_that_are_no_charges(visits: PersonFilter, spark: Any, tmp_path: Path) -> None:
    """Charges below 0, gaps, columns of different kinds, twice or not at all, and what is no file: refused by name."""
    good: Rows = [(1, 7, 3)]
    lists: dict[str, Any] = {
        "below": written([(1, 7, -1)], tmp_path / "below"),
        "gaps": written([(1, 7, None), (1, 8, 2)], tmp_path / "gaps"),
        "many": written([(1, 7, 2**62), (1, 7, 2**62)], tmp_path / "many"),
        "text": tmp_path / "charges.csv",
        "nothing": tmp_path / "nothing.parquet",
        "frame": spark.createDataFrame(good, "query INT, person INT, charge INT"),
    }
    lists["text"].write_text("query,person,charge\n1,7,3\n", encoding="utf-8")
    mixed = lists["mixed"] = written(good, tmp_path / "mixed")
    pq.write_table(pa.table({"query": [1], "person": [7], "charge": [9.4]}), mixed / "1.parquet")
    twice = pa.table([pa.array([number]) for number in range(4)], ["query", "person", "charge", "charge"])
    lists["twice"] = tmp_path / "twice.parquet"
    pq.write_table(twice, lists["twice"])
    for name, charges in lists.items():
        with pytest.raises(InputError) as refused:
            visits.replay(charges, tmp_path / "out", spark=spark)
        assert refused.value.argument == "charges", name
        assert ("different kinds" in str(refused.value)) == (name == "mixed")
        assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="spark must be a Spark session"):
        visits.replay(written(good, tmp_path / "good"), tmp_path / "out", spark="local[1]")
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match="target"):
        visits.replay(tmp_path / "good", tmp_path / "out", spark=spark)


@pytest.mark.parametrize("how", ["fewer", "larger", "torn", "gone"])
def test_files_that_change_while_they_are_read(
    how: str, visits: PersonFilter, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are no longer there, numbers that nobody told of, half a file, none: no replay, and nothing of one."""
    (file,) = written([(1, who, 5) for who in range(400)], tmp_path / "in").iterdir()
    real = spark_files.run

    def meanwhile(*given: Any) -> Any:
        if how == "fewer":
            file.unlink()
            rows = [(1, who, 5) for who in range(395)]
            file.write_bytes((written(rows, tmp_path / "other") / "0.parquet").read_bytes())
        elif how == "larger":
            rows = [(1, who * 7, 5) for who in range(400)]
            file.write_bytes((written(rows, tmp_path / "other") / "0.parquet").read_bytes())
        elif how == "torn":
            file.write_bytes(file.read_bytes()[:-100])
        else:
            file.unlink()
        monkeypatch.setattr(spark_files, "run", real)
        return real(*given)

    monkeypatch.setattr(spark_files, "run", meanwhile)
    with pytest.raises((InputError, StorageFailed), match="changed while" if how in ("fewer", "larger") else "failed"):
        visits.replay(tmp_path / "in", tmp_path / "out", spark=spark)
    assert not list(tmp_path.glob("out"))
    assert not list(tmp_path.glob(".*.replay"))
