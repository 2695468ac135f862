"""The lattice engine against enumeration, closed forms, balls and the contour engine; and piece by piece."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from itertools import combinations_with_replacement
from math import factorial

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

import bursar as b
from bursar.losses import sampled
from bursar.losses._base import Loss
from bursar.losses.engines import contour, lattice
from bursar.losses.engines.contour import NoContour
from bursar.losses.engines.lattice.grid import NoLattice, gridded, gridded_profile, places
from bursar.numerics import normal
from bursar.numerics.balls import ball, working
from bursar.numerics.trusted import backward, forward
from bursar.theorems.numerical import composed
from support import oracle
from support.where import GOLDEN

COMPOSITIONS = json.loads((GOLDEN / "compositions.json").read_text())
TINY = arb("1e-25")


def directions(what: b.Composition | b.Mechanism) -> list[list[tuple[Loss, int]]]:
    """The composed losses of each direction."""
    terms = b.Composition([(what, 1)]).terms if isinstance(what, b.Mechanism) else what.terms
    return composed([(term.mechanism.losses(), term.count) for term in terms])


@pytest.mark.parametrize("case", COMPOSITIONS, ids=lambda case: f"{case['id']} {case['delta']}")
def test_every_golden_composition_lies_inside(case: dict[str, str], widened: object) -> None:
    """Forced through the lattice engine, every golden ε lies inside, at 1e-4 but where a count of a million or more
    asks for too fine a grid.
    """
    low, high = widened(case["epsilon"])
    with working():
        found = [
            lattice.epsilon_at(one, ball(Fraction(case["delta"])), 1e-4)
            for one in directions(b.parse(case["composition"]))
        ]
    assert max(one.lower for one in found) <= high
    top = max(found, key=lambda one: one.upper)
    assert top.upper >= low
    if case["id"] not in ("gauss-1e6", "count-1e9", "dpsgd-b"):
        assert top.width <= 1e-4


@pytest.mark.parametrize("delta", ["1e-6", "1e-8", "1e-10", "1e-12", "1e-14"])
@pytest.mark.parametrize("count", [10**2, 10**3, 10**4, 10**5, 10**6])
@pytest.mark.parametrize("engine", [contour, lattice], ids=["contour", "lattice"])
def test_d3_each_engine_alone_encloses_equal_gaussians(engine: object, count: int, delta: str) -> None:
    """n Gaussians of σ = √n are one of σ = 1: the closed form lies inside in every cell of the grid."""
    with working():
        loss = b.Gaussian(1).losses().remove
        # σ = √n as a ball: μ² is 1/n exactly
        part = [(type(loss)(1 / arb(count).sqrt()), count)]
        target = ball(Fraction(delta))
        found = engine.epsilon_at(part, target) if engine is contour else engine.epsilon_at(part, target, 1e-4)
        assert not loss.profile(arb(found.upper)) > target
        assert not loss.profile(arb(found.lower)) < target
    assert found.width <= (1e-6 if engine is contour else 1e-3)


def enumerated(parts: list[tuple[b.Mechanism, int]], *, removed: bool) -> list[tuple[arb, arb]]:
    """(p, q) of every multiset of outcomes, by the multinomial formula."""
    total = [(arb(1), arb(1))]
    for mechanism, count in parts:
        pair = mechanism.losses()
        rows = (pair.remove if removed else pair.add).rows
        outcomes = []
        for chosen in combinations_with_replacement(range(len(rows)), count):
            ways, p, q = factorial(count), arb(1), arb(1)
            for i, row in enumerate(rows):
                times = chosen.count(i)
                ways //= factorial(times)
                p, q = p * row.p**times, q * row.q**times
            outcomes.append((ways * p, ways * q))
        total = [(p * p2, q * q2) for p, q in total for p2, q2 in outcomes]
    return total


def check_atoms(seed: int) -> bool:
    """Random responses, leaks and tables, few enough to list every outcome; says whether ε was also found closely."""
    rng = random.Random(seed)
    close = True
    parts: list[tuple[b.Mechanism, int]] = []
    for _ in range(rng.randint(1, 3)):
        epsilon = f"{math.exp(rng.uniform(-4, 1)):.3g}"
        weights = [rng.randint(1, 9) for _ in range(3)]
        others = [rng.randint(1, 9) for _ in range(3)]
        kind = rng.choice(
            [
                b.RandomizedResponse(epsilon),
                b.LeakyRandomizedResponse(epsilon, f"{10 ** rng.uniform(-9, -2):.1e}"),
                b.Table([Fraction(w, sum(weights)) for w in weights], [Fraction(w, sum(others)) for w in others]),
            ]
        )
        parts.append((kind, rng.randint(1, 6)))
    delta = f"{10 ** -rng.uniform(0.3, rng.choice([4, 12])):.2e}"
    what = b.Composition(parts)
    with working(200):
        for removed, losses in zip((True, False), directions(what), strict=False):
            outcomes = enumerated(parts, removed=removed)

            def truth(x: arb) -> arb:
                return sum(((p - x.exp() * q).max(arb(0)) for p, q in outcomes), arb(0))

            target = ball(Fraction(delta))
            epsilon = arb(rng.uniform(0, 2))
            at = lattice.delta_at(losses, epsilon, 1e-4)
            assert not arb(at.upper) < truth(epsilon) * (1 - TINY), (seed, removed)
            assert not arb(at.lower) > truth(epsilon) * (1 + TINY), (seed, removed)
            try:
                found = lattice.epsilon_at(losses, target, 1e-4)
            except NoLattice:
                assert target <= sum((p for p, q in outcomes if q == 0), arb(0)) * (1 + TINY), seed
                continue
            assert not truth(arb(found.upper)) > target * (1 + TINY), (seed, removed, found)
            assert found.lower == 0 or not truth(arb(found.lower)) < target * (1 - TINY), (seed, removed, found)
            # next to the largest loss of several tables a grid may be too coarse to tell ε from below
            close = close and found.width < 0.01
    return close


def test_atoms_agree_with_enumeration() -> None:
    """Every outcome listed, δ and ε lie between the ends, which are mostly close together."""
    assert sum(check_atoms(seed) for seed in range(40)) >= 36


@given(st.integers(10_000, 10**12))
@settings(max_examples=15, deadline=None)
def test_any_atoms_agree_with_enumeration(seed: int) -> None:
    """The same for compositions that hypothesis draws."""
    check_atoms(seed)


def check_both(seed: int) -> bool:
    """A random mixture with something smooth in it: the two engines' intervals meet in both directions."""
    rng = random.Random(seed)

    def small(low: float, high: float) -> str:
        return f"{math.exp(rng.uniform(low, high)):.4g}"

    kinds = [
        lambda: b.Gaussian(small(-0.5, 4)),
        lambda: b.Laplace(small(-0.5, 4)),
        lambda: b.RandomizedResponse(small(-4, 0)),
        lambda: b.PoissonSampled(b.Gaussian(small(-1, 2)), small(-7, -0.7)),
        lambda: b.DiscreteLaplace(small(0, 3), sensitivity=rng.randint(1, 3)),
    ]
    parts = [(rng.choice(kinds)(), int(math.exp(rng.uniform(0, 7)))) for _ in range(rng.randint(1, 4))]
    delta = ball(Fraction(f"{10 ** -rng.choice([rng.uniform(1, 12), rng.uniform(1, 60)]):.2e}"))
    met = False
    with working():
        for losses in directions(b.Composition(parts)):
            try:
                first = contour.epsilon_at(losses, delta)
            except (NoContour, ArithmeticError):
                continue
            try:
                second = lattice.epsilon_at(losses, delta, 1e-3)
            except NoLattice:
                continue
            assert first.lower <= second.upper, (seed, first, second)
            assert second.lower <= first.upper, (seed, first, second)
            met = True
    return met


def test_the_engines_meet_on_random_mixtures() -> None:
    """Gaussians, Laplaces, responses, sampled and discrete noise together: no two intervals are apart."""
    assert sum(check_both(seed) for seed in range(40)) >= 20


@pytest.mark.soak
def test_the_engines_meet_on_many_random_mixtures() -> None:
    """The same over two thousand, and two thousand enumerations."""
    assert sum(check_atoms(seed) for seed in range(1000, 3000)) >= 1800
    assert sum(check_both(seed) for seed in range(1000, 3000)) >= 1000


@pytest.mark.parametrize(
    ("sigma", "rate", "count", "delta"),
    [("1", "0.01", 1000, "1e-6"), ("0.7", "0.2", 20, "1e-9"), ("3", "0.05", 300, "1e-20")],
)
def test_replaced_records_agree_with_balls(sigma: str, rate: str, count: int, delta: str) -> None:
    """The replace-one pair of the sampled Gaussian, composed, against flint's own integrals along a line."""
    loss = b.PoissonSampled(b.Gaussian(sigma, relation="replace_one"), rate).losses().remove
    target = ball(Fraction(delta))
    with working():
        found = lattice.epsilon_at([(loss, count)], target, 1e-5)
        near = (count * (loss.cumulant(arb(found.tilt)).real), count * loss.variance())

    class Part:
        def log_moment(self, t: object) -> object:
            return loss.cumulant(t)

    with ctx.workprec(100):
        spread = math.sqrt(float(near[1]))
        ends = [oracle.delta([(Part(), count)], arb(x), found.tilt, 1.5 * spread) for x in (found.lower, found.upper)]
    assert not ends[1] > target * (1 + arb("1e-12"))
    assert not ends[0] < target * (1 - arb("1e-12"))
    assert found.width <= 1e-4


CATALOGUE = [
    b.Gaussian(2),
    b.Laplace(2),
    b.RandomizedResponse("0.7"),
    b.LeakyRandomizedResponse("0.5", "0.01"),
    b.DiscreteGaussian(2, sensitivity=2),
    b.DiscreteLaplace(3, sensitivity=4),
    b.Declared(b.BoundedRange("0.9")),
    b.PoissonSampled(b.Gaussian(1), "0.1"),
    b.PoissonSampled(b.Laplace(1), "0.2"),
    b.PoissonSampled(b.LeakyRandomizedResponse(1, "0.01"), "0.3"),
    b.PoissonSampled(b.Gaussian(1, relation="replace_one"), "0.2"),
    b.PoissonSampled(b.DiscreteGaussian(2), "0.3"),
    b.PoissonSampled(b.PoissonSampled(b.Gaussian(1), "0.5"), "0.4"),
    b.PoissonSampled(b.PoissonSampled(b.Laplace(1), "0.5"), "0.4"),
]


@pytest.mark.parametrize("mechanism", CATALOGUE, ids=str)
@pytest.mark.parametrize("step", [0.3, 0.0101])
def test_one_loss_on_the_grid_is_its_profile_joined_up(mechanism: b.Mechanism, step: float) -> None:
    """At grid points the gridded law has the profile itself, within its stated error, tilted or not."""
    for loss in (mechanism.losses().remove, mechanism.losses().add):
        with working():
            law = loss.lattice_law(60.0)
            assert law is not None
            for tau in (0.0, 1.7):
                grid = gridded(places(law, step), 1, step, tau)
                at = step * (grid.first + np.arange(len(grid.weights)))
                masses = grid.weights * np.exp(grid.log_norm - tau * at)
                for j in range(0, len(at), max(len(at) // 7, 1)):
                    value = float(np.sum(masses[j:] * -np.expm1(at[j] - at[j:])))
                    truth = float(loss.profile(arb(float(at[j]))) - loss.infinite_mass())
                    slip = (
                        4 * grid.error * np.exp(max(grid.log_norm - tau * at[j], 0.0))
                        + math.exp(grid.log_lost)
                        + 2 * grid.slack
                    )
                    assert abs(value - truth) <= slip + 1e-15
                    assert at[j] < 0 or slip < 1e-9


def test_a_profile_alone_is_enough() -> None:
    """Where only the profile is known the grid joins it up, to the same masses."""
    loss = b.Laplace(2).losses().remove
    with working():
        direct = gridded(places(loss.lattice_law(60.0), 0.05), 3, 0.05, 1.3)
        through = gridded_profile(loss, 3, 0.05, 1.3, 60.0)
    place = {through.first + i: w * math.exp(through.log_norm) for i, w in enumerate(through.weights)}
    for i, weight in enumerate(direct.weights):
        assert weight * math.exp(direct.log_norm) == pytest.approx(place.get(direct.first + i, 0.0), abs=1e-13)


def test_the_price_of_the_grid_is_a_theorem() -> None:
    """Compositions of h-bounded-range releases, the worst the grid can add, keep within the zCDP that bounds them."""
    h, count = 0.1, 40
    with working():
        for share in (0.5, 0.3, 0.05):
            x = share * h
            up = (1 - (-arb(x)).exp()) / (1 - (-arb(h)).exp())
            losses = [(arb(h) - x, up), (-arb(x), 1 - up)]
            assert abs(sum((p * (-z).exp() for z, p in losses), arb(0)) - 1) < arb("1e-30")
            rho = count * arb(h) ** 2 / 8
            law = [
                (arb(math.comb(count, j)) * up**j * (1 - up) ** (count - j), j * arb(h) - count * arb(x))
                for j in range(count + 1)
            ]
            for y in (0.0, 0.1, 0.4, 1.0):
                delta = sum((p * (1 - (arb(y) - z).exp()).max(arb(0)) for p, z in law), arb(0))
                limit = (
                    (rho / 2).sqrt() if y == 0 else (-((arb(y) - rho) ** 2) / (4 * rho)).exp() if rho < y else arb(1)
                )
                assert delta <= limit


@pytest.mark.parametrize("size", [64, 1024, 2**16])
def test_transforms_keep_their_error_bound(size: int) -> None:
    """numpy's transforms against sums in extended precision at sampled frequencies: within a quarter of the bound."""
    rng = np.random.default_rng(size)
    for x in (rng.random(size), np.exp(-np.arange(size) / 9.0), np.eye(1, size, 3)[0]):
        values, error = forward(x)
        back, slip = backward(values, size)
        assert float(np.abs(back - x).max()) <= 2 * slip
        for k in rng.integers(0, size // 2 + 1, 20):
            turns = (np.arange(size, dtype=np.int64) * int(k)) % size
            angle = turns.astype(np.longdouble) * (2 * np.longdouble("3.14159265358979323846264338327950288") / size)
            exact = complex((x * np.cos(angle)).sum(), -(x * np.sin(angle)).sum())
            assert abs(complex(values[k]) - exact) <= error / 4


def test_gaussian_with_closed_form_at_every_effort() -> None:
    """Less effort gives a wider interval, never a wrong one."""
    with working():
        loss = b.Gaussian(10).losses().remove
        for most in (1 << 12, 1 << 14, 1 << 17):
            found = lattice.epsilon_at([(loss, 100)], arb("1e-6"), 1e-6, most)
            truth = 1 / arb(10) * 10
            for x, side in ((found.upper, 1), (found.lower, -1)):
                delta = normal.cdf(truth / 2 - arb(x) / truth) - arb(x).exp() * normal.cdf(-truth / 2 - arb(x) / truth)
                assert not side * (delta - arb("1e-6")) > 0


def test_sampling_twice_is_sampling_once() -> None:
    """A sample of a sample, composed, costs what sampling at the product of the rates does."""
    twice = b.PoissonSampled(b.PoissonSampled(b.Gaussian(1), "0.5"), "0.4") * 10
    once = b.PoissonSampled(b.Gaussian(1), "0.2") * 10
    first, second = (b.account(what, delta=1e-5, theorems=["numerical"]).epsilon for what in (twice, once))
    assert first.lower <= second.upper
    assert second.lower <= first.upper
    assert second.upper - second.lower < 1e-5


@pytest.mark.parametrize(
    ("sigma", "rate", "delta"),
    [("0.03", "0.5", "1e-100"), ("0.03", "1e-6", "1e-100"), ("0.025", "0.01", "1e-100"), ("0.02", "1e-6", "1e-100")],
)
def test_huge_losses_are_not_dropped(sigma: str, rate: str, delta: str) -> None:
    """With losses in the thousands nothing that matters is left out below: one release's own profile is enclosed."""
    loss = b.PoissonSampled(b.Gaussian(sigma), rate).losses().remove
    target = ball(Fraction(delta))
    with working(400):
        try:
            found = lattice.epsilon_at([(loss, 1)], target, 1e-4)
        except NoLattice:
            return
        assert not loss.profile(arb(found.upper)) > target
        assert not loss.profile(arb(found.lower)) < target


@pytest.mark.parametrize("radius", ["1e-6", "1e-4", "1e-2"])
def test_an_uncertain_delta_is_never_read_as_nothing(radius: str) -> None:
    """Where δ is a wide ball the ends hold for all of it, or the engine refuses; it never answers 0 by mistake."""
    loss = b.Gaussian("1.18434").losses().remove
    for i in range(20):
        target = arb("1.0962e-3") * (1 + i / 7) * arb(1, radius)
        with working():
            try:
                found = lattice.epsilon_at([(loss, 1)], target, 8e-4)
            except NoLattice:
                continue
            assert not loss.profile(arb(found.upper)) > target
            assert not loss.profile(arb(found.lower)) < target


@pytest.mark.parametrize("delta", ["1e-2", "1e-5"])
@pytest.mark.parametrize("rate", [None, "0.3"])
def test_densities_are_enclosed_between_tables(delta: str, rate: str | None) -> None:
    """e^x against e^{−x} on [−¼, ¼] has the loss of bounded range ½: composed, also sampled, the two answers meet."""
    drawn = b.Densities("exp(x)", "exp(-x)", low="-0.25", high="0.25")
    known = b.Declared(b.BoundedRange("0.5"))
    if rate is None:
        one, other = drawn.losses(), known.losses()
    else:
        one, other = b.PoissonSampled(drawn, rate).losses(), sampled(known.losses(), ball(Fraction(rate)))
    with working():
        for side in ("remove", "add"):
            first = lattice.epsilon_at([(getattr(one, side), 5)], ball(Fraction(delta)), 1e-4)
            second = lattice.epsilon_at([(getattr(other, side), 5)], ball(Fraction(delta)), 1e-4)
            assert first.lower <= second.upper
            assert second.lower <= first.upper
            assert first.width < 0.01
            at = lattice.delta_at([(getattr(one, side), 5)], arb("0.3"), 1e-4)
            again = lattice.delta_at([(getattr(other, side), 5)], arb("0.3"), 1e-4)
            assert at.lower <= again.upper
            assert again.lower <= at.upper
