"""Where a scope opens: a name under an existing scope is below it, unless a root is asked for."""

from __future__ import annotations

import json
import threading
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

import bursar as b
from bursar.cli.main import app
from bursar.ledger.budget.scope import names_above
from bursar.ledger.ledger import Ledger
from bursar.ledger.verbs import open as opening
from support.hands import TENTH, left


def test_a_name_under_a_scope_opens_below_it(ledger: Ledger) -> None:
    """Its charges debit the one above: no second budget stands beside it."""
    ledger.open("a", epsilon=1)
    assert ledger.open("a/b", epsilon=1).root == "a"
    assert ledger.scope("a/b").row.parent == "a"
    ledger.spend("a/b", TENTH * 6)
    assert left(ledger, "a") == Fraction(4, 10)
    with pytest.raises(b.BudgetExceeded):
        ledger.spend("a", TENTH * 5)


def test_the_nearest_one_is_meant(ledger: Ledger) -> None:
    """Of several that a name lies under, at slashes only; blocks find their parent too."""
    ledger.open("a", epsilon=1, unit="person")
    ledger.open("a/b", epsilon=1)
    ledger.open("a/b/c/d", epsilon=1)
    ledger.open("a/north", kind="block")
    ledger.open("ab/c", epsilon=1)
    ledger.open("a/b/c", parent="a", epsilon=1)
    places = {scope.name: (scope.kind, scope.row.parent, scope.unit) for scope in ledger.scopes()}
    assert places["a/b/c/d"] == ("quota", "a/b", "person")
    assert places["a/north"] == ("block", "a", "person")
    assert places["ab/c"] == ("root", "", "record")
    assert places["a/b/c"] == ("quota", "a", "person")
    assert names_above("a/b/c") == ["a/b", "a"]
    assert names_above("a") == []


def test_a_root_can_be_insisted_on(ledger: Ledger) -> None:
    """Then it has a budget of its own; with a parent that cannot be meant."""
    ledger.open("a", epsilon=1)
    assert ledger.open("a/b", epsilon=1, kind="root").root == "a/b"
    ledger.spend("a/b", TENTH * 10)
    assert left(ledger, "a") == 1
    assert ledger.open("a/b/c", epsilon=1).root == "a/b"
    with pytest.raises(b.InputError, match="root"):
        ledger.open("a/c", epsilon=1, kind="root", parent="a")


def test_a_root_above_a_root_is_insisted_on(ledger: Ledger) -> None:
    """A name above an existing root, at any depth, would have a second whole budget: it is refused, with the name."""
    ledger.open("z/y/x", epsilon=1)
    ledger.open("z/y-2", epsilon=1)
    ledger.open("w", epsilon=1)
    ledger.open("v/u", epsilon=1, parent="w")
    for name, below in (("z", "z/y-2"), ("z/y", "z/y/x")):
        with pytest.raises(b.InputError, match=f'{below} lies under {name} by its name .*kind="root"'):
            ledger.open(name, epsilon=1)
    ledger.open("v", epsilon=1)  # what lies under it is a part of another budget, and no root
    ledger.open("zz", epsilon=1)
    ledger.open("z/y", epsilon=1, kind="root")
    ledger.open("z", epsilon=1, parent="w")
    assert {scope.name for scope in ledger.scopes() if scope.kind == "root"} == {
        "z/y/x",
        "z/y-2",
        "z/y",
        "w",
        "v",
        "zz",
    }
    assert ledger.verify()


def test_a_closed_root_still_lies_below(ledger: Ledger) -> None:
    """What was spent there was spent."""
    ledger.open("z/y", epsilon=1)
    ledger.retire("z/y", reason="done")
    with pytest.raises(b.InputError, match="z/y lies under z"):
        ledger.open("z", epsilon=1)


@pytest.mark.parametrize("name", ["a/", "a//b", "a/ /b", "new/", "new//b"])
def test_new_names_have_no_empty_parts(ledger: Ledger, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would look as if they lay under a; one that exists goes on working, and is found again by its key."""
    ledger.open("a", epsilon=1)
    for more in ({}, {"kind": "root"}, {"parent": "a"}):
        with pytest.raises(b.InputError, match="something between its slashes"):
            ledger.open(name, epsilon=1, **more)
    monkeypatch.setattr(opening, "whole_parts", lambda name: None)  # as it was before
    ledger.open(name, epsilon=1, kind="root", key="k")
    monkeypatch.undo()
    ledger.spend(name, TENTH)
    assert ledger.open(name, epsilon=1, kind="root", key="k").replayed
    assert left(ledger, name) == Fraction(9, 10)


def test_a_closed_scope_takes_none(ledger: Ledger) -> None:
    """Its name still stands for it: nothing slips past as a root."""
    ledger.open("a", epsilon=1)
    ledger.retire("a", reason="done")
    with pytest.raises(b.errors.ScopeClosed):
        ledger.open("a/b", epsilon=1)
    assert [scope.name for scope in ledger.scopes()] == ["a"]


def test_a_replay_is_the_same_request(ledger: Ledger) -> None:
    """Whatever has been opened since: what was asked is compared, not where it led."""
    first = ledger.open("a/b/c", epsilon=1, key="k")
    ledger.open("a", epsilon=1, kind="root")
    again = ledger.open("a/b/c", epsilon=1, key="k")
    assert again.replayed
    assert (again.root, again.seq) == (first.root, first.seq) == ("a/b/c", 1)
    with pytest.raises(b.errors.KeyReused):
        ledger.open("a/b/c", epsilon=1, kind="root", key="k")


def test_within(ledger: Ledger) -> None:
    """Whoever may open below one scope only is refused every other place, named, implied or none."""
    ledger.open("a", epsilon=1)
    ledger.open("a/b", epsilon=1)
    ledger.open("a/b/own", epsilon=1, kind="root")
    ledger.open("a/b/c", epsilon=1, within="a/b")
    ledger.open("elsewhere", epsilon=1, parent="a/b/c", within="a/b")
    for name, more in (("a/x", {}), ("x", {}), ("a/b/own/x", {}), ("a/b/y", {"parent": "a"}), ("z", {"kind": "root"})):
        with pytest.raises(b.errors.NotPermitted):
            ledger.open(name, epsilon=1, within="a/b", **more)


def test_the_parent_is_decided_with_the_opening(url: str, tmp_path: Path) -> None:
    """Somebody opens a while a/b waits for its turn: a/b finds it there, however early it was asked for."""
    with Ledger(url, anchor=str(tmp_path / "x"), alert=None) as ledger:
        made: list[Any] = []
        real, ledger.office.batches = ledger.office.batches, SimpleNamespace(submit=made.append)  # type: ignore[assignment]
        ledger.open("a/b", epsilon=1)
        ledger.office.batches = real
        ledger.open("a", epsilon=1)
        ledger.commit(made)
        assert made[0].failure is None
        assert ledger.scope("a/b").row.parent == "a"
        assert ledger.verify()


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_openings_at_the_same_time(store: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Two ledgers of one store open a and a/b at once, again and again: a/b is a root only where it came first, and
    then a is refused. There are never two whole budgets.
    """
    url = f"sqlite:///{tmp_path}/a.db" if store == "sqlite" else request.getfixturevalue("postgres")
    with (
        Ledger(url, anchor=str(tmp_path / "x"), alert=None) as one,
        Ledger(url, anchor=str(tmp_path / "x"), alert=None) as two,
    ):
        for number in range(12):
            gate, failures = threading.Barrier(2), []

            def opened(ledger: Ledger, name: str) -> None:
                gate.wait()
                try:
                    ledger.open(name, epsilon=1)
                except BaseException as problem:
                    failures.append(problem)

            pairs = ((one, f"r{number}"), (two, f"r{number}/b"))
            threads = [threading.Thread(target=opened, args=pair) for pair in pairs]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            below = one.scope(f"r{number}/b").row.parent == f"r{number}"
            assert [type(problem) for problem in failures] == ([] if below else [b.InputError])
            roots = [scope.name for scope in one.scopes() if scope.kind == "root"]
            assert len([name for name in roots if name.split("/")[0] == f"r{number}"]) == 1
        assert one.verify()


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says below which scope it opened; --root insists."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["ledger", *words])
        return done.exit_code, done.output

    run("open", "a", "--epsilon", "1")
    code, said = run("open", "a/b", "--epsilon", "1")
    assert code == 0
    assert said.startswith("a/b is open below a: entry 2 of a")
    assert run("open", "a/c", "--epsilon", "1", "--root")[1].startswith("a/c is open: entry 1 of a/c")
    assert run("open", "a/d", "--epsilon", "1", "--root", "--parent", "a")[0] == 2
    assert run("open", "a/d", "--epsilon", "1", "--root", "--kind", "quota")[0] == 2
    shown = {one["scope"]: one["parent"] for one in json.loads(run("show", "--json")[1])}
    assert shown == {"a": "", "a/b": "a", "a/c": ""}
