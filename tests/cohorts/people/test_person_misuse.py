"""What a person filter refuses, what it finds wrong with files, and what it never says."""

from __future__ import annotations

import errno
import logging
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bursar as b
from bursar.cohorts import PersonFilter
from bursar.cohorts.people import files
from bursar.cohorts.people.keys import check_of, pads_of, person_of
from bursar.errors import (
    BursarError,
    CostInvalid,
    CurrencyMismatch,
    InputError,
    KeyReused,
    ScopeFrozen,
    StorageFailed,
    StorageFull,
)
from bursar.ledger.ledger import Ledger
from support.tables import SECRET, arrow

WHAT = b.Gaussian(sigma=50)


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"rho": 0}, "rho"),
        ({"rho": "1e-10"}, "rho"),
        ({"rule": "cap"}, "rule"),
        ({"person": ""}, "person"),
        ({"secret": b"short"}, "secret"),
        ({"secret": None}, "secret"),
        ({"folder": 3}, "folder"),
    ],
)
def test_bad_terms(embedded: Ledger, tmp_path: Path, terms: Any, said: str) -> None:
    """Each is refused by name, without showing the secret, and nothing is opened."""
    given = {"folder": tmp_path / "v", "person": "user", "rho": 1, "secret": SECRET, **terms}
    with pytest.raises(InputError, match=said) as caught:
        PersonFilter.create(embedded, "visits", **given)
    assert "short" not in str(caught.value)
    assert embedded.scopes() == []


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({}, InputError),
        ({"what": WHAT, "sums": "value"}, InputError),
        ({"what": WHAT, "norm": 1}, InputError),
        ({"sums": "value", "norm": 0, "sigma": 1}, InputError),
        ({"sums": "value", "norm": 1, "sigma": float("nan")}, InputError),
        ({"sums": "value", "norm": 10**9, "sigma": 1}, InputError),
        ({"sums": "other", "norm": 1, "sigma": 9}, InputError),
        ({"sums": 3, "norm": 1, "sigma": 9}, InputError),
        ({"what": b.NameAndShame(delta=1e-6)}, BursarError),
        ({"what": b.Declared(b.ApproxDP(epsilon=1, delta=1e-6))}, CostInvalid),
        ({"what": b.Gaussian(sigma=50, relation="replace_one")}, CurrencyMismatch),
        ({"what": WHAT, "engine": "abacus"}, InputError),
        ({"what": WHAT, "engine": "spark"}, InputError),
        ({"what": lambda rows: rows[:10]}, BursarError),
        ({"what": {"limit": 1000}}, BursarError),
    ],
)
def test_bad_queries(visits: PersonFilter, arguments: Any, kind: type[Exception]) -> None:
    """Each is refused before anybody is charged: caps, ranks and charges of one's own have no way in."""
    with pytest.raises(kind):
        visits.admit(arrow([("ann", 1.0)]), key="q", **arguments)
    assert visits.ledger.last("visits") == 1


@pytest.mark.parametrize(
    "table",
    [3, None, "visits.txt", pa.table({"who": ["ann"]}), pa.table({"user": [1.5]}), [("ann", 1.0)]],
)
def test_bad_tables(visits: PersonFilter, table: Any) -> None:
    """What is no table, or has no column of ids, is refused by name."""
    with pytest.raises(InputError):
        visits.admit(table, WHAT, key="q")
    assert visits.ledger.last("visits") == 1


def test_every_kind_of_table(visits: PersonFilter, tmp_path: Path) -> None:
    """Rows come back in the kind in which they were given; whole numbers and texts name the same people."""
    rows = pa.table({"user": [1, 2, 2], "value": [0.5, 0.25, 0.25]})
    pq.write_table(rows, tmp_path / "rows.parquet")
    rows.to_pandas().to_csv(tmp_path / "rows.csv", index=False)
    database = duckdb.connect()
    kinds: dict[str, tuple[Any, type, Callable[[Any], int]]] = {
        "arrow": (rows, pa.Table, lambda found: found.num_rows),
        "polars": (pl.from_arrow(rows), pl.DataFrame, lambda found: found.height),
        "lazy": (pl.from_arrow(rows).lazy(), pl.LazyFrame, lambda found: found.collect().height),  # type: ignore[union-attr]
        "pandas": (rows.to_pandas(), pd.DataFrame, len),
        "relation": (database.from_arrow(rows), duckdb.DuckDBPyRelation, lambda found: len(found.fetchall())),
        "parquet": (tmp_path / "rows.parquet", duckdb.DuckDBPyRelation, lambda found: len(found.fetchall())),
        "csv": (str(tmp_path / "rows.csv"), duckdb.DuckDBPyRelation, lambda found: len(found.fetchall())),
        "text": (rows.set_column(0, "user", rows["user"].cast(pa.string())), pa.Table, lambda found: found.num_rows),
    }
    for name, (table, kind, count) in kinds.items():
        found = visits.admit(table, b.Gaussian(sigma=100), key=f"{name} rows")
        assert isinstance(found, kind), name
        assert count(found) == 3, name
        found = visits.admit(table, sums="value", norm=1, sigma=100, key=f"{name} sums")
        assert isinstance(found, kind), name
        assert count(found) == 2, name
    spent = len(kinds) * (50_000 + 12_500)
    assert visits.ledger.show("visits").line("rho").spent * 10**9 == len(kinds) * 100_000
    big = visits.admit(rows, b.Declared(b.ZCDP(rho=f"{10**7 - spent}/1000000000")), key="rest")
    assert big.num_rows == 3  # whatever the kind, everybody was charged the same, to the last unit
    assert visits.admit(rows, b.Declared(b.ZCDP(rho="1e-9")), key="more").num_rows == 0


def test_the_secret_is_checked(visits: PersonFilter) -> None:
    """With another secret everybody would be new: it is refused, and the right one never enters the ledger."""
    with pytest.raises(InputError, match="not the secret"):
        PersonFilter(visits.ledger, "visits", secret=b"another secret of enough bytes")
    assert PersonFilter(visits.ledger, "visits", secret=SECRET).rule == "skip"
    kept = visits.ledger.export()
    assert SECRET.hex() not in kept
    assert check_of(SECRET, "visits") in kept
    assert "Pads" in repr(pads_of(SECRET))
    assert len(repr(pads_of(SECRET))) < 10


def test_keys_belong_to_one_query(visits: PersonFilter) -> None:
    """Another query with the same key is refused; so is no key at all."""
    visits.admit(arrow([("ann", 1.0)]), WHAT, key="q")
    with pytest.raises(KeyReused):
        visits.admit(arrow([("ann", 1.0)]), b.Gaussian(sigma=60), key="q")
    with pytest.raises(InputError):
        visits.admit(arrow([("ann", 1.0)]), WHAT, key=None)  # type: ignore[arg-type]


def test_a_frozen_filter_admits_nobody(visits: PersonFilter) -> None:
    """A steward's freeze stops admissions, and leaves no file behind that counts."""
    visits.ledger.freeze("visits", reason="a question")
    with pytest.raises(ScopeFrozen):
        visits.admit(arrow([("ann", 1.0)]), WHAT, key="q")
    assert visits.ledger.last("visits") == 2


def parts(visits: PersonFilter) -> list[Path]:
    """Every file of a filter."""
    return sorted(visits.folder.path.rglob("*.parquet"))


@pytest.mark.parametrize("damage", ["missing", "torn", "changed", "emptied", "swapped", "added"])
def test_damaged_files_are_seen(visits: PersonFilter, damage: str, figures: Any) -> None:
    """Nothing is decided on files that are not what the journal says; mended, the filter goes on."""
    rows = arrow([("ann", 1.0)])
    for number in range(2):
        visits.admit(rows, WHAT, key=f"q-{number}")
    first, second = parts(visits)
    whole = first.read_bytes()
    if damage == "missing":
        first.unlink()
    elif damage == "torn":
        first.write_bytes(whole[:-100])
    elif damage == "changed":
        first.write_bytes(whole[:200] + bytes([whole[200] ^ 1]) + whole[201:])
    elif damage == "emptied":
        first.write_bytes(b"")
    elif damage == "swapped":
        shutil.copy(second, first)
    else:
        shutil.copy(second, first.with_name("part-1.parquet"))
    again = PersonFilter(visits.ledger, "visits", secret=SECRET)
    with pytest.raises(StorageFailed, match="nothing was charged"):
        again.admit(rows, WHAT, key="q-2")
    assert not again.verify().ok
    assert visits.ledger.last("visits") == 3
    if damage == "added":
        first.with_name("part-1.parquet").unlink()
    first.write_bytes(whole)
    assert again.admit(rows, WHAT, key="q-2").num_rows == 1
    assert again.verify().ok
    figures("damaged deltas", damage, 1, 0)


@pytest.mark.soak
def test_every_damage_to_a_delta_is_seen(visits: PersonFilter, figures: Any) -> None:
    """One bit flipped at a thousand places, the end cut off at a hundred: nothing is decided on any of them."""
    rows, chance = arrow([("ann", 1.0)]), random.Random(4)
    visits.admit(rows, WHAT, key="q-0")
    (delta,) = parts(visits)
    whole = delta.read_bytes()
    places = chance.sample(range(8 * len(whole)), 1000)
    broken = [(place, whole[: place // 8] + bytes([whole[place // 8] ^ 1 << place % 8])) for place in places]
    torn = [whole[:end] for end in chance.sample(range(len(whole)), 100)]
    for changed in [*(start + whole[len(start) :] for _, start in broken), *torn]:
        assert changed != whole
        delta.write_bytes(changed)
        with pytest.raises(StorageFailed, match="nothing was charged"):
            visits.admit(rows, WHAT, key="q-1")
    assert visits.ledger.last("visits") == 2
    delta.write_bytes(whole)
    assert visits.verify().ok
    figures("damaged deltas", "one bit flipped", 1000, 0)
    figures("damaged deltas", "torn", 100, 0)


def test_orphans_count_for_nothing(visits: PersonFilter, figures: Any) -> None:
    """A delta that no entry knows charges nobody; verify counts such places."""
    rows = arrow([("ann", 1.0)])
    visits.admit(rows, b.Declared(b.ZCDP(rho="1/200")), key="q-1")
    shutil.copytree(parts(visits)[0].parent, visits.folder.path / "log" / "orphan")
    assert visits.admit(rows, b.Declared(b.ZCDP(rho="1/200")), key="q-2").num_rows == 1
    assert visits.verify() == ((), 1)
    figures("orphaned deltas", "a copy that no entry knows", 1, 0)


@pytest.mark.parametrize("step", ["write", "sync"])
def test_a_full_disk(visits: PersonFilter, step: str, monkeypatch: pytest.MonkeyPatch, figures: Any) -> None:
    """Nothing is charged, nothing stays behind, and the same key passes when there is room."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    rows = arrow([("ann", 1.0)])
    with monkeypatch.context() as patch:
        patch.setattr(*((pq.ParquetWriter, "write_batch", full) if step == "write" else (files, "_sync", full)))
        with pytest.raises(StorageFull, match="nothing was charged"):
            visits.admit(rows, WHAT, key="q")
    assert visits.ledger.last("visits") == 1
    assert visits.verify().orphans == 0
    assert visits.admit(rows, WHAT, key="q").num_rows == 1
    figures("admissions on a full disk", f"at the {step} of a delta", 1, 0)


def test_sizes_and_hashes_say_nothing(visits: PersonFilter) -> None:
    """Files of few and of many people have one size, equal queries have other hashes, random rows are among them."""
    few = arrow([("ann", 1.0)])
    many = arrow([(f"person {number}", 1.0) for number in range(900)])
    for number, table in enumerate((few, many, few, many)):
        visits.admit(table, b.Gaussian(sigma=100 + number), key=f"q-{number}")
    sizes = {path.stat().st_size for path in parts(visits)}
    assert len(sizes) == 1
    assert len({row.digest for row in visits._desk.look().rows}) == 4
    table = pq.read_table(parts(visits)[0])
    assert table.num_rows == 1024
    assert len(set(table["person"].to_pylist())) == 1024
    for rows in (1022, 1023, 5000):
        assert files.padded(rows) >= rows + 2
        assert files.padded(rows).bit_count() == 1


def test_nothing_private_is_said(
    visits: PersonFilter, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ids, hashes, counts and amounts are in no log, no output, no error, no journal and no statement."""
    caplog.set_level(logging.DEBUG)
    rows = [(f"secretperson{number}", 0.125 + number) for number in range(137)]
    visits.admit(arrow(rows), b.Gaussian(sigma=12), key="q-1")
    visits.admit(arrow(rows[:61]), b.Gaussian(sigma=12), key="q-2")
    visits.compact()
    broken = pa.table({"user": [name for name, _ in rows], "value": [f"no number {name}" for name, _ in rows]})
    with pytest.raises(InputError) as refused:
        visits.admit(broken, sums="value", norm=1, sigma=9, key="q-3")
    said = "\n".join([*caplog.messages, *capfd.readouterr(), str(refused.value), repr(visits), str(visits.verify())])
    said += visits.ledger.export() + str(visits.ledger.show("visits")) + str(visits.ledger.show("visits").to_dict())
    people = [person_of(SECRET, name).hex() for name, _ in rows]
    assert "secretperson" not in said
    assert not any(person in said for person in people)
    assert not re.search(r"\b(137|61|76|198)\b", said)


def test_an_engines_own_words_are_left_out(visits: PersonFilter, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message of the engine that shows a value is not passed on, not even as a cause."""
    from bursar.cohorts.people.engines import duck

    def loud(*_: Any) -> None:
        raise duckdb.ConversionException("Could not convert 'ann' to INT32")

    monkeypatch.setattr(duck, "_write", loud)
    with pytest.raises(StorageFailed, match="ConversionException") as caught:
        visits.admit(arrow([("ann", 1.0)]), WHAT, key="q")
    assert "ann" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
