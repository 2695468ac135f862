"""`bursar.testing`: the laws hold for the catalogue and for a package of its own, and see what is broken."""

from __future__ import annotations

import math
import shutil
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.guarantees import Claim, Tightness
from bursar.ledger.ledger import Ledger
from bursar.losses import GaussianLoss, symmetric
from bursar.numerics.balls import ball
from bursar.testing import check
from bursar.theorems import THEOREMS, Abstain, Adaptivity, Bound, Theorem
from support.packages import Packages, forget

PLUGIN = Path(__file__).parents[2] / "examples" / "plugin"
BY_NAME = {theorem.id: theorem for theorem in THEOREMS}


@pytest.fixture
def staircase(packages: Packages, tmp_path: Path) -> Any:
    """The package of the examples, as an installer leaves it."""
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    place = packages.install("bursar_staircase", "", {})
    (place / "bursar_staircase.py").unlink()
    shutil.copytree(PLUGIN / "src" / "bursar_staircase", place / "bursar_staircase")
    groups = project["entry-points"].items()
    text = "\n".join(f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in offers.items()) for group, offers in groups)
    (place / "bursar_staircase-1.0.dist-info" / "entry_points.txt").write_text(text + "\n", encoding="utf-8")
    forget()
    import bursar_staircase.bernstein
    import bursar_staircase.staircase

    yield bursar_staircase
    for name in [name for name in sys.modules if name.startswith("bursar_staircase")]:
        del sys.modules[name]


def test_a_mechanism_and_a_theorem_of_ones_own(staircase: Any) -> None:
    """Found by entry points: parsed, accounted, planned, spent, shown and verified; asked by name only."""
    what = b.parse("staircase(epsilon=1/10, step=1/3)*500")
    report = b.account(what, delta="1e-6")
    assert 0 < report.epsilon.lower <= report.epsilon.upper < 50
    assert "bernstein" not in {row.id for row in report.rows}
    own = b.account(what, delta="1e-6", theorems=["bernstein", "numerical"])
    rows = {row.id: row.bound for row in own.rows}
    assert rows["numerical"].upper < rows["bernstein"].upper < 2 * rows["numerical"].upper
    assert b.plan("staircase(epsilon=?, step=1/3)*500", epsilon=1, delta="1e-6").report.epsilon.upper <= 1
    with Ledger("memory://", alert=None) as ledger:
        ledger.open("counts", epsilon="1", delta="1e-6")
        ledger.spend("counts", what.terms[0].mechanism * 2, key="first")
        assert "staircase" in str(ledger.entries("counts"))
        assert ledger.show("counts").line("pure").spent > 0
        assert ledger.verify(reprice=True)


def test_the_laws_hold_for_it(staircase: Any) -> None:
    """Both kinds, by one call each; the answer names the laws."""
    held = check(staircase.staircase.Staircase(1))
    assert {"comes_back", "a_ledger_charges_it", "the_profile_is_that_of_the_tail"} <= set(held.laws)
    assert "laws hold" in str(held)
    assert "contradicts_nobody" in check(staircase.bernstein.BERNSTEIN).laws


@pytest.mark.parametrize(
    "text",
    [
        "randomized_response(epsilon=1/10)",
        "gaussian(sigma=2, relation=replace_one)",
        "leaky_randomized_response(epsilon=1/2, delta=1e-7)",
        "poisson(randomized_response(epsilon=1), rate=0.1)",
        "declared(zcdp(rho=0.1))",
    ],
)
def test_the_laws_hold_for_the_catalogue(text: str) -> None:
    """Symmetric and other pairs, leaks, and a promise without a law."""
    assert check(b.parse(text).terms[0].mechanism)


@pytest.mark.parametrize("name", ["basic", "zcdp"])
def test_the_laws_hold_for_theorems(name: str) -> None:
    """Theorems of the house pass their own laws."""
    assert check(BY_NAME[name])


@dataclass(frozen=True)
class Odd(b.Mechanism):
    """Gaussian noise that says something else of itself."""

    name = "odd"
    relation = "add_remove"

    def claims(self) -> tuple[Claim, ...]:
        """μ = 1, which is true."""
        return (Claim(b.GDP(1), "DRS22", Tightness.TIGHT),)

    def losses(self) -> Any:
        """The law, which is true."""
        return b.Gaussian(sigma=1).losses()


@dataclass(frozen=True)
class Hopeful(Odd):
    """It promises half of what it costs."""

    def claims(self) -> tuple[Claim, ...]:
        """μ = ½, which is not true."""
        return (Claim(b.GDP("1/2"), "DRS22", Tightness.TIGHT),)


class Lazy(GaussianLoss):
    """A law that draws nothing but its mean."""

    def sample(self, rng: Any, size: int) -> Any:
        """The mean, many times."""
        return rng.normal(float(self.mean()), 1e-9, size)


class Bent(GaussianLoss):
    """A law whose profile is another one's."""

    def profile(self, epsilon: Any) -> Any:
        """Half of what its tail gives."""
        return super().profile(epsilon) / 2


@dataclass(frozen=True)
class Drawn(Odd):
    """Its law draws badly."""

    def losses(self) -> Any:
        """The lazy law."""
        return symmetric(Lazy(ball(1)))


@dataclass(frozen=True)
class Curved(Odd):
    """Its law contradicts itself."""

    def losses(self) -> Any:
        """The bent law."""
        return symmetric(Bent(ball(1)))


def test_a_class_that_cannot_be_pickled_is_named() -> None:
    """One that is written inside a function is found nowhere by its name."""

    class Inside(Odd):
        """Nobody can import it."""

    with pytest.raises(AssertionError, match="it cannot be pickled"):
        check(Inside())


def test_a_class_without_a_name_of_its_own_is_held_too() -> None:
    """What cannot be charged can be checked."""
    assert "comes_back" in check(Odd()).laws


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (Hopeful, "promises_agree_with_the_loss"),
        (Drawn, "a_draw_is_like_the_law"),
        (Curved, "the_profile_is_that_of_the_tail"),
    ],
)
def test_broken_mechanisms_are_seen(kind: type[b.Mechanism], law: str) -> None:
    """Each kind of lie is told by the law that it breaks."""
    with pytest.raises(AssertionError, match=rf"breaks \d+ laws:(.|\n)*- {law}: "):
        check(kind())


def made(answer: Callable[..., Any]) -> Theorem:
    """A theorem that answers so."""
    return Theorem("made", "made up", ("DR14",), Adaptivity.FIXED, answer)


BASIC = BY_NAME["basic"]


def half(composition: b.Composition, question: Any) -> Any:
    """Half of what basic composition says, which is too little for one release."""
    found = BASIC.answer(composition, question)
    return replace(found, lower=0.0, upper=found.upper / 2) if isinstance(found, Bound) else found


def once(composition: b.Composition, question: Any) -> Any:
    """Basic composition without counts."""
    return BASIC.answer(b.Composition((mechanism, 1) for mechanism, _ in composition.terms), question)


def raising(composition: b.Composition, question: Any) -> Any:
    """A theorem that raises where it should abstain."""
    raise ZeroDivisionError("no")


@pytest.mark.parametrize(
    ("answer", "law"),
    [
        (half, "contradicts_nobody"),
        (once, "counts_are_kept"),
        (raising, "answers_or_abstains"),
        (lambda c, q: Abstain(" "), "answers_or_abstains"),
        (lambda c, q: Bound(0.0, math.inf, "who knows") if c.count < 3 else 7, "answers_or_abstains"),
    ],
    ids=["half", "once", "raising", "silent", "seven"],
)
def test_broken_theorems_are_seen(answer: Callable[..., Any], law: str) -> None:
    """Each kind of mistake is told by the law that it breaks."""
    with pytest.raises(AssertionError, match=rf"- {law}: "):
        check(made(answer))


def test_only_mechanisms_and_theorems_are_checked() -> None:
    """Anything else is refused by name."""
    with pytest.raises(b.InputError, match="subject must be a mechanism or a theorem, not 'laplace'"):
        check("laplace")  # type: ignore[arg-type]


THEOREM = """
from bursar.theorems import Abstain, Adaptivity, Theorem
MINE = Theorem("{}", "mine", ("DR14",), Adaptivity.FIXED, lambda c, q: {})
OTHER = 7
"""


@pytest.mark.parametrize(
    ("name", "called", "value", "said"),
    [
        ("mine", "mine", "OTHER", "it is 7, no bursar.theorems.Theorem"),
        ("mine", "yours", "MINE", "it calls itself 'yours'"),
        ("mine", "mine", "NOTHING", "cannot be loaded"),
    ],
)
def test_theorems_that_cannot_be_used_say_why(
    packages: Packages, name: str, called: str, value: str, said: str
) -> None:
    """The package is named, and nothing is answered."""
    place = packages.install("fixture_theorem", THEOREM.format(called, "Abstain('no')"), {})
    info = place / "fixture_theorem-1.0.dist-info" / "entry_points.txt"
    info.write_text(f"[bursar.theorems]\n{name} = fixture_theorem:{value}\n", encoding="utf-8")
    forget()
    with pytest.raises(b.errors.SpecError, match=rf"mine of fixture_theorem.*{said}"):
        b.account(b.Laplace(1), delta=0, theorems=[name])


def test_a_theorem_of_ones_own_takes_no_name_and_gives_no_nonsense(packages: Packages) -> None:
    """`basic` stays what it is; what is neither bound nor abstention is refused; unknown names list the offers."""
    place = packages.install("fixture_theorem", THEOREM.format("mine", "7"), {})
    info = place / "fixture_theorem-1.0.dist-info" / "entry_points.txt"
    info.write_text("[bursar.theorems]\nbasic = fixture_theorem:MINE\nmine = fixture_theorem:MINE\n", encoding="utf-8")
    forget()
    assert b.account(b.Laplace(1), delta=0, theorems=["basic"]).epsilon.upper == 1
    with pytest.raises(b.InputError, match="mine of fixture_theorem answers 7, which is neither"):
        b.account(b.Laplace(1), delta=0, theorems=["mine"])
    with pytest.raises(b.InputError, match=r"unknown theorem 'nobody'; there are basic.*mine"):
        b.account(b.Laplace(1), delta=0, theorems=["nobody"])
