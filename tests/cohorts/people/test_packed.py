"""Charges as one number each, and the files that their decisions are written to."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bursar.cohorts import PersonFilter
from bursar.cohorts.people import packed, replay
from bursar.cohorts.people.fold import Room
from bursar.cohorts.people.packed import Packed, layout_of
from bursar.cohorts.people.pages import Column, coded, write_groups
from bursar.errors import InputError
from support.cohorts import People

MOST = 2**63 - 1


def listed(rows: list[tuple[int, int, int]]) -> Any:
    """Rows as a list of charges."""
    columns = zip(*rows, strict=True)
    return pa.table([pa.array(column, pa.int64()) for column in columns], ["query", "person", "charge"])


@pytest.mark.parametrize(
    ("query", "person", "charge", "bits"),
    [((0, 0), (5, 5), (0, 0), 3), ((-3, 4), (-8, 7), (2, 255), 15), ((0, 1), (-(2**61), 2**61 - 1), (0, 1), 64)],
)
def test_keys_hold_all_three_numbers(
    query: tuple[int, int], person: tuple[int, int], charge: tuple[int, int], bits: int
) -> None:
    """The ends of every range come back from their key, whatever lies between them."""
    layout = layout_of(query, person, charge)
    assert layout is not None
    assert layout.shift + layout.person_bits == bits
    rows = [(at, who, cost) for at in query for who in person for cost in charge]
    keys, room = np.empty(len(rows), np.uint64), Room()
    numbers = layout.counted(listed(rows).combine_chunks().to_batches()[0], room)
    layout.pack(tuple(column.astype(layout.few) for column in numbers), keys, room)
    whos = layout.persons(keys >> np.uint64(layout.shift)).tolist()
    ats = [(int(key) >> layout.charge_bits) % 2**layout.query_bits + layout.query for key in keys]
    costs = [int(key) % 2**layout.charge_bits for key in keys]
    assert list(zip(ats, whos, costs, strict=True)) == rows


def test_numbers_that_do_not_fit_are_left_to_columns() -> None:
    """65 bits are too many for one number; a charge below 0 is none."""
    assert layout_of((0, 1), (0, 2**62 - 1), (0, 1)) is not None
    assert layout_of((0, 1), (0, 2**62), (0, 1)) is None
    with pytest.raises(InputError, match="below 0"):
        layout_of((0, 1), (0, 1), (-1, 1))


@pytest.mark.parametrize("row", [(9, 1, 1), (-1, 1, 1), (1, 9, 1), (1, -1, 1), (1, 1, 9), (1, 1, -1)])
def test_a_list_that_changed_is_refused(row: tuple[int, int, int], tmp_path: Path) -> None:
    """A number outside of what was said of the list would be taken for another person's, and is refused."""
    layout = layout_of((0, 7), (0, 7), (0, 7))
    assert layout is not None
    (batch,) = listed([(1, 1, 1), row]).to_batches()
    with pytest.raises(InputError, match="changed while"):
        Packed(layout, "int64", 2, 1).deal(tmp_path / "keys", [layout.counted(batch, Room())])


@pytest.mark.parametrize("buckets", [1, 3, 64, 4096])
def test_runs_and_buckets_decide_nothing(
    buckets: int, visits: PersonFilter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However a list is cut into runs, buckets and cells, whole keys or halves: the dictionary's decisions."""
    monkeypatch.setattr(packed, "RUN", 1000)
    monkeypatch.setattr(packed, "_CELL", 100)
    monkeypatch.setattr(replay, "_SMALL", 4096)
    chance = random.Random(buckets)
    rows = [(at // 40, chance.randrange(500) * 3, chance.randrange(2**21)) for at in range(5000)]
    found = pq.read_table(visits.replay(listed(rows), tmp_path / "out", buckets=buckets)).to_pylist()
    oracle, expected = People(10**7, "skip"), {}
    for query in range(125):
        asked: dict[object, int] = {}
        for at, who, charge in rows[40 * query : 40 * query + 40]:
            assert at == query
            asked[who] = asked.get(who, 0) + charge
        admitted = oracle.admit(asked)  # type: ignore[arg-type]
        expected |= {(query, who): (charge, who in admitted) for who, charge in asked.items()}
    assert {(row["query"], row["person"]): (row["charge"], row["admitted"]) for row in found} == expected
    assert len(found) == len(expected)


def test_many_rows_of_one_query_add_up(visits: PersonFilter, tmp_path: Path) -> None:
    """Rows that add up to more than 32 bits hold are one charge that nobody can bear, where keys are halves."""
    rows = [(1, 1, 2**20 - 1)] * 5000 + [(1, 0, 0)]
    found = pq.read_table(visits.replay(listed(rows), tmp_path / "out", buckets=1)).to_pylist()
    assert {row["person"]: (row["charge"], row["admitted"]) for row in found} == {
        1: (5000 * (2**20 - 1), False),
        0: (0, True),
    }


def test_a_list_has_as_many_buckets_as_suit_it() -> None:
    """A short list is one bucket; a long one has no bucket beyond its size; more than 4096 there are never."""
    assert [packed.buckets_for(count) for count in (0, 2**18 - 1, 2**18, 10**7, 10**8, 10**12)] == [
        1,
        1,
        1,
        8,
        64,
        4096,
    ]


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 7000])
def test_every_reader_finds_what_was_written(rows: int, tmp_path: Path) -> None:
    """Codes of one, two and four bytes, plain numbers and truths, in groups that fill their last bytes or not."""
    chance = np.random.default_rng(rows)
    many = chance.integers(-(2**62), 2**62, rows)
    few = chance.integers(0, 200, rows)
    columns = [
        coded("few", few, -7, "int64"),
        coded("some", few * 300, 5, "int64"),
        Column("many", "int64", many),
        Column("each", "int64", many, np.arange(rows, dtype=np.uint32)),
        Column("truth", "bool", many > 0),
    ]
    write_groups(tmp_path / "it.parquet", [columns] * 20)
    once = {"few": few - 7, "some": few * 300 + 5, "many": many, "each": many, "truth": many > 0}
    wanted = {name: np.tile(numbers, 20) for name, numbers in once.items()}
    path = str(tmp_path / "it.parquet")
    by_arrow, by_duck = pq.read_table(path), duckdb.connect().read_parquet(path).fetchnumpy()
    for name, numbers in wanted.items():
        assert by_arrow[name].to_pylist() == numbers.tolist()
        assert np.array_equal(by_duck[name], numbers)
    assert not any(field.nullable for field in by_arrow.schema)


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_kinds_come_back(kind: str, visits: PersonFilter, tmp_path: Path) -> None:
    """The least and the largest person of every kind, in one list where it fits, are who they were."""
    ends = np.iinfo(kind)
    whos = [ends.max - 1, ends.max] if ends.bits == 64 else [int(ends.min), int(ends.max)]
    table = pa.table({"query": [1, 1], "person": pa.array(whos, getattr(pa, kind)()), "charge": [3, 5]})
    found = pq.read_table(visits.replay(table, tmp_path / "out", buckets=1))
    assert found.schema.field("person").type == getattr(pa, kind)()
    assert sorted(found["person"].to_pylist()) == whos
