"""One test for each term of the engines' error budgets, with parameters that make that very term large: without it the
interval would exclude the truth, which is computed apart, in balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import bursar as b
from bursar.guarantees.gdp import gaussian_delta
from bursar.losses._base import Loss
from bursar.losses.engines import lattice as lattices
from bursar.losses.engines.contour import engine as contours
from bursar.losses.engines.contour import solve as contour_solve
from bursar.losses.engines.contour.factors import GaussianFactor, Moments
from bursar.losses.engines.lattice import ends as lattice_ends
from bursar.losses.engines.lattice import engine as lattice_engine
from bursar.losses.engines.lattice.engine import Lattice
from bursar.losses.engines.lattice.grid import gridded, places
from bursar.losses.laws.gaussian import GaussianLoss
from bursar.losses.laws.table import Row, TableLoss
from bursar.numerics import trusted
from bursar.numerics.balls import Ball, working
from bursar.numerics.lattice import short
from support import oracle

BITS = 160
ONE = GaussianFactor(arb(1))
Truth = Callable[[float], Ball]


def gaussian(x: float) -> Ball:
    """δ(ε) for μ = 1, by its closed form."""
    return gaussian_delta(arb(1), arb(x))


def responses(epsilon: Ball, count: int) -> Truth:
    """δ(ε) of equal randomized responses, by their binomials."""
    truth, lie = 1 / (1 + (-epsilon).exp()), 1 / (1 + epsilon.exp())

    def at(x: float) -> Ball:
        odds = arb(x).exp()
        ways = ((truth ** (count - j) * lie**j, lie ** (count - j) * truth**j, j) for j in range(count + 1))
        return sum((math.comb(count, j) * (p - odds * q).max(arb(0)) for p, q, j in ways), arb(0))

    return at


def holds(contour: contours.Contour, truth: Truth, epsilons: Iterable[float], large: str, least: float) -> None:
    """The contour's interval contains the truth at each ε, and the term in question is as large as is claimed."""
    sizes = []
    for x in epsilons:
        lower, upper, errors = contour.evaluate(x)
        exact = truth(x)
        assert not exact < lower, (large, x)
        assert not exact > upper, (large, x)
        sizes.append(dict(errors.terms())[large])
    assert max(sizes) > least


# ---- the contour engine


def contour_truncation() -> None:
    """Few nodes and a long period: what lies beyond the last node is a hundredth of δ, with either sign."""
    for log_delta, tau in ((10.0, 2.0), (12.0, 3.0)):
        contour = contours.Contour([ONE], arb(0), 2.0, log_delta, tau, ladder=[tau / 2, tau + 0.3])
        holds(contour, gaussian, (1.5 + 0.1 * i for i in range(30)), "truncation", 1e-3)


def contour_below() -> None:
    """A longer sum whose last terms lift it: the lower end gives them up too."""
    contour = contours.Contour([ONE], arb(0), 2.0, -1.0, 2.0)
    holds(contour, gaussian, (1.5 + 0.1 * i for i in range(30)), "truncation", 1e-8)


def contour_aliasing() -> None:
    """A short period: the images of the law, all of them positive, are no part of δ."""
    contour = contours.Contour([ONE], arb(0), 2.0, 10.0, 2.0)
    holds(contour, gaussian, (1.5 + 0.1 * i for i in range(30)), "aliasing", 1e-3)


def contour_cut() -> None:
    """A sampled Gaussian that is cut where a millionth of its mass lies beyond: δ may be larger by that."""
    loss = b.PoissonSampled(b.Gaussian(1), "0.1").losses().remove
    exact = oracle.Sampled(arb(1), arb("0.1"), 10, -20.0, removed=True)
    factor = loss.contour_factor(10, 20.0)
    assert factor is not None
    contour = contours.Contour([factor], arb(0), 1.5, -6.0, 1.0)
    with ctx.workprec(64):  # nine digits are enough here
        truths = {x: oracle.delta([(exact, 10)], arb(x), 3.0, 0.3, small="1e-9") for x in (1.5, 2.5)}
    holds(contour, truths.__getitem__, truths, "cut", 1e-3)


class Blurred(GaussianFactor):
    """Moments that are off by a millionth, as they say themselves."""

    side = 1

    def moments(self, tau: float, frequencies: Any) -> Moments:
        """Off, and said so."""
        made = super().moments(tau, frequencies)
        return Moments(made.drift, made.log_size + self.side * 1e-6, made.turn, made.error + 1.01e-6)


class Lowered(Blurred):
    """The same, below."""

    side = -1


def contour_quadrature() -> None:
    """Moments that are off by what they say, above and below."""
    for factor in (Blurred(arb(1)), Lowered(arb(1))):
        contour = contours.Contour([factor], arb(0), 4.0, -12.0, 5.0)
        holds(contour, gaussian, (4.0, 4.1, 4.2), "quadrature", 1e-6)


class Exact(GaussianFactor):
    """Moments without any error: the frequencies have so few bits that their squares are floats."""

    def moments(self, tau: float, frequencies: Any) -> Moments:
        """−s²/2, exactly."""
        size = -0.5 * frequencies * frequencies
        assert all(arb(found) == -(arb(s) ** 2) / 2 for s, found in zip(frequencies, size, strict=True))
        return Moments((2 * arb(tau) + 1) / 2, size, np.zeros_like(size), np.zeros_like(size))


def contour_rounding() -> None:
    """Far below the saddle the terms are a million million times their sum, whose last digits are all it has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contours, "short", lambda x, bits: short(x, 8))
        for epsilon, tau in ((8.0, 1.0), (10.0, 3.0)):
            contour = contours.Contour([Exact(arb(1))], arb(0), epsilon, float(gaussian(epsilon).log()), tau)
            holds(contour, gaussian, (epsilon + 0.01 * i for i in range(20)), "rounding", 1e-5)


# ---- the lattice engine


def composed(
    loss: Loss, count: int, step: float, tau: float, *, depth: float = 60.0, floor: float = -math.inf
) -> Lattice:
    """So many copies of a loss on a grid, not yet composed."""
    law = loss.lattice_law(depth)
    assert law is not None
    return Lattice([gridded(places(law, step, floor), count, step, tau)], step, tau, arb(0))


def encloses(lattice: Lattice, below: Truth, above: Truth, epsilons: Iterable[float], precision: float = 1e-3) -> None:
    """Both ends at each ε, for the least and the largest reading of the parameters."""
    for x in epsilons:
        assert not below(x) < lattice.lower(x, -3.0, precision), x
        assert not above(x) > lattice.upper(x), x


def term(lattice: Lattice, name: str, truth: Truth) -> float:
    """A term of the budget of the last evaluation, relative to δ there."""
    return dict(lattice.budget(float(truth(lattice.last).log())))[name]


def two(x: float) -> Ball:
    """δ(ε) of two Gaussians with μ = 1."""
    return gaussian_delta(arb(2).sqrt(), arb(x))


def lattice_truncation() -> None:
    """A law that is known to four per cent of its mass: what is not shown may have any loss."""
    lattice = composed(GaussianLoss(arb(1)), 2, 0.01, 2.0, depth=4.0)
    lattice.compose(1.0, -2.0, 1e-3, 1 << 20)
    encloses(lattice, two, two, (0.5 + 0.2 * i for i in range(10)))
    assert term(lattice, "truncation", two) > 0.05


def lattice_floor() -> None:
    """Losses below a floor that are left out: sums with one of them among others still count."""
    for floor in (0.0, 0.5):
        lattice = composed(GaussianLoss(arb(1)), 2, 0.01, 2.0, floor=floor)
        lattice.compose(2.0, -3.0, 1e-2, 1 << 20)
        encloses(lattice, two, two, (1.5 + 0.1 * i for i in range(10)), 1e-2)
        # Chernoff bounds at smaller tilts, where low losses weigh more, count them too: K(t) is t(t + 1) here
        assert all(
            lattice.head + more >= arb(tilt) * (arb(tilt) + 1) for tilt, more in lattice.ladder.items() if tilt < 2
        )


def lattice_discretisation() -> None:
    """A coarse grid: the gridded losses are larger, so the lower end pays for the grid."""

    def four(x: float) -> Ball:
        return gaussian_delta(arb(2), arb(x))

    lattice = composed(GaussianLoss(arb(1)), 4, 0.5, 1.5)
    lattice.compose(1.0, -2.0, 0.5, 1 << 20)
    encloses(lattice, four, four, (0.1 + 0.17 * i for i in range(10)), 0.5)
    assert lattice.discretisation > 0.1


def lattice_aliasing() -> None:
    """A window shorter than the law: what is above it wraps around into it, and is missed where it was."""
    exact = responses(arb(1), 330)
    lattice = composed(b.RandomizedResponse(1).losses().remove, 330, 1.0, 0.7)
    lattice._room = lambda epsilon, log_delta: 1.0  # type: ignore[method-assign]
    lattice.compose(150.0, -3.0, 1e-3, 1 << 20)
    assert lattice.size == 128
    encloses(lattice, exact, exact, (150 + 5.3 * i for i in range(17)))


def lattice_quadrature() -> None:
    """μ is known to four digits: so are the masses, and both readings lie between the ends."""
    lattice = composed(GaussianLoss(arb(1, 1e-4)), 1, 0.002, 0.5)
    lattice.compose(1.0, -2.0, 1e-4, 1 << 20)

    def less(x: float) -> Ball:
        return gaussian_delta(1 - arb("1e-4"), arb(x))

    def more(x: float) -> Ball:
        return gaussian_delta(1 + arb("1e-4"), arb(x))

    encloses(lattice, less, more, (0.05 + 0.37 * i for i in range(8)), 1e-4)
    assert term(lattice, "quadrature", more) > 1e-4


def lattice_slack() -> None:
    """Atoms whose places are known to three digits: next to an atom of the sum the ends look to either side."""
    wide = arb(1, 1e-3)
    truth, lie = 1 / (1 + (-wide).exp()), 1 / (1 + wide.exp())
    lattice = composed(TableLoss((Row(truth, lie, wide), Row(lie, truth, -wide))), 6, 0.25, 0.5)
    lattice.compose(1.0, -2.0, 1e-3, 1 << 20)
    assert lattice.slack > 5e-3
    less, more = responses(arb(1) - arb("1e-3"), 6), responses(arb(1) + arb("1e-3"), 6)
    encloses(lattice, less, more, (0.05 + 0.37 * i for i in range(16)))


def lattice_rounding() -> None:
    """Transforms that are off by what they say, there and back."""
    exact = responses(arb(1), 12)

    def backward(off: float, spectrum: Any, n: int) -> tuple[Any, float]:
        found, error = trusted.backward(spectrum, n)
        return found + off, error + 1.01e-9

    def forward(off: float, x: Any) -> tuple[Any, float]:
        found, error = trusted.forward(x)
        return found * (1 + off), error + 1.01e-9

    for blurred in (backward, forward):
        for off in (1e-9, -1e-9):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(lattice_engine, blurred.__name__, partial(blurred, off))
                lattice = composed(b.RandomizedResponse(1).losses().remove, 12, 1.0, 1.0)
                lattice.compose(3.0, -3.0, 1e-3, 1 << 20)
                encloses(lattice, exact, exact, (0.5 + 0.9 * i for i in range(12)))


CONTOUR = {
    "truncation": (contour_truncation, contour_below),
    "aliasing": (contour_aliasing,),
    "cut": (contour_cut,),
    "quadrature": (contour_quadrature,),
    "rounding": (contour_rounding,),
}
LATTICE = {
    "discretisation": (lattice_discretisation,),
    "aliasing": (lattice_aliasing,),
    "truncation": (lattice_truncation,),
    "quadrature": (lattice_quadrature, lattice_floor, lattice_slack),
    "rounding": (lattice_rounding,),
}


def cases(terms: dict[str, tuple[Callable[[], None], ...]]) -> Sequence[Any]:
    """Each of them by its name."""
    return [pytest.param(check, id=check.__name__) for checks in terms.values() for check in checks]


@pytest.mark.parametrize("check", cases(CONTOUR))
def test_each_term_of_the_contours_budget_is_needed(check: Callable[[], None]) -> None:
    """With that term large the interval still contains the truth."""
    with working(BITS):
        check()


@pytest.mark.parametrize("check", cases(LATTICE))
def test_each_term_of_the_lattices_budget_is_needed(check: Callable[[], None]) -> None:
    """With that term large both ends still are on their sides of the truth."""
    with working(BITS):
        check()


def test_no_term_is_without_a_test() -> None:
    """Every name in a budget has its test above; ``cells`` has its own in test_lattice.py."""
    with working():
        found = lattices.epsilon_at([(b.Laplace(1).losses().remove, 2)], arb("1e-3"), 1e-3)
        summed = contour_solve.epsilon_at([(b.Gaussian(1).losses().remove, 2)], arb("1e-3"))
    assert set(dict(found.errors)) == set(LATTICE)
    assert set(dict(summed.errors)) == set(CONTOUR)


# ---- the searches for ε


def test_the_contours_search_looks_at_whole_balls() -> None:
    """Ends that are known to a tenth, and a slope that promises too much: what is returned is proved by all of it."""
    delta = arb("0.1")

    def evaluate(x: float) -> tuple[Ball, Ball, contours.Errors]:
        value = (-arb(x)).exp() * arb(1, 0.1)
        return value, value, contours.Errors(0, 0, 0, 0, 0)

    contour: Any = SimpleNamespace(
        evaluate=evaluate, rough=lambda x: (-x, -1e3), tau=1.0, frequencies=np.zeros(3), factors=[]
    )
    found = contour_solve._certified(contour, math.log(10), delta, math.log(0.1))
    assert evaluate(found.upper)[1] <= delta
    assert evaluate(found.lower)[0] > delta


@pytest.mark.parametrize(
    "exact",
    [lambda x: 1 / (1 + arb(x)) ** 2, lambda x: (-(arb(x) ** 2) / 2).exp(), lambda x: 1 / (1 + arb(x) ** 3)],
    ids=["slow", "fast", "bent"],
)
def test_the_lattices_search_looks_at_whole_balls(exact: Truth) -> None:
    """A falling function that is known to a tenth: its ends are certainly below and certainly above δ."""
    delta = arb("0.1")

    def falling(x: float) -> Ball:
        return exact(x) * arb(1, 0.1)

    for start in (1.0, 2.0, 4.0):
        low, high = lattice_ends._ends(falling, delta, math.log(0.1), 0.0, start, 1e-6)
        assert low is not None
        assert falling(low) > delta
        assert falling(high) <= delta
