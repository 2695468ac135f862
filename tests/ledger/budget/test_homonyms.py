"""A release is what its text says: classes of one's own, whatever they are called, are never charged as another."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.composition import Composition
from bursar.guarantees import Claim, Tightness
from bursar.ledger.budget.currencies import currency_with
from bursar.ledger.budget.release import Release
from bursar.ledger.ledger import Ledger
from bursar.mechanisms import CATALOGUE, plugins
from support.catalogue import EXAMPLES
from support.packages import Packages, forget


class Twice(b.Laplace):
    """An honest subclass: two releases in one, so its ε is twice as large."""

    def claims(self) -> tuple[Claim, ...]:
        """2/scale."""
        return (Claim(b.PureDP(self.scale.reciprocal().times(2)), "declared"),)

    def losses(self) -> Any:
        """Not known."""
        raise b.errors.LossUnknown("two at once")


@dataclass(frozen=True, init=False, repr=False)
class Cheap(b.Mechanism):
    """A class of one's own with a catalogue's name, and a small claim."""

    name = "laplace"
    scale: int
    relation = "add_remove"

    def __init__(self, scale: int) -> None:
        self._set(scale=scale)

    def claims(self) -> tuple[Claim, ...]:
        """Next to nothing."""
        return (Claim(b.PureDP("0.01"), "declared", Tightness.BOUND),)


class Sly(b.Laplace):
    """Says that it is equal to whatever it is compared with."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(b.Laplace(scale=self.scale))


@dataclass(frozen=True, init=False, repr=False)
class OwnPromise(b.PureDP):
    """A promise of one's own inside a declaration."""


def odd_ones() -> list[Any]:
    """Subclasses, wrappers around them, homonyms, and liars."""
    return [
        Twice(scale=1),
        Cheap(scale=1),
        Sly(scale=1),
        b.Group(Twice(scale=1), size=2),
        b.PoissonSampled(Twice(scale=1), rate=0.5),
        b.Disjoint(Twice(scale=1), b.Laplace(scale=2)),
        b.Declared(OwnPromise("0.1")),
        Twice(scale=1) * 3 + b.Gaussian(sigma=2),
        Composition([(b.Laplace(scale=1), 1), (Sly(scale=1), 1)]),
    ]


@pytest.mark.parametrize("what", odd_ones(), ids=lambda what: type(what).__name__)
def test_what_its_text_does_not_mean_is_not_charged_nor_written(what: Any) -> None:
    """Charging and JSON say to declare or register it; people still get a text and an account."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=5)
        held = ledger.reserve("data", b.Laplace(scale=1) * 2, ttl=9)
        charged = ledger.draw(held, b.Laplace(scale=1))
        for verb in (
            lambda: ledger.spend("data", what),
            lambda: ledger.quote("data", what),
            lambda: ledger.reserve("data", what, ttl=9),
            lambda: ledger.open("other", epsilon=1, spent=[what]),
            lambda: ledger.draw(held, what),
            lambda: ledger.correct(charged, what, reason="more"),
            lambda: ledger.run("data", what, lambda: pytest.fail("it ran"), key="k"),
        ):
            with pytest.raises(b.errors.CostInvalid, match=r"declared\(…\).*entry point"):
                verb()
        assert ledger.last("data") == 3
    with pytest.raises(b.errors.SpecError, match="declared"):
        b.to_json(what)
    assert "(" in str(what)
    if not isinstance(what, b.Declared):  # a promise of one's own has no conversions
        assert b.account(what, delta=1e-6).epsilon.upper > 0


def test_a_small_claim_under_a_known_name_opens_no_door() -> None:
    """It is refused, and twenty Laplaces do not pass on ε = 1 because of it."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        with pytest.raises(b.errors.CostInvalid):
            ledger.spend("data", Cheap(scale=1))
        ledger.spend("data", b.Laplace(scale=1))
        with pytest.raises(b.BudgetExceeded):
            ledger.spend("data", b.Laplace(scale=1))


def test_a_subclass_after_its_base_is_not_taken_for_it() -> None:
    """Nor the other way round: what is remembered of one is nothing to the other."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=10)
        ledger.spend("data", b.Laplace(scale=1))
        with pytest.raises(b.errors.CostInvalid, match=r"Twice is a class of your own"):
            ledger.spend("data", Twice(scale=1))
        ledger.spend("data", b.Laplace(scale=1))
        assert ledger.show("data").line("epsilon").spent == 2


def test_a_composition_merges_only_what_is_the_same() -> None:
    """A class that calls itself equal to another stays a term of its own."""
    both = b.Laplace(scale=1) + Sly(scale=1)
    assert [term.count for term in both.terms] == [1, 1]
    assert {type(term.mechanism) for term in both.terms} == {b.Laplace, Sly}
    wrapped = b.Group(b.Laplace(scale=1), size=2) + b.Group(Sly(scale=1), size=2)
    assert len(wrapped.terms) == 2


def test_no_subclass_of_the_catalogue_passes_for_it() -> None:
    """A law over every mechanism: the same fields in a subclass are refused, the value itself is charged."""
    kinds = {type(one): one for one in EXAMPLES}
    assert len(kinds) == len(CATALOGUE)
    for kind, one in kinds.items():
        changed = object.__new__(type(kind.__name__, (kind,), {}))
        for field in dataclasses.fields(one):
            object.__setattr__(changed, field.name, getattr(one, field.name))
        with pytest.raises(b.errors.SpecError):
            b.to_json(changed)
        assert b.from_json(b.to_json(one)) == one * 1


def test_what_is_put_upon_an_object_is_not_charged() -> None:
    """Claims, or what was remembered of them, that an object of the catalogue holds beside its fields: the text would
    not say them.
    """
    for name, put in (
        ("claims", lambda: (Claim(b.PureDP("2"), "declared"),)),
        ("_promises", {b.PureDP: b.PureDP("0.01")}),
    ):
        what = b.Laplace(scale=1)
        what.__dict__[name] = put
        with Ledger("memory://", alert=None) as ledger:
            ledger.open("data", epsilon=2)
            with pytest.raises(b.errors.CostInvalid, match=f"laplace holds {name} beside its fields"):
                ledger.spend("data", what)


MODULE = '''
from dataclasses import dataclass

import bursar as b
from bursar.guarantees import Claim
from bursar.numerics.real import Real, read


@dataclass(frozen=True, init=False, repr=False)
class TwiceLaplace(b.Mechanism):
    """Two Laplace releases in one."""

    name = "twice_laplace"
    scale: Real
    relation = "add_remove"

    def __init__(self, scale):
        self._set(scale=read(scale, "scale"))

    def claims(self):
        return (Claim(b.PureDP(self.scale.reciprocal().times(2)), "declared"),)


class Plain:
    name = "plain_one"
'''


@pytest.fixture
def install(packages: Packages) -> Callable[..., None]:
    """A package of this name with the module above, which offers these."""
    return lambda package, offers: packages.install(package, MODULE, offers)


def test_a_plug_in_is_read_written_charged_and_shown(install: Callable[..., None]) -> None:
    """Under its own name, in text, JSON, journal and statement; with its own price."""
    install("fixture_one", {"twice_laplace": "TwiceLaplace"})
    what = b.parse("twice_laplace(scale=4)*2")
    assert str(what) == "twice_laplace(scale=4)*2"
    assert b.from_json(b.to_json(what)) == what
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.spend("data", what)
        assert ledger.show("data").line("epsilon").left == 0
        assert ledger.show("data").released == (("twice_laplace(scale=4)*2", 1),)
        assert ledger.verify(reprice=True)


def test_names_that_are_taken_are_refused(install: Callable[..., None]) -> None:
    """The catalogue's names keep their meaning; a name that two packages offer has none."""
    install("fixture_one", {"twice_laplace": "TwiceLaplace", "laplace": "TwiceLaplace", "pure_dp": "TwiceLaplace"})
    assert plugins.plugins() == ["twice_laplace"]
    assert type(b.parse("laplace(scale=4)").terms[0].mechanism) is b.Laplace
    install("fixture_two", {"twice_laplace": "TwiceLaplace"})
    with pytest.raises(b.errors.SpecError, match="fixture_one and fixture_two"):
        b.parse("twice_laplace(scale=4)")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("plain_one", "Plain", "derives from"),
        ("other_name", "TwiceLaplace", "calls itself 'twice_laplace'"),
        ("missing", "Nothing", "cannot be loaded"),
        ("Loud", "TwiceLaplace", "lower-case"),
    ],
)
def test_plug_ins_that_cannot_be_used_say_why(install: Callable[..., None], name: str, value: str, said: str) -> None:
    """No such class, another name, no mechanism: a sentence, when the name is used."""
    install("fixture_one", {name: value})
    with pytest.raises(b.errors.SpecError, match=said):
        b.parse(f"{name}(scale=4)")


def test_without_its_plug_in_a_ledger_is_read_and_verified(
    install: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Show and verify work; repricing and charging refuse by name."""
    install("fixture_one", {"twice_laplace": "TwiceLaplace"})
    with Ledger(f"sqlite:///{tmp_path}/a.db", alert=None) as ledger:
        ledger.open("data", epsilon=1, delta="1e-6")
        ledger.spend("data", b.parse("twice_laplace(scale=40)"))
        held = ledger.reserve("data", b.parse("twice_laplace(scale=40)*2"), ttl=1000)
    monkeypatch.undo()
    forget()
    with Ledger(f"sqlite:///{tmp_path}/a.db", alert=None) as ledger:
        shown = ledger.show("data")
        assert shown.odometer is None
        assert shown.line("epsilon").spent > 0
        assert ledger.verify()
        problems = ledger.verify(reprice=True).problems
        assert len(problems) == 2
        assert all("twice_laplace" in problem for problem in problems)
        with pytest.raises(b.errors.SpecError, match="twice_laplace"):
            ledger.spend("data", "twice_laplace(scale=40)")
        ledger.draw(held)  # all that is left: it was priced when it was reserved


def test_repricing_names_what_was_charged_under_a_known_name() -> None:
    """A journal in which a homonym paid less, or more, than the catalogue's mechanism: both are named."""
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("data", epsilon=9)
        for claim in ("0.01", "2"):
            currency_with.cache_clear()
            ledger.office.catalogue = type(ledger.office.catalogue)()
            release = Release("laplace(scale=1)", None, "add_remove", (("laplace(scale=1)", 1),))
            release.__dict__["mechanisms"] = (b.Declared(b.PureDP(claim)),)
            ledger.spend("data", release)
        currency_with.cache_clear()
        ledger.office.catalogue = type(ledger.office.catalogue)()
        ledger.spend("data", b.Laplace(scale=1))
        found = ledger.verify(reprice=True)
        assert len(found.problems) == len(found.notices) == 1
        assert "entry 2 charged data less than its price, or something else was charged" in found.problems[0]
        assert "entry 3 charged data more than today's price, or something else" in found.notices[0]
        assert "laplace(scale=1)" in found.notices[0]
        assert all(said in str(found) for said in (*found.problems, *found.notices))
