"""Spark decides as DuckDB does, on the same ledger, in turns with it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bursar as b
from bursar.cohorts import PersonFilter
from bursar.cohorts.people import share
from bursar.cohorts.people.engines.spark import SparkEngine
from bursar.cohorts.people.keys import pads_of, person_of
from bursar.errors import InputError, StorageFailed
from support.person_contract import decided_alike, read
from support.tables import SECRET, Rows, arrow
from support.where import SOURCE, SPARK_CLUSTER, TESTS
from support.workers import interpreter, package

Frames = Callable[[Rows], Any]


@pytest.mark.parametrize("rule", ["skip", "halt"])
def test_both_engines_in_turns(rule: str, visits: PersonFilter, sparkle: Frames) -> None:
    """The same people and the same values, to the last unit, whichever engine comes next."""
    made = PersonFilter.create(
        visits.ledger,
        "turns",
        folder=visits.folder.path / "turns",
        person="user",
        rho="1/200",
        secret=SECRET,
        rule=rule,
    )
    decided_alike(made, [sparkle, arrow], queries=8, compacted=(3,))


def test_a_key_is_answered_by_either(visits: PersonFilter, sparkle: Frames) -> None:
    """What one engine recorded the other gives again."""
    rows: Rows = [("ann", 1.0), ("bob", 2.0)]
    visits.admit(sparkle(rows), b.Gaussian(sigma=8), key="q-1")
    assert read(visits.admit(arrow([*rows, ("eve", 1.0)]), b.Gaussian(sigma=8), key="q-1")) == rows
    visits.admit(arrow(rows[:1]), b.Gaussian(sigma=50), key="q-2")
    assert read(visits.admit(sparkle(rows), b.Gaussian(sigma=50), key="q-2")) == rows[:1]


@pytest.mark.parametrize("setting", ["ignoreMissingFiles", "ignoreCorruptFiles"])
def test_a_session_that_passes_over_files_forgets_no_charge(
    setting: str, visits: PersonFilter, spark: Any, sparkle: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a task cannot read is not a state in which nobody was charged, whatever the session is set to."""
    everything = b.Declared(b.ZCDP(rho="1/100"))
    visits.admit(arrow([("bob", 1.0)]), everything, key="q-0")
    real = SparkEngine.read

    def vanishing(engine: SparkEngine, files: list[str]) -> Any:
        frame = real(engine, files)
        for file in map(Path, files):
            file.rename(file.with_suffix(".away"))
            if setting == "ignoreCorruptFiles":
                file.write_bytes(b"PAR1 and no more")
        return frame

    monkeypatch.setattr(SparkEngine, "read", vanishing)
    spark.conf.set(f"spark.sql.files.{setting}", "true")
    try:
        with pytest.raises(StorageFailed):
            visits.admit(sparkle([("bob", 1.0)]), everything, key="q-1").collect()
    finally:
        spark.conf.unset(f"spark.sql.files.{setting}")
        for file in visits.folder.path.rglob("*.away"):
            file.rename(file.with_suffix(".parquet"))
    assert visits.verify().ok


@pytest.mark.parametrize("asked", [{"what": b.Gaussian(sigma=50)}, {"sums": "value", "norm": 1, "sigma": 50}])
def test_what_changes_after_the_commit_is_not_believed(
    asked: dict[str, Any], visits: PersonFilter, sparkle: Frames
) -> None:
    """A frame is computed later than it is handed out: a file that admits more people by then is refused, and one that
    admits nobody or is no table any more; a frame that was computed before stays what it was.
    """
    rows: Rows = [("ann", 1.0), ("bob", 1.0)]
    visits.admit(arrow(rows), **asked, key="both")
    (other,) = visits.folder.path.rglob("*.parquet")
    pq.write_table(pq.read_table(other).slice(0, 0), visits.folder.path / "nobody")
    frame = visits.admit(sparkle(rows[:1]), **asked, key="ann")
    again = visits.admit(sparkle(rows), **asked, key="ann")
    assert read(frame) == read(again) == rows[:1]
    (file,) = set(visits.folder.path.rglob("*.parquet")) - {other}
    whole = file.read_bytes()
    for sums in file.parent.glob(".*.crc"):  # by which Spark would find out by itself, of what it wrote
        sums.unlink()
    nobody = (visits.folder.path / "nobody").read_bytes()
    for content in (other.read_bytes(), nobody, whole[:-1] + b"x", whole[:99]):
        file.write_bytes(content)
        with pytest.raises(Exception, match="not what was committed"):
            again.select("*").collect()
        assert read(again) == rows[:1]
    file.write_bytes(whole)
    assert read(again.select("*")) == rows[:1]


def test_a_delta_of_which_the_driver_sees_nothing(
    visits: PersonFilter, sparkle: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers that write to a disk of their own: refused before anything is committed, and the filter goes on."""
    with monkeypatch.context() as changed:
        changed.setattr(SparkEngine, "write", lambda *_: None)
        with pytest.raises(StorageFailed, match="do all workers see this folder"):
            visits.admit(sparkle([("ann", 1.0)]), b.Gaussian(sigma=50), key="q-1")
    assert read(visits.admit(sparkle([("ann", 1.0)]), b.Gaussian(sigma=50), key="q-1")) == [("ann", 1.0)]


def test_files_of_both_engines_say_nothing(visits: PersonFilter, sparkle: Frames) -> None:
    """Files that Spark writes have one size too, whoever is in them."""
    for number, people in enumerate((1, 900)):
        rows: Rows = [(f"person {one}", 1.0) for one in range(people)]
        visits.admit(sparkle(rows), b.Gaussian(sigma=50), key=f"q-{number}")
    paths = list(visits.folder.path.rglob("*.parquet"))
    assert len({path.stat().st_size for path in paths}) == 1
    after_sizes = [path.read_bytes()[4 + 10] for path in paths]  # in the head of the first page
    assert after_sizes == [0x2C, 0x2C]  # no checksum, whose length would follow what is in it


def test_plans_do_not_show_the_secret(
    visits: PersonFilter, sparkle: Frames, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither the secret nor its pads are in any plan."""
    visits.admit(sparkle([("ann", 1.0)]), b.Gaussian(sigma=50), key="q").explain(True)
    shown = capsys.readouterr().out.lower()
    assert "inner_pad" in shown
    for part in (SECRET, *pads_of(SECRET)):
        assert part.hex()[:16] not in shown
        assert str(list(part))[1:20] not in shown


def test_bad_spark_tables(visits: PersonFilter, spark: Any, sparkle: Frames) -> None:
    """Columns that are missing or of another kind are refused by name, and an engine that cannot read a table."""
    with pytest.raises(InputError, match="user"):
        visits.admit(spark.createDataFrame([(1.5,)], "user DOUBLE"), b.Gaussian(sigma=50), key="q")
    with pytest.raises(InputError, match="other"):
        visits.admit(sparkle([("ann", 1.0)]), sums="other", norm=1, sigma=5, key="q")
    with pytest.raises(InputError, match="engine"):
        visits.admit(sparkle([("ann", 1.0)]), b.Gaussian(sigma=50), key="q", engine="duckdb")
    assert visits.ledger.last("visits") == 1


@pytest.mark.ci
def test_on_a_cluster_of_two_workers(tmp_path: Path) -> None:
    """Statements and the secret reach workers that are processes of their own and have no bursar; the tasks of a replay
    reach them with the package, sent as a file.
    """
    given = [interpreter(tmp_path / "workers"), package(tmp_path / "wheel")]
    done = subprocess.run(
        [sys.executable, SPARK_CLUSTER, tmp_path, *given, SOURCE.parent, TESTS],
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )
    admitted = "".join(f"p{number}" for number in range(10, 40))
    assert done.stdout.split() == ["nowhere", admitted, "0", "True", "True", "bursar.zip", *("120", "80") * 2]


def test_spark_takes_names_as_they_are(visits: PersonFilter, spark: Any) -> None:
    """Of folders, with spaces, letters and signs of patterns; of people, bytes that are no text too."""
    folder = visits.folder.path / "a b é" / "admitted=true" / "v[1]{2}"
    made = PersonFilter.create(
        visits.ledger, "names", folder=folder, person="user", rho="1/100", secret=SECRET, rule="halt"
    )
    table = spark.sql("SELECT CAST(bytes AS STRING) AS user FROM VALUES (X'ff'), (X'fe'), (X'61') AS given(bytes)")
    half = b.Declared(b.ZCDP(rho="1/200"))
    assert [made.admit(table, half, key=f"q-{number}").count() for number in range(3)] == [3, 3, 0]
    assert [path.name for path in visits.folder.path.iterdir()] == ["a b é"]
    assert made.admit(arrow([("a", 1.0)]), half, key="q-3").num_rows == 0
    assert made.verify().ok


def test_fillers_of_spark_are_never_the_same(visits: PersonFilter, sparkle: Frames) -> None:
    """Of two files of the same people only these people are in both."""
    for number in range(2):
        visits.admit(sparkle([("ann", 1.0)]), b.Gaussian(sigma=50), key=f"q-{number}")
    first, second = (set(pq.read_table(path)["person"].to_pylist()) for path in visits.folder.path.rglob("*.parquet"))
    assert first & second == {person_of(SECRET, "ann")}
    assert len(first) == len(second) == 1024


def test_columns_have_one_name(visits: PersonFilter, spark: Any) -> None:
    """A column a.b is not the part b of a column a: both engines charge the same person."""
    made = PersonFilter.create(
        visits.ledger, "parts", folder=visits.folder.path / "parts", person="a.b", rho="1/100", secret=SECRET
    )
    everything = b.Declared(b.ZCDP(rho="1/100"))
    table = spark.sql("SELECT named_struct('b', 'ann') AS a, 'bob' AS `a.b`")
    assert made.admit(table, everything, key="q-1").count() == 1
    found = made.admit(pa.table({"a.b": ["ann", "bob"]}), everything, key="q-2")
    assert found["a.b"].to_pylist() == ["ann"]


def test_spark_adds_up_too(visits: PersonFilter, spark: Any, sparkle: Frames, monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots, checks and counts of a Spark session are DuckDB's, and what is no session is refused by name."""
    monkeypatch.setattr(share, "discrete_gaussian", lambda variance: 0)
    folder = visits.folder.path / "sums"
    terms: dict[str, Any] = {"person": "user", "rho": "1/100", "reserve": "1/300", "secret": SECRET}
    made = PersonFilter.create(visits.ledger, "sums", folder=folder, **terms)
    rows: Rows = [("ann", 1.0), ("bob", 1.0), ("eve", 1.0)]
    half = b.Declared(b.ZCDP(rho="33/10000"))
    made.admit(arrow(rows), half, key="q-1")
    made.admit(sparkle(rows[:2]), half, key="q-2")
    made.compact(spark=spark)
    assert made.verify(spark=spark) == ((), 0)
    found = [made.exhausted_share(half, sigma=40, key=f"h-{at}", spark=one) for at, one in enumerate((spark, None))]
    assert [tuple(one)[:2] for one in found] == [(2, 1), (2, 1)]
    assert read(made.admit(arrow(rows), half, key="q-3")) == rows[2:]
    for wrong in ("local[1]", sparkle(rows)):
        with pytest.raises(InputError, match="spark"):
            made.compact(spark=wrong)
