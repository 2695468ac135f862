"""The real ledger against the model: random requests, every store, equal answers and equal balances."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import bursar as b
from bursar.ledger.ledger import Ledger
from bursar.ledger.views.standing import _single
from support.model import Model, Scope

SCALES = st.sampled_from([2, 3, 7, 10, 11, 40, 100])
NAMES = st.sampled_from(["data", "team", "north", "south", "nowhere"])
KEYS = st.sampled_from([f"k{n}" for n in range(12)])


class Machine(RuleBasedStateMachine):
    """Each rule asks both."""

    address: Callable[[], str]
    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.clock = 1_000_000
        self.folder = tempfile.TemporaryDirectory()
        self.ledger = Ledger(
            type(self).address(), anchor=str(Path(self.folder.name) / "anchor"), clock=lambda: self.clock, alert=None
        )
        self.model = Model(now=self.clock)
        self.ids: dict[str, Any] = {}

    @initialize(limit=st.sampled_from([1, Fraction(1, 2), Fraction(3, 7)]), blocks=st.booleans())
    def open(self, limit: Fraction, blocks: bool) -> None:
        """A root, a quota, perhaps two blocks."""
        self.ledger.open("data", epsilon=limit)
        self.ledger.open("team", parent="data", epsilon=Fraction(limit) / 2)
        self.model.scopes["data"] = Scope(Fraction(limit), None, "root")
        self.model.scopes["team"] = Scope(Fraction(limit) / 2, "data", "quota")
        for name in ("north", "south") if blocks else ():
            self.ledger.open(name, parent="data", kind="block")
            self.model.scopes[name] = Scope(Fraction(limit), "data", "block")

    def ask(self, call: Callable[[], Any]) -> str:
        """The real ledger's answer in the model's words."""
        type(self).steps += 1
        try:
            outcome = call()
        except b.InputError:
            return "InputError"
        except b.BursarError as problem:
            return type(problem).__name__
        return "replayed" if outcome.replayed else "ok"

    @rule(name=NAMES, scale=SCALES, count=st.integers(1, 5), key=KEYS)
    def spend(self, name: str, scale: int, count: int, key: str) -> None:
        """Charge a few Laplaces."""
        expected = self.model.spend(name, Fraction(1, scale), count, key)
        assert self.ask(lambda: self.ledger.spend(name, b.Laplace(scale=scale) * count, key=key)) == expected

    @rule(name=NAMES, scale=SCALES, count=st.integers(1, 5), ttl=st.integers(1, 9), key=KEYS)
    def reserve(self, name: str, scale: int, count: int, ttl: int, key: str) -> None:
        """Hold a few."""
        expected = self.model.reserve(name, Fraction(1, scale), count, ttl * 1_000_000, key)

        def call() -> Any:
            made = self.ledger.reserve(name, b.Laplace(scale=scale) * count, ttl=ttl, key=key)
            self.ids[key] = (made.id, scale)
            return made

        assert self.ask(call) == expected

    @precondition(lambda self: self.ids)
    @rule(data=st.data(), count=st.integers(1, 4))
    def draw(self, data: st.DataObject, count: int) -> None:
        """Spend a part of what is held."""
        key = data.draw(st.sampled_from(sorted(self.ids)))
        id, scale = self.ids[key]
        expected = self.model.draw(key, count)
        assert self.ask(lambda: self.ledger.draw(id, b.Laplace(scale=scale) * count)) == expected

    @precondition(lambda self: self.ids)
    @rule(data=st.data())
    def close(self, data: st.DataObject) -> None:
        """Give the rest back."""
        key = data.draw(st.sampled_from(sorted(self.ids)))
        expected = self.model.close(key)
        assert self.ask(lambda: self.ledger.close(self.ids[key][0])) == expected

    @rule(seconds=st.integers(1, 6))
    def wait(self, seconds: int) -> None:
        """Time passes."""
        self.clock += seconds * 1_000_000
        self.model.now = self.clock

    @rule(name=st.sampled_from(["data", "team"]), frozen=st.booleans())
    def freeze(self, name: str, frozen: bool) -> None:
        """A steward freezes or thaws."""
        (self.ledger.freeze if frozen else self.ledger.thaw)(name, reason="test")
        self.model.scopes[name].frozen = frozen
        self.model.expire()

    @invariant()
    def same_balances(self) -> None:
        """After every step."""
        if not self.model.scopes:
            return
        self.model.expire()  # both show what is held now, whether or not somebody has written that down
        for name, scope in self.model.scopes.items():
            with self.ledger.store.reading() as reader:
                view = self.ledger.office.view(reader)
                (line,) = _single(view, view.scope(name)).lines
            assert (line.spent, line.held) == (scope.spent, scope.held), name
            assert scope.spent + scope.held <= scope.limit

    def teardown(self) -> None:
        """The journal adds up."""
        found = self.ledger.verify(reprice=True)
        assert found, str(found)
        self.ledger.shut()
        self.folder.cleanup()


def play(address: Callable[[], str], examples: int, length: int) -> int:
    """Run the machine; how many requests it made."""
    machine = type("Machine", (Machine,), {"address": staticmethod(address), "steps": 0})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples, stateful_step_count=length, deadline=None, phases=[Phase.generate, Phase.reuse]
        ),
    )
    return int(machine.steps)


def addresses(kind: str, folder: Path, server: str) -> Callable[[], str]:
    """A new empty ledger for each example."""
    count = iter(range(10**9))
    if kind == "memory":
        return lambda: "memory://"
    if kind == "sqlite":
        return lambda: f"sqlite:///{folder}/{next(count)}.db"

    def schema() -> str:
        import psycopg

        name = f"m{next(count)}x{folder.name.replace('-', '_')}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'CREATE SCHEMA "{name}"')  # type: ignore[arg-type]
        return f"{server}&options=-csearch_path%3D%22{name}%22"

    return schema


@pytest.mark.parametrize(("kind", "examples"), [("memory", 300), ("sqlite", 120), ("postgres", 40)])
def test_the_ledger_is_the_model(kind: str, examples: int, tmp_path: Path, server: str, figures: Any) -> None:
    """Equal answers to random requests, equal balances after each, and a journal that adds up."""
    steps = play(addresses(kind, tmp_path, server), examples, 30)
    assert steps > 100
    figures("random requests against a model", f"{kind} store", steps, 0)


@pytest.mark.soak
@pytest.mark.parametrize(("kind", "examples"), [("memory", 3000), ("sqlite", 1000), ("postgres", 300)])
def test_the_ledger_is_the_model_at_length(kind: str, examples: int, tmp_path: Path, server: str, figures: Any) -> None:
    """The same, for long."""
    figures(
        "random requests against a model",
        f"{kind} store",
        play(addresses(kind, tmp_path, server), examples, 80),
        0,
    )


def test_one_history_in_every_store(tmp_path: Path, postgres: str) -> None:
    """The same requests at the same times give the same journal, hash by hash, whatever the store."""
    journals = []
    for number, address in enumerate(("memory://", f"sqlite:///{tmp_path}/a.db", postgres)):
        with Ledger(address, anchor=str(tmp_path / f"anchor{number}"), clock=lambda: 10**6, alert=None) as ledger:
            ledger.open("data", epsilon=1, delta="1e-6", key="open")
            ledger.open("team", parent="data", rho="1/10", key="team")
            ledger.spend("team", b.Gaussian(sigma=20.0), key="a")
            ledger.spend("data", b.Laplace(scale=50) * 3, key="b")
            held = ledger.reserve("team", b.Gaussian(sigma=40.0) * 4, ttl=10**6, key="c")
            ledger.draw(held, b.Gaussian(sigma=40.0), key="d")
            ledger.close(held, key="e")
            with pytest.raises(b.BudgetExceeded):
                ledger.spend("team", b.Gaussian(sigma=1.0), key="f")
            journals.append([(row.entry.kind, row.hash) for row in ledger.entries("data")])
    assert journals[0] == journals[1] == journals[2]
