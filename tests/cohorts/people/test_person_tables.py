"""Where tables and files come from must not change who a person is, what they were charged, or who is released."""

from __future__ import annotations

import os
import random
import secrets
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

import bursar as b
from bursar.cohorts import PersonFilter
from bursar.cohorts.people import desk, files
from bursar.errors import InputError, KeyReused, StorageFailed
from bursar.ledger.ledger import Ledger
from support.tables import SECRET, arrow

ALL = b.Declared(b.ZCDP(rho="1/100"))


def test_a_table_of_the_user_decides_nothing(visits: PersonFilter) -> None:
    """In the database of a relation there may be tables of any name: who is released follows from the delta alone."""
    database = duckdb.connect()
    database.execute("CREATE TABLE rows AS SELECT 'ann' AS user")
    for name in ("admitted", "delta", "charges", "decided", "given_rows"):
        database.execute(f"CREATE TABLE {name} AS SELECT 'ann' AS id, 'ann' AS user, 7 AS cells")
    for source in ("rows", "given_rows"):
        visits.admit(database.sql(f"SELECT user FROM {source}"), ALL, key=f"first {source}")
        assert visits.admit(database.sql(f"SELECT user FROM {source}"), ALL, key=f"second {source}").fetchall() == []
    database.execute("CREATE VIEW Bursar_Admitted AS SELECT 'ann' AS id")
    with pytest.raises(InputError, match="rename it"):
        visits.admit(database.sql("SELECT user FROM rows"), ALL, key="third")


@pytest.mark.parametrize("collation", ["nocase", "noaccent"])
def test_people_are_told_apart_byte_for_byte(visits: PersonFilter, collation: str) -> None:
    """By a collation of a relation's database somebody whose budget is used up may be the same as somebody else."""
    database = duckdb.connect()
    database.execute(f"CREATE TABLE rows(user VARCHAR COLLATE {collation})")
    database.execute("INSERT INTO rows VALUES ('zoe'), ('ZOE'), ('zoé')")
    visits.admit(arrow([("zoe", 1.0)]), ALL, key="q-1")
    found = visits.admit(database.sql("FROM rows"), ALL, key="q-2").fetchall()
    assert sorted(found) == [("ZOE",), ("zoé",)]


@pytest.mark.parametrize("id", ["0x10", "-0", "7 "])
def test_ids_of_a_file_are_texts(visits: PersonFilter, tmp_path: Path, id: str) -> None:
    """An id of a CSV file is the same person whether or not all others look like numbers."""
    for name, other in (("numbers", "8"), ("texts", "eve")):
        (tmp_path / f"{name}.csv").write_text(f"user,value\n{id},1\n{other},1\n")
    assert len(visits.admit(tmp_path / "numbers.csv", ALL, key="q-1").fetchall()) == 2
    assert visits.admit(tmp_path / "texts.csv", ALL, key="q-2").fetchall() == [("eve", 1)]


@pytest.mark.parametrize("name", ["admitted=true", "charge=0", "charge=10000000", "a b'c", "v[1]{2}*?", "né%20e"])
def test_names_of_folders_say_nothing(embedded: Ledger, tmp_path: Path, name: str) -> None:
    """Nothing of a folder's name is taken for a column of what lies in it, or for a pattern."""
    (tmp_path / "v1").mkdir()
    made = PersonFilter.create(
        embedded, "visits", folder=tmp_path / name / "x", person="user", rho="1/100", secret=SECRET, rule="halt"
    )
    admitted = [made.admit(arrow([("ann", 1.0)]), ALL, key=f"q-{number}").num_rows for number in range(3)]
    assert admitted == [1, 0, 0]
    made.compact()
    assert made.admit(arrow([("ann", 1.0)]), b.Declared(b.ZCDP(rho="1e-9")), key="q-4").num_rows == 0
    assert made.verify().ok


def test_a_change_with_its_old_date_is_seen(visits: PersonFilter, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is read again when it was written to, even where its size and its date were put back."""
    for number in range(2):
        visits.admit(arrow([("ann", 1.0)]), b.Gaussian(sigma=50), key=f"q-{number}")
    monkeypatch.setattr(files, "_GRAIN", -(10**18))  # as if they were old
    visits.verify()
    assert len(visits.folder._known) == 2
    path = min(visits.folder.path.rglob("*.parquet"))
    before, whole = path.stat(), path.read_bytes()
    path.write_bytes(whole[:200] + bytes([whole[200] ^ 1]) + whole[201:])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(StorageFailed, match="is not what was committed"):
        visits.admit(arrow([("ann", 1.0)]), b.Gaussian(sigma=50), key="q-2")
    assert not visits.verify().ok


def test_young_files_are_read_again(visits: PersonFilter, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where dates are coarse, a change right after the first look has no date of its own: only old files are known."""
    visits.admit(arrow([("ann", 1.0)]), b.Gaussian(sigma=50), key="q-1")
    (path,) = visits.folder.path.rglob("*.parquet")
    found, whole = path.stat(), path.read_bytes()
    assert visits.verify().ok
    path.write_bytes(whole[:200] + bytes([whole[200] ^ 1]) + whole[201:])
    looked = os.stat  # as if all of it had been in one tick of the clock
    monkeypatch.setattr(os, "stat", lambda of, **how: found if str(of) == str(path) else looked(of, **how))
    with pytest.raises(StorageFailed, match="is not what was committed"):
        visits.admit(arrow([("ann", 1.0)]), b.Gaussian(sigma=50), key="q-2")


def test_fillers_come_from_the_operating_system(visits: PersonFilter, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them: an engine's generator starts from few bits, and who guesses those confirms a guess by the hash."""
    monkeypatch.setattr(secrets, "token_bytes", lambda size: random.Random(size).randbytes(size))
    for key in ("q-1", "q-2"):
        visits.admit(arrow([("ann", 1.0)]), b.Gaussian(sigma=50), key=key)
    first, second = (pq.read_table(path) for path in visits.folder.path.rglob("*.parquet"))
    assert first["person"].equals(second["person"])
    drawn = random.Random(1023 * 16).randbytes(1023 * 16)
    assert {drawn[start : start + 16] for start in range(0, len(drawn), 16)} < set(first["person"].to_pylist())


def test_a_table_that_cannot_be_computed_is_not_quoted(visits: PersonFilter) -> None:
    """Neither by polars nor by DuckDB, which compute what they are given only now."""
    broken = pl.LazyFrame({"user": ["secretann"]}).with_columns(pl.col("user").str.to_integer())
    for table in (broken, duckdb.connect().sql("SELECT CAST('secretann' || random() AS BIGINT) AS user")):
        with pytest.raises(StorageFailed, match="may show data") as caught:
            visits.admit(table, ALL, key="q")
        assert "secretann" not in str(caught.value)
    assert visits.ledger.last("visits") == 1


@pytest.mark.parametrize("typed", ["visits", "file://visits", "./there/../visits"])
def test_a_folder_stays_where_it_was(
    embedded: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    """A relative one is meant from where the filter was created: from elsewhere nobody gets a new budget."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    rows = arrow([("ann", 1.0)])
    people = PersonFilter.create(embedded, "v", folder=typed, person="user", rho="1/100", secret=SECRET)
    assert people.admit(rows, ALL, key="q-1").num_rows == 1
    monkeypatch.chdir(tmp_path)
    again = PersonFilter(embedded, "v", secret=SECRET)
    assert again.folder.path == tmp_path / "here" / "visits"
    assert again.admit(rows, ALL, key="q-2").num_rows == 0


def test_a_ledger_that_has_a_relative_folder_means_what_it_did(
    embedded: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was written as it was typed is looked for from where the program runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(desk, "settled", str)
    PersonFilter.create(embedded, "v", folder="visits", person="user", rho="1/100", secret=SECRET)
    assert str(PersonFilter(embedded, "v", secret=SECRET).folder.path) == "visits"


def test_a_creation_is_repeated_in_a_later_version(
    embedded: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key under which a folder was written as it was typed answers for the same words; another folder is another
    request.
    """
    monkeypatch.chdir(tmp_path)
    terms: dict[str, Any] = {"person": "user", "rho": "1/100", "secret": SECRET, "key": "made"}
    with monkeypatch.context() as earlier:
        earlier.setattr(desk, "settled", str)
        PersonFilter.create(embedded, "v", folder="visits", **terms)
    assert PersonFilter.create(embedded, "v", folder="visits", **terms).name == "v"
    for other in ("./visits", "others", tmp_path / "visits"):
        with pytest.raises(KeyReused):
            PersonFilter.create(embedded, "v", folder=other, **terms)
    for _ in range(2):
        PersonFilter.create(embedded, "w", folder="w", **{**terms, "key": "new"})
    assert PersonFilter(embedded, "w", secret=SECRET).folder.path == tmp_path / "w"
    assert embedded.last("v") == embedded.last("w") == 1
