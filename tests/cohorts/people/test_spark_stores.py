"""Spark and an object store that only fsspec reaches: jobs write deltas there, and the ledger makes them count."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.registry import _registry

import bursar as b
from bursar.cohorts import PersonFilter
from bursar.cohorts.people.engines.spark_store import in_arrow
from bursar.cohorts.people.objects import ObjectFolder
from bursar.errors import ExtraMissing, StorageFailed
from bursar.ledger.ledger import Ledger
from support.person_contract import decided_alike, read
from support.shared_store import SharedStore
from support.tables import SECRET, Rows, arrow

Frames = Callable[[Rows], Any]
ALL = b.Declared(b.ZCDP(rho="1/100"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SharedStore]:
    """A store that answers for s3://, here and in workers."""
    known = _registry.copy()
    root = tmp_path / "store"
    root.mkdir()
    fsspec.register_implementation("s3", SharedStore, clobber=True)
    fsspec.config.conf["s3"] = {"root": str(root)}
    yield SharedStore(root=str(root))
    del fsspec.config.conf["s3"]
    _registry.clear()
    _registry.update(known)


def made(ledger: Ledger, **terms: Any) -> PersonFilter:
    """A filter whose files lie in the store."""
    given = {"person": "user", "rho": "1/100", "secret": SECRET, **terms}
    return PersonFilter.create(ledger, "visits", folder="s3://bucket/visits", **given)


@pytest.fixture
def remote(store: SharedStore, embedded: Ledger) -> PersonFilter:
    """Such a filter, of ρ = 1/100."""
    return made(embedded)


def test_both_engines_in_turns_on_a_store(store: SharedStore, embedded: Ledger, spark: Any, sparkle: Frames) -> None:
    """The decisions of the dictionary, whichever engine wrote the objects; and nothing stays but deltas."""
    people = made(embedded, rho="1/200", rule="halt")
    decided_alike(people, [lambda rows: sparkle(rows).repartition(3), arrow], queries=6, compacted=(3,))
    people.compact(spark=spark)
    assert people.verify(spark=spark) == ((), 0)
    assert all(name.startswith("bucket/visits/log/") and name.endswith(".parquet") for name in store.names())
    last = people._desk.look().rows[-1]
    assert last.kind == "snapshot"
    assert people.folder.parts(last.path) == [f"s3://bucket/visits/{last.path}/part-00000.parquet"]


@pytest.mark.parametrize("how", ["down", "torn"])
def test_a_store_that_fails_charges_nobody(how: str, store: SharedStore, remote: PersonFilter, sparkle: Frames) -> None:
    """A put that fails, or of which half is kept, in a worker: nothing counts, nothing is handed out, and the same key
    may be asked again.
    """
    store.manners(how)
    with pytest.raises(StorageFailed, match=r"released|charged") as failed:
        remote.admit(sparkle([("ann", 1.0)]), ALL, key="q-1")
    assert "secretperson7" not in str(failed.value)
    assert remote.ledger.last("visits") == 1
    assert store.names() == []
    store.manners()
    assert read(remote.admit(sparkle([("ann", 1.0)]), ALL, key="q-1")) == [("ann", 1.0)]
    assert remote.verify() == ((), 0)


def test_objects_that_are_not_what_was_committed(store: SharedStore, remote: PersonFilter, sparkle: Frames) -> None:
    """Missing, torn or changed: Spark decides nothing, charges nothing, and goes on when it is back."""
    rows = sparkle([("ann", 1.0)])
    remote.admit(rows, b.Gaussian(sigma=50), key="q-1")
    (name,) = store.names()
    whole = store.cat_file(name)
    for broken in (None, whole[: len(whole) // 2], whole[:-1] + b"x"):
        store.rm_file(name)
        if broken is not None:
            store.put_whole(name, broken)
        for key in ("q-1", "q-2"):
            with pytest.raises(StorageFailed, match="nothing was charged"):
                remote.admit(rows, b.Gaussian(sigma=50), key=key)
        assert not remote.verify().ok
        store.put_whole(name, whole)
    assert remote.ledger.last("visits") == 2
    assert remote.admit(rows, b.Gaussian(sigma=50), key="q-2").count() == 1
    store.put_whole("bucket/visits/log/orphan/part-0.parquet", whole)
    assert remote.verify() == ((), 1)


def test_what_changes_after_the_commit_is_not_believed(
    store: SharedStore, remote: PersonFilter, sparkle: Frames
) -> None:
    """A frame is computed later than it is handed out: an object that admits more people by then is refused."""
    rows: Rows = [("ann", 1.0), ("bob", 1.0)]
    remote.admit(arrow(rows), b.Gaussian(sigma=50), key="both")
    (other,) = store.names()
    frame = remote.admit(sparkle(rows[:1]), b.Gaussian(sigma=50), key="ann")
    again = remote.admit(sparkle(rows), b.Gaussian(sigma=50), key="ann")
    assert read(frame) == rows[:1]
    (name,) = set(store.names()) - {other}
    store.put_whole(name, store.cat_file(other))
    with pytest.raises(Exception, match="not what was committed"):
        again.collect()


def test_an_attempt_that_was_given_up_counts_for_nothing(store: SharedStore, remote: PersonFilter) -> None:
    """Of the objects that tasks wrote those are taken that the job tells of, and none that comes late."""
    folder = remote.folder
    assert isinstance(folder, ObjectFolder)
    stages: list[str] = []

    def job(stage: str) -> list[tuple[str, str]]:
        stages.append(stage)
        for name in ("lost", "told"):
            store.put_whole(f"{stage}/{name}.parquet", name.encode())
        return [("told.parquet", hashlib.sha256(b"told").hexdigest())]

    folder.gather("log/here", job)
    store.put_whole(f"{stages[0]}/late.parquet", b"late")
    assert folder.parts("log/here") == ["s3://bucket/visits/log/here/part-00000.parquet"]
    assert store.cat_file("bucket/visits/log/here/part-00000.parquet") == b"told"
    assert set(store.names()) == {"bucket/visits/log/here/part-00000.parquet", f"{stages[0]}/late.parquet"}


def test_a_driver_that_dies_before_the_commit(
    store: SharedStore, remote: PersonFilter, sparkle: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All objects are there and no entry is: they count for nothing, and the key is decided anew."""
    with monkeypatch.context() as patched:
        patched.setattr(remote.folder, "settle", lambda place: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            remote.admit(sparkle([("ann", 1.0)]), ALL, key="q-1")
    assert remote.verify() == ((), 1)
    assert read(remote.admit(sparkle([("ann", 1.0)]), ALL, key="q-1")) == [("ann", 1.0)]
    assert remote.admit(arrow([("ann", 1.0)]), ALL, key="q-2").num_rows == 0
    assert remote.verify() == ((), 1)


def test_spark_without_pandas() -> None:
    """Spark wants it for tasks over columns: the sentence says what to install."""

    class Frame:
        def mapInArrow(self, *_: Any) -> None:  # noqa: N802  # as Spark calls it
            raise ImportError("Pandas >= 2.2.0 must be installed; however, it was not found.")

    with pytest.raises(ExtraMissing, match=r"bursar\[spark\].*Pandas"):
        in_arrow(Frame(), iter, "name STRING")


def test_a_race_on_a_store_is_decided_again(
    store: SharedStore, remote: PersonFilter, sparkle: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB commits between Spark's upload and its commit: what lost is removed, and decided again."""
    other, settle, handed = PersonFilter(remote.ledger, "visits", secret=SECRET), remote.folder.settle, list[int]()

    def late(place: str) -> str:
        if not handed:
            handed.append(other.admit(arrow([("ann", 1.0)]), ALL, key="first").num_rows)
        return settle(place)

    monkeypatch.setattr(remote.folder, "settle", late)
    handed.append(remote.admit(sparkle([("ann", 1.0)]), ALL, key="second").count())
    assert handed == [1, 0]
    assert remote.verify() == ((), 0)
