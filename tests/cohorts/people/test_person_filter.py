"""Person filters: who is admitted, on every engine and in every store, as a dictionary of whole numbers decides it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import bursar as b
from bursar.cohorts import PersonFilter
from bursar.cohorts.people import files
from bursar.cohorts.people.engines import duck
from bursar.ledger.ledger import Ledger
from support.person_contract import decided_alike, read
from support.tables import SECRET, arrow


@pytest.mark.parametrize("rule", ["skip", "halt"])
def test_random_queries_are_decided_as_by_the_dictionary(rule: str, people: Callable[..., PersonFilter]) -> None:
    """Both kinds of charges, compacted in between: the same people and the same values, to the last unit."""
    made = people(rule=rule, rho="1/200")
    decided_alike(made, [arrow], queries=14, compacted=(4, 9))


def test_a_key_gives_the_recorded_people(people: Callable[..., PersonFilter]) -> None:
    """Again and again, after later charges and a compaction too; newcomers of the table are not among them."""
    made = people(rho="1/5000")
    first = made.admit(arrow([("ann", 1.0), ("bob", 2.0)]), b.Gaussian(sigma=50), key="q-1")
    assert read(first) == [("ann", 1.0), ("bob", 2.0)]
    assert read(made.admit(arrow([("ann", 1.0), ("eve", 2.0)]), b.Gaussian(sigma=50), key="q-2")) == [("eve", 2.0)]
    made.compact()
    again = made.admit(arrow([("ann", 1.0), ("bob", 2.0), ("joe", 1.0)]), b.Gaussian(sigma=50), key="q-1")
    assert read(again) == [("ann", 1.0), ("bob", 2.0)]


def test_nobody_left_is_an_empty_table(people: Callable[..., PersonFilter]) -> None:
    """No error and no refusal, for an empty table neither: whatever is released is noise."""
    made = people(rho="1/10000")
    for number, rows in enumerate(([("ann", 1.0)], [], [(None, 1.0)])):
        assert read(made.admit(arrow(rows), b.Gaussian(sigma=50), key=f"q-{number}")) == []
        assert read(made.admit(arrow(rows), sums="value", norm=1, sigma=5, key=f"s-{number}")) == []


def test_both_rules_differ_where_they_should(people: Callable[..., PersonFilter]) -> None:
    """After a query that was too much, a smaller one takes people in again by skip, and never by halt."""
    rows = arrow([("ann", 1.0)])
    for rule, expected in (("skip", [("ann", 1.0)]), ("halt", [])):
        made = people(rule, rule=rule, rho="1/5000")
        assert read(made.admit(rows, b.Gaussian(sigma=10), key=f"{rule}-1")) == []
        assert read(made.admit(rows, b.Gaussian(sigma=50), key=f"{rule}-2")) == expected


def test_a_raised_limit_counts_at_once(ledger: Ledger, people: Callable[..., PersonFilter]) -> None:
    """A steward's limit is the people's, and the root shows what nobody can have exceeded."""
    made = people(rho="1/5000")
    rows = arrow([("ann", 1.0)])
    assert read(made.admit(rows, b.Gaussian(sigma=50), key="q-1")) == [("ann", 1.0)]
    assert read(made.admit(rows, b.Gaussian(sigma=50), key="q-2")) == []
    assert ledger.show("visits").line("rho").left == 0
    ledger.limit("visits", rho="1/2500", reason="a new agreement")
    assert read(made.admit(rows, b.Gaussian(sigma=50), key="q-3")) == [("ann", 1.0)]
    assert made.verify().ok


def test_a_key_covers_what_it_was_charged_for(people: Callable[..., PersonFilter]) -> None:
    """With the same key, somebody whose value has grown since is left out: they were charged for less."""
    made = people()
    asked = {"sums": "value", "norm": 1, "sigma": 50, "key": "q-1"}
    assert read(made.admit(arrow([("ann", 0.25), ("bob", 0.5)]), **asked)) == [("ann", 0.25), ("bob", 0.5)]
    assert read(made.admit(arrow([("ann", 1.0), ("bob", 0.25)]), **asked)) == [("bob", 0.25)]


def test_what_is_promised(people: Callable[..., PersonFilter]) -> None:
    """B-zCDP always, with the largest B there ever was, and √(2B)-GDP, rounded up, as long as all is Gaussian."""
    made = people(rho="1/100")
    made.admit(arrow([("ann", 1.0)]), b.Gaussian(sigma=50), key="q-1")
    made.admit(arrow([("ann", 1.0)]), sums="value", norm=1, sigma=50, key="q-2")
    made.compact()
    made.ledger.limit("visits", rho="1/50", reason="more")
    made.ledger.limit("visits", rho="1/80", reason="less")
    concentrated, gaussian = made.promises()
    assert concentrated == b.ZCDP(rho="1/50")
    assert isinstance(gaussian, b.GDP)
    assert Fraction(1, 25) < Fraction(gaussian.mu) ** 2 < Fraction(1, 25) + Fraction(1, 10**11)
    made.admit(arrow([("ann", 1.0)]), b.Laplace(scale=50), key="q-3")
    assert made.promises() == [concentrated]


@pytest.mark.parametrize("store", ["a disk", "memory://several"])
def test_large_deltas_are_several_files(
    store: str, embedded: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one size, whoever is in them; all of them are counted, and the key gives everybody again."""
    monkeypatch.setattr(duck, "_BATCH", 2048)
    monkeypatch.setattr(files, "FILE", 2048)
    folder = tmp_path / "v" if store == "a disk" else store
    made = PersonFilter.create(embedded, "v", folder=folder, person="user", rho="1/100", secret=SECRET)
    rows = [(f"person {number:04}", 1.0) for number in range(5000)]
    for key in ("q-1", "q-1"):
        assert read(made.admit(arrow(rows), b.Declared(b.ZCDP(rho="1/100")), key=key)) == rows
    parts = made.folder.parts(made._desk.look().rows[0].path)
    assert [part.rpartition("/")[2] for part in parts] == [f"part-{number:05}.parquet" for number in range(4)]
    if store == "a disk":
        assert len({Path(part).stat().st_size for part in parts}) == 1
    assert read(made.admit(arrow(rows), b.Gaussian(sigma=100), key="q-2")) == []
    made.compact()
    assert made.verify() == ((), 0)
