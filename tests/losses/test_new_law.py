"""A law that the house has never seen, written down here and nowhere else: both engines, the residue filter and the
mechanisms answer for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb

import bursar as b
from bursar.losses import Loss, laws, symmetric
from bursar.losses.engines import contour, lattice, meet
from bursar.losses.engines.answer import Precision
from bursar.losses.engines.contour.factors import Care, ClosedFactor, Decay, uniform_decay
from bursar.losses.places import SLACK, WIDEST, Density, Law, itself, spread
from bursar.losses.residue import certified, law_of_directions, smallest_charge
from bursar.mechanisms import Mechanism
from bursar.numerics.arrays import Array
from bursar.numerics.balls import Ball, ComplexBall, ComplexLike, RealLike, ball, complex_ball, down, working
from bursar.numerics.quadrature import integral
from bursar.numerics.trusted import UNIT
from support.where import SOURCE


@dataclass(frozen=True)
class Plain(Loss):
    """Uniform outputs on [0, 1] against density ∝ e^{−cx}: L is uniform on [a, a + c], a = ln((1 − e^{−c})/c).

    It says what every law must say, and answers no question.
    """

    c: Ball

    @property
    def a(self) -> Ball:
        """The smallest loss."""
        return (-(-self.c).expm1() / self.c).log()

    def profile(self, epsilon: RealLike) -> Ball:
        """((a + c − ε) − (1 − e^{ε−a−c}))/c inside the range, 0 above, 1 − e^ε below."""
        x, top = ball(epsilon), self.a + self.c
        if x >= top:
            return arb(0)
        return -x.expm1() if x <= self.a else ((top - x) + (x - top).expm1()) / self.c

    def cdf(self, x: RealLike) -> Ball:
        """(x − a)/c, clipped."""
        return ((ball(x) - self.a) / self.c).max(arb(0)).min(arb(1))

    def support(self) -> tuple[Ball, Ball]:
        """[a, a + c]."""
        return self.a, self.a + self.c

    def mean(self) -> Ball:
        """a + c/2."""
        return self.a + self.c / 2

    def variance(self) -> Ball:
        """c²/12."""
        return self.c**2 / 12

    def cumulant(self, t: ComplexLike) -> ComplexBall:
        """ta + ln((e^{tc} − 1)/(tc)), continued through 0."""
        z = complex_ball(t)
        if z.contains(0):
            return (integral(lambda x, _: (z * x).exp(), self.support()) / self.c).log()
        return z * self.a + ((z * self.c).expm1() / (z * self.c)).log()

    def sample(self, rng: np.random.Generator, size: int) -> Array:
        """Uniform losses."""
        return rng.uniform(float(self.a), float(self.a + self.c), size)


class UniformFactor(ClosedFactor):
    """The closed form of the cumulant function; the tilted density rises, so it lies above its value at the left."""

    def __init__(self, loss: Plain, count: int) -> None:
        super().__init__(loss, count)
        self.smooth, self.law = True, loss

    def decay(self, tau: float, care: Care) -> Decay:
        """From one uniform piece below the tilted density."""
        share = (arb(tau) * self.law.a - self.law.cumulant(tau).real).exp()
        return uniform_decay([[(max(down(share), 0.0), down(self.law.c))]], self.count)


@dataclass(frozen=True)
class Offering(Plain):
    """The same law, which tells the engines what it knows."""

    def contour_factor(self, count: int, log_delta: float) -> UniformFactor:
        """The closed form."""
        return UniformFactor(self, count)

    def lattice_law(self, depth: float) -> Law:
        """The density of the loss itself."""
        low, high, doubt = float(self.a), float(self.a + self.c), spread(self.c) + 8 * UNIT

        def log_density(v: Array) -> tuple[Array, Array]:
            return np.full_like(v, -np.log(float(self.c))), np.full_like(v, 4 * doubt)

        def loss(v: Array) -> tuple[Array, Array]:
            return itself(v)[0], np.full_like(v, 4 * doubt * (abs(low) + abs(high)))

        return Law(densities=(Density(low, high, WIDEST, log_density, loss, lambda g: g),), log_lost=SLACK - depth)


@dataclass(frozen=True, repr=False)
class Sloped(Mechanism):
    """A mechanism with that loss in both directions."""

    relation: str = "add_remove"
    name = "sloped"

    def claims(self) -> tuple[Any, ...]:
        """None."""
        return ()

    def losses(self) -> Any:
        """The law of this file."""
        return symmetric(Offering(arb(1) / 2), attained=False)


def composed(law: Loss, count: int) -> list[tuple[Loss, int]]:
    """So many copies beside three Gaussians."""
    return [(law, count), (b.Gaussian(2).losses().remove, 3)]


@pytest.mark.parametrize("count", [1, 4, 30])
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-10"])
def test_both_engines_answer_for_a_law_of_your_own(count: int, delta: str) -> None:
    """They agree with each other to a ten-thousandth, and with the same pair given as two formulas."""
    with working():
        losses = composed(Offering(arb(1) / 2), count)
        summed = contour.epsilon_at(losses, arb(delta))
        gridded = lattice.epsilon_at(losses, arb(delta), 1e-4)
        known = b.Densities("1", "exp(-x/2)", low=0, high=1).losses().remove
        other = lattice.epsilon_at(composed(known, count), arb(delta), 1e-3)
    assert summed.engine == "contour"
    assert summed.width < 1e-6
    assert gridded.width < 1e-4
    for first, second in ((summed, gridded), (summed, other)):
        assert first.lower <= second.upper
        assert second.lower <= first.upper


@pytest.mark.parametrize("law", [Plain, Offering])
def test_one_copy_is_its_own_profile(law: type[Plain]) -> None:
    """On a grid, whether the law says where its mass lies or has only its profile to show."""
    with working():
        loss = law(arb(1) / 2)
        for x in (-0.1, 0.0, 0.1, 0.2):
            found, truth = lattice.delta_at([(loss, 1)], arb(x), 1e-3), loss.profile(x)
            assert found.lower <= truth
            assert found.upper >= truth
            assert found.width < 1e-2


def test_a_law_that_answers_nothing_is_served_by_its_profile() -> None:
    """The contour engine abstains and says why; the engines as one fall back to a grid."""
    with working():
        losses = composed(Plain(arb(1) / 2), 4)
        with pytest.raises(contour.NoContour, match="no fast certified moments are known for Plain"):
            contour.epsilon_at(losses, arb("1e-6"))
        plain = meet.epsilon_at([losses], arb("1e-6"), Precision(width=1e-3))
        best = meet.epsilon_at([composed(Offering(arb(1) / 2), 4)], arb("1e-6"), Precision())
    assert plain.engine in ("bands", "lattice")
    assert plain.lower <= best.upper
    assert best.lower <= plain.upper


def test_the_residue_filter_charges_for_it() -> None:
    """It has a certified charge, about its variance."""
    with working():
        law = law_of_directions(symmetric(Offering(arb(1) / 2)), 1e-17)
        charge = smallest_charge(law, 1.0, 1e-17)
    assert charge is not None
    assert certified(law, 1.0, charge, 1e-17)
    assert 0.25 / 12 < charge < 0.2


def test_a_mechanism_with_it_is_accounted_and_sampled() -> None:
    """The accountant and Poisson sampling take it as it is."""
    whole = b.account(Sloped() * 4 + b.Gaussian(2) * 3, delta="1e-6", theorems=["numerical"]).epsilon
    part = b.account(b.PoissonSampled(Sloped(), "1/10") * 4 + b.Gaussian(2) * 3, delta="1e-6", theorems=["numerical"])
    alone = b.account(b.Gaussian(2) * 3, delta="1e-6").epsilon
    assert alone.lower < part.epsilon.upper < whole.upper < float("inf")


# ---- nobody asks a law which one it is

CLOSED_DOORS = ("losses/engines", "losses/residue", "mechanisms")


def names_of_laws() -> set[str]:
    """Every class of a law."""
    found: set[str] = set()
    for path in Path(laws.__path__[0]).glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found |= {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    return found - {"Row"}


def asked(source: str, kinds: set[str]) -> Iterator[int]:
    """The lines in which ``isinstance``, ``issubclass``, ``type(…)`` or ``match`` tells one of these classes."""
    for node in ast.walk(ast.parse(source)):
        called = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass")
        compared = isinstance(node, ast.Compare) and any(
            isinstance(part, ast.Call) and getattr(part.func, "id", "") == "type" for part in ast.walk(node)
        )
        if called or compared or isinstance(node, ast.MatchClass):
            names = {getattr(part, "id", getattr(part, "attr", "")) for part in ast.walk(node)}
            if names & kinds:
                yield node.lineno


def test_engines_residue_and_mechanisms_ask_no_law_which_one_it_is() -> None:
    """No ``isinstance`` on a law or on a factor: a new law edits no ladder."""
    kinds = names_of_laws() | {"GaussianFactor", "ClosedFactor", "SampledFactor", "RareFactor"}
    assert {"TableLoss", "GaussianLoss", "SampledNormal", "SampledAdd", "DensityLoss"} <= kinds
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for folder in CLOSED_DOORS
        for path in sorted((SOURCE / folder).rglob("*.py"))
        for line in asked(path.read_text(encoding="utf-8"), kinds)
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "isinstance(loss, TableLoss)",
        "isinstance(loss, (int, laws.TableLoss))",
        "type(loss) is TableLoss",
        "match loss:\n    case TableLoss():\n        pass",
    ],
)
def test_such_a_question_is_seen(source: str) -> None:
    """In whatever form it is asked."""
    assert list(asked(source, {"TableLoss"}))


def test_engines_do_not_know_the_laws() -> None:
    """No module of the engines imports one, wherever the import stands."""
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in sorted((SOURCE / "losses/engines").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.Import, ast.ImportFrom)) and "losses.laws" in ast.unparse(node)
    ]
    assert found == []
