"""Bulk replay on Spark: the decisions of the dictionary, in the files of the embedded replay, from tasks of workers."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from bursar.cohorts import PersonFilter
from bursar.errors import InputError, StorageFailed
from support.cohorts import Charges, by_dictionary, decided


def charges(named: bool) -> Charges:
    """Skewed people in random order, some of them with several rows in one query."""
    chance = random.Random(4)
    rows: Charges = []
    for query in range(50):
        for _ in range(chance.randrange(40)):
            who = min(chance.randrange(30), chance.randrange(30))
            rows.append((query, f"p{who}" if named else who, chance.randrange(4 * 10**6)))
    chance.shuffle(rows)
    return rows


def test_long_texts_of_spark(visits: PersonFilter, spark: Any, tmp_path: Path) -> None:
    """A session that hands texts over with offsets of 64 bits is decided as any other."""
    rows = charges(named=True)
    frame = spark.createDataFrame(rows, "query INT, person STRING, charge BIGINT")
    setting = "spark.sql.execution.arrow.useLargeVarTypes"
    spark.conf.set(setting, "true")
    try:
        found = decided(visits.replay(frame, tmp_path / "out", rule="skip", buckets=3))
    finally:
        spark.conf.unset(setting)
    assert found == by_dictionary(rows, 10**7, "skip")


@pytest.mark.parametrize(("rule", "named"), [("skip", True), ("halt", False)])
def test_spark_replays_as_the_dictionary_does(
    rule: str, named: bool, visits: PersonFilter, spark: Any, tmp_path: Path
) -> None:
    """To the last unit, for names and for numbers, whatever the number of buckets; progress counts buckets alone."""
    rows = charges(named)
    frame = spark.createDataFrame(rows, f"query INT, person {'STRING' if named else 'BIGINT'}, charge BIGINT")
    frame = frame.repartition(3)  # so that people are in several parts of it
    done: list[tuple[int, int]] = []
    target = visits.replay(frame, tmp_path / "out it's", rule=rule, buckets=3, progress=lambda *step: done.append(step))
    found = decided(target)
    assert found == by_dictionary(rows, 10**7, rule)
    assert 0 < sum(admitted for _, admitted in found.values()) < len(found)
    assert {path.name for path in target.iterdir()} <= {f"bucket={number}.parquet" for number in range(3)}
    assert done[-1] == (3, 3)
    assert all(0 <= number <= 3 and every == 3 for number, every in done)
    assert visits.ledger.last("visits") == 1


def test_lists_that_spark_cannot_replay(visits: PersonFilter, spark: Any, tmp_path: Path) -> None:
    """Kinds, missing values, charges below 0 and sums that nobody can count are refused by name, in words of ours."""
    for given, schema in (
        ([(1, 7, 1.5)], "query INT, person INT, charge DOUBLE"),
        ([(1, 7)], "query INT, person INT"),
        ([(1, 7.0, 1)], "query INT, person DOUBLE, charge INT"),
        ([(1, 7, -1), (1, 8, 2)], "query INT, person INT, charge INT"),
        ([(1, 7, None)], "query INT, person INT, charge INT"),
        ([(None, 7, 3)], "query INT, person INT, charge INT"),
        ([(1, 7, 2**62), (1, 7, 2**62)], "query INT, person INT, charge BIGINT"),
    ):
        with pytest.raises(InputError) as refused:
            visits.replay(spark.createDataFrame(given, schema), tmp_path / "out", buckets=2)
        assert refused.value.argument == "charges"
        assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir()
    good = spark.createDataFrame([(1, None, 3)], "query INT, person INT, charge INT")
    with pytest.raises(InputError, match="target"):
        visits.replay(good, tmp_path / "out")
    assert list(visits.replay(good, tmp_path / "nobody", buckets=2).iterdir()) == []


def test_what_a_worker_says_is_left_out(visits: PersonFilter, spark: Any, tmp_path: Path) -> None:
    """A frame that cannot be computed fails with the kind of its error, without the value that it quotes."""
    frame = spark.sql("SELECT 1 AS query, 'ann' AS person, CAST(raise_error('value of ann') AS INT) AS charge")
    with pytest.raises(StorageFailed, match="may show data") as caught:
        visits.replay(frame, tmp_path / "out", buckets=1)
    assert "ann" not in str(caught.value)
    assert not (tmp_path / "out").exists()
