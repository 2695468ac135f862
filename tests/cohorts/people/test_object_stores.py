"""Person filters whose files lie in an object store: the same decisions, and nothing counts that is not whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.registry import _registry

import bursar as b
from bursar.cohorts import PersonFilter
from bursar.cohorts.people.objects import folder_of
from bursar.errors import ExtraMissing, InputError, StorageFailed
from bursar.ledger.ledger import Ledger
from support.object_store import ObjectStore
from support.person_contract import decided_alike, read
from support.tables import SECRET, Rows, arrow

WHAT = b.Declared(b.ZCDP(rho="1/200"))


@pytest.fixture
def store() -> Iterator[type[ObjectStore]]:
    """A store that answers for s3://."""
    known = _registry.copy()
    fsspec.register_implementation("s3", ObjectStore, clobber=True)
    yield ObjectStore.cleared()
    _registry.clear()
    _registry.update(known)


@pytest.fixture
def remote(store: type[ObjectStore], embedded: Ledger) -> PersonFilter:
    """A filter in that store."""
    return made(embedded, "s3://bucket/visits")


def made(ledger: Ledger, folder: Any, **terms: Any) -> PersonFilter:
    """A filter whose files lie in a folder."""
    given = {"person": "user", "rho": "1/100", "secret": SECRET, **terms}
    return PersonFilter.create(ledger, "visits", folder=folder, **given)


@pytest.mark.parametrize("rule", ["skip", "halt"])
@pytest.mark.parametrize("address", ["s3://bucket/visits", "memory://visits/of {rule}"])
def test_decided_as_by_the_dictionary(store: type[ObjectStore], embedded: Ledger, address: str, rule: str) -> None:
    """Both kinds of charges, compacted in between, from an object store and from fsspec's memory."""
    people = made(embedded, address.format(rule=rule), rho="1/200", rule=rule)
    decided_alike(people, [arrow], queries=8, compacted=(4,))
    if address.startswith("s3"):
        assert all(name.startswith("bucket/visits/log/") for name in ObjectStore.objects)
    fsspec.filesystem("memory").store.clear()


def test_an_address_of_a_disk_is_a_path(embedded: Ledger, tmp_path: Path, sparkle: Callable[[Rows], Any]) -> None:
    """file:// is synced as a path is, and both engines take turns on it."""
    people = made(embedded, f"file://{tmp_path}/a b", rho="1/200", rule="skip")
    decided_alike(people, [sparkle, arrow], queries=6, compacted=(1,))
    assert list((tmp_path / "a b" / "log").iterdir())


@pytest.mark.parametrize("good", [1, 2])
def test_a_listing_that_grows_old_makes_nobody_richer(
    remote: PersonFilter, monkeypatch: pytest.MonkeyPatch, good: int
) -> None:
    """The files that are read are those that were hashed: a later listing without them is not believed."""
    rows = arrow([("anybody", 1.0)])
    heavy = b.Declared(b.ZCDP(rho="1/100"))
    assert len(remote.admit(rows, heavy, key="q-1")) == 1
    (first,) = {name.rsplit("/", 1)[0].removeprefix("bucket/visits/") for name in ObjectStore.objects}
    listed, asked = remote.folder.parts, list[str]()

    def flaky(place: str) -> list[str]:
        asked.append(place)
        return [] if asked.count(first) > good and place == first else listed(place)

    monkeypatch.setattr(remote.folder, "parts", flaky)
    assert len(remote.admit(rows, heavy, key="q-2")) == 0


@pytest.mark.parametrize("address", ["s3://[bucket/visits", "s3://", "s3:///", "file://", "memory://"])
def test_addresses_of_nothing_are_refused(address: str) -> None:
    """In words that name the argument, whatever the address is broken by."""
    with pytest.raises(InputError) as caught:
        folder_of(address)
    assert caught.value.argument == "folder"


def test_nothing_counts_that_was_not_put(remote: PersonFilter) -> None:
    """A put that fails has charged nobody, says so in words of ours, and the same key passes afterwards."""
    rows = arrow([("secretperson7", 1.0)])
    for trouble in ("put", "get", "list"):
        ObjectStore.down.add(trouble)
        with pytest.raises(StorageFailed, match="nothing was charged") as caught:
            remote.admit(rows, WHAT, key="q-1")
        assert "secretperson7" not in str(caught.value)
        assert re.search(r"\b503\b", str(caught.value)) is None
        assert caught.value.__cause__ is None
        ObjectStore.down.clear()
        assert remote.ledger.last("visits") == 1
    assert remote.admit(rows, WHAT, key="q-1").num_rows == 1
    assert remote.verify().ok


def test_objects_that_are_not_what_was_committed(remote: PersonFilter) -> None:
    """Missing, torn and replaced ones stop the filter, in a process that has seen them too; mended, it goes on."""
    rows = arrow([("ann", 1.0)])
    remote.admit(rows, WHAT, key="q-1")
    (name,) = ObjectStore.objects
    whole = ObjectStore.objects[name]
    store = ObjectStore()
    for damaged in (None, whole[:-1], whole[:200] + bytes([whole[200] ^ 1]) + whole[201:]):
        if damaged is None:
            store.rm_file(name)
        else:
            store.put_whole(name, damaged)
        for people in (remote, PersonFilter(remote.ledger, "visits", secret=SECRET)):
            with pytest.raises(StorageFailed, match="nothing was charged"):
                people.admit(rows, WHAT, key="q-2")
            assert not people.verify().ok
        store.put_whole(name, whole)
    assert remote.admit(rows, WHAT, key="q-2").num_rows == 1
    assert remote.admit(rows, WHAT, key="q-3").num_rows == 0
    store.put_whole("bucket/visits/log/orphan/part-0.parquet", whole)
    assert remote.verify() == ((), 1)


def test_a_store_that_does_not_answer_is_found(remote: PersonFilter) -> None:
    """A look at the files says so in words of ours: of every delta, and of a store that has none yet."""
    for deltas in range(3):
        for trouble in ("get", "list"):
            ObjectStore.down.add(trouble)
            found = remote.verify()
            assert found.ok is (deltas == 0 and trouble == "get")
            assert len(found.problems) == (deltas if trouble == "get" else deltas + 1)
            assert found.orphans == 0
            assert re.search(r"\b503\b", " ".join(found.problems)) is None
            ObjectStore.down.clear()
        assert remote.verify().ok
        remote.admit(arrow([("ann", 1.0)]), b.Declared(b.ZCDP(rho="1/1000")), key=f"q-{deltas}")


def test_whoever_came_first_is_seen(remote: PersonFilter, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process commits between the upload and the commit: what lost is removed, and decided again."""
    rows, handed = arrow([("ann", 1.0)]), []
    other = PersonFilter(remote.ledger, "visits", secret=SECRET)
    settle = remote.folder.settle

    def late(place: str) -> str:
        if not handed:
            handed.append(other.admit(rows, b.Declared(b.ZCDP(rho="1/150")), key="first").num_rows)
        return settle(place)

    monkeypatch.setattr(remote.folder, "settle", late)
    handed.append(remote.admit(rows, b.Declared(b.ZCDP(rho="1/150")), key="second").num_rows)
    assert handed == [1, 0]
    assert remote.verify() == ((), 0)


def test_questions_read_the_store_too(store: type[ObjectStore], embedded: Ledger) -> None:
    """What is asked about the filter itself is asked of the same objects."""
    people = made(embedded, "s3://bucket/visits", reserve="1/300")
    people.admit(arrow([(f"person {number}", 1.0) for number in range(500)]), WHAT, key="q-1")
    assert 300 < people.exhausted_share(WHAT, sigma=20, key="how many").exhausted < 700


@pytest.mark.parametrize(
    "address",
    [
        "ftp://host/visits",
        "hdfs://host/visits",
        "https://host/visits",
        "s3://user:word@bucket/v",
        "s3://b/v?key=1",
        "://x",
    ],
)
def test_stores_that_are_refused(embedded: Ledger, address: str) -> None:
    """Those that show half a file, and addresses with what the ledger must not keep."""
    with pytest.raises(InputError, match="folder") as refused:
        made(embedded, address)
    assert "word" not in str(refused.value).replace("password", "")
    assert embedded.scopes() == []


def test_a_store_whose_package_is_missing(embedded: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence says what to install, and nothing is opened."""

    def missing(*_: Any) -> None:
        raise ImportError("Please install gcsfs to access Google Storage")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(ExtraMissing, match=r"objects.*gcsfs"):
        made(embedded, "gs://bucket/visits")
    assert embedded.scopes() == []


def test_spark_does_not_see_this_memory(embedded: Ledger, sparkle: Callable[[Rows], Any]) -> None:
    """A folder in this process is refused by name for a Spark frame."""
    people = made(embedded, "memory://visits of spark")
    with pytest.raises(InputError, match="folder"):
        people.admit(sparkle([("ann", 1.0)]), WHAT, key="q-1")
    assert read(people.admit(arrow([("ann", 1.0)]), WHAT, key="q-1")) == [("ann", 1.0)]
