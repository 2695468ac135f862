"""δ at many ε's in one array: each interval is as sound as a single one, and few sets of nodes serve them all."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

import bursar as b
from bursar.losses.engines import contour, curve
from bursar.losses.engines.answer import Losses
from bursar.losses.engines.chernoff import exponentials
from bursar.numerics.balls import working
from bursar.theorems.numerical import composed

TRAINING = b.PoissonSampled(b.Gaussian(1), "1/100") * 10_000
CASES = [
    TRAINING,
    b.PoissonSampled(b.Gaussian("4/5"), "1/1000") * 100_000,
    b.Gaussian(20) * 100,
    b.Gaussian(20) * 100 + b.Laplace(100) * 5,
    b.Gaussian(3) * 4 + b.RandomizedResponse("1/10") * 30 + b.LeakyRandomizedResponse("1/10", "1e-9"),
]


def directions(what: b.Composition) -> list[Losses]:
    """The composed losses, by direction."""
    return composed([(term.mechanism.losses(), term.count) for term in what])


@pytest.mark.parametrize("what", CASES, ids=lambda what: what.text()[:40])
@pytest.mark.parametrize("width", [1e-6, 1e-3])
def test_arrays_and_single_answers_agree(what: b.Composition, width: float) -> None:
    """From δ near 1 to far below 1e-12 every interval meets that of a single answer, and is as narrow as asked."""
    top = b.account(what, delta="1e-8").epsilon.upper
    grid = np.linspace(0.0, 1.6 * top, 41).tolist()
    with working():
        for losses in directions(what):
            found = curve.deltas_at(losses, grid, width)
            for x, ends in zip(grid, found, strict=True):
                assert ends is not None
                lower, upper = ends
                single = contour.delta_at(losses, arb(x))
                assert 0 <= lower <= upper <= 1
                assert lower <= single.upper
                assert upper >= single.lower
                assert upper - lower <= width * upper


@pytest.mark.parametrize("mu", [0.05, 0.5, 3.0])
def test_gaussians_are_enclosed(mu: float) -> None:
    """The closed form of Gaussian noise lies inside, in balls, at every ε."""
    law = (b.Gaussian(4) * 16).terms[0].mechanism.losses().remove
    with working():
        law = type(law)(arb(mu) / 4)
        whole = type(law)(arb(mu))
        grid = np.linspace(0.0, mu * mu / 2 + 9 * mu, 120).tolist()
        for x, ends in zip(grid, curve.deltas_at([(law, 16)], grid, 1e-6), strict=True):
            assert ends is not None
            lower, upper = ends
            exact = whole.profile(arb(x))
            assert arb(lower) <= exact.upper()
            assert exact.lower() <= arb(upper)
            assert not arb(lower) > exact
            assert not arb(upper) < exact


@settings(max_examples=15, deadline=None)
@given(
    st.floats(0.6, 20.0),
    st.floats(1e-3, 0.3),
    st.integers(100, 100_000),
    st.lists(st.floats(0.0, 1.5), min_size=2, max_size=12, unique=True),
)
def test_any_sampled_gaussian_at_any_places(sigma: float, rate: float, count: int, shares: list[float]) -> None:
    """Random settings and random places: the array never excludes what a single answer encloses."""
    what = b.PoissonSampled(b.Gaussian(sigma), rate) * count
    top = b.account(what, delta=1e-9).epsilon.upper
    grid = sorted({share * top for share in shares})
    with working():
        for losses in directions(what):
            try:
                found = curve.deltas_at(losses, grid, 1e-6)
                singles = [contour.delta_at(losses, arb(x)) for x in grid]
            except (contour.NoContour, ArithmeticError, ValueError):
                continue  # refused, not guessed
            for single, ends in zip(singles, found, strict=True):
                assert ends is None or ends[0] <= single.upper
                assert ends is None or ends[1] >= single.lower


SHORT = b.PoissonSampled(b.Gaussian(1), "1/100") * 100 + b.Laplace(10) * 10
"""Adding a record costs at most 2.005; from 1.98 on no contour serves it, and no float holds its δ."""


def test_what_contours_do_not_serve_is_left_to_others() -> None:
    """Up to the first ε that is not served both ends are known, and from the largest loss on nothing is lost."""
    added = directions(SHORT)[1]
    grid = np.linspace(0.0, 2.5, 101).tolist()
    with working():
        found = curve.deltas_at(added, grid, 1e-6)
        served = found.index(None)
        for x, ends in zip(grid[:served:7], found[:served:7], strict=True):
            single = contour.delta_at(added, arb(x))
            assert ends is not None
            assert ends[0] <= single.upper
            assert ends[1] >= single.lower
        assert set(found[-15:]) == {(0.0, 0.0)}
        assert found[grid.index(2.0)] is None
        with pytest.raises(ValueError, match="rise"):
            curve.deltas_at(added, grid[::-1], 1e-6)


def test_beyond_the_largest_loss_what_leaks_stays() -> None:
    """Both ends are the chance that everything is revealed."""
    with working():
        found = curve.deltas_at(directions(SHORT + b.LeakyRandomizedResponse("1/10", "1e-9"))[1], [0.5, 3.0, 9.0], 1e-6)
    for ends in found[1:]:
        assert ends is not None
        assert ends[0] <= 1e-9 <= ends[1]
        assert ends[1] - ends[0] <= 1e-20


def test_a_direction_far_below_the_other_is_bounded_only() -> None:
    """Where a smaller ε says enough the upper end is that ε's, still above δ, and no nodes are made."""
    added = directions(SHORT)[1]
    grid = np.linspace(0.0, 1.95, 101).tolist()
    with working():
        narrow = curve.deltas_at(added, grid, 1e-6)
        found = curve.deltas_at(added, grid, 1e-6, [1e-25] * len(grid))
    bounded = [i for i, ends in enumerate(found) if ends != narrow[i]]
    assert bounded
    for i in bounded:
        known, ends = narrow[i], found[i]
        assert known is not None
        assert ends is not None
        assert ends[0] == 0
        assert known[1] <= ends[1] <= 1e-25


def test_a_curve_of_mixed_kinds_costs_a_few_sets_of_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred ε's, of which one direction's end lies on the way: no engine is asked for single ones."""
    made = []
    monkeypatch.setattr(curve, "_contour", lambda *given, make=curve._contour: made.append(given[1]) or make(*given))
    monkeypatch.setattr("bursar.losses.engines.meet.deltas_at", None)
    top = b.account(SHORT, delta="1e-12").epsilon.upper
    found = b.profile(SHORT, np.linspace(0.0, top, 200))
    assert len(made) <= 14
    assert np.all(found.upper - found.lower <= 1e-6 * found.upper)
    single = b.account(SHORT, epsilon=float(found.epsilons[150])).delta
    assert found.lower[150] <= single.upper
    assert found.upper[150] >= single.lower


def test_two_hundred_points_take_a_few_sets_of_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A curve of private training, both directions, over twelve orders of magnitude: about five sets for each."""
    made = []
    monkeypatch.setattr(curve, "_contour", lambda *given, make=curve._contour: made.append(given[1]) or make(*given))
    top = b.account(TRAINING, delta="1e-12").epsilon.upper
    found = b.profile(TRAINING, np.linspace(0.0, top, 200))
    assert len(found.directions) == 2
    assert len(made) <= 12
    assert np.all(found.upper - found.lower <= 1e-6 * found.upper)


def test_bounds_of_exponentials_err_upwards() -> None:
    """e^{b − aε} is never above its bound, for any size of the numbers."""
    rng = np.random.default_rng(17)
    for _ in range(200):
        bound, tilt = float(rng.normal(0, 300)), float(rng.normal(0, 50))
        places = rng.uniform(0, 30, 8)
        most = exponentials(bound, tilt, places).tolist()
        with working():
            exact = [(arb(bound) - arb(tilt) * arb(x)).exp() for x in places.tolist()]
        assert all(x <= arb(y) for x, y in zip(exact, most, strict=True))


def test_leads_are_enclosed_far_from_their_ball() -> None:
    """e^{K−τε}·Δ/π lies within its bound of the float, for any size of the numbers and any distance from the middle."""
    rng = np.random.default_rng(18)
    for _ in range(300):
        tau, middle = float(np.exp(rng.normal(1, 2))), float(rng.uniform(0, 1e4))
        apart = rng.normal(0, 30 / tau, 8)
        apart = (middle + apart) - middle
        with working():
            cumulant = arb(tau) * arb(middle) + arb(float(rng.normal(0, 30)))
            where = SimpleNamespace(tau=tau, cumulant=cumulant, step=float(rng.uniform(0.01, 1)))
            lead, unsure = curve._lead(where, middle, apart)  # type: ignore[arg-type]
            for x, value, doubt in zip((middle + apart).tolist(), lead.tolist(), unsure.tolist(), strict=True):
                exact = (cumulant - arb(tau) * arb(x)).exp() * arb(where.step) / arb.pi()
                assert abs(exact - arb(value)) <= arb(value) * arb(doubt)
                assert doubt < 1e-12


def test_a_delta_below_the_range_of_floats_is_left_to_others() -> None:
    """Gaussians far out: as long as floats hold δ its ends are narrow, and from there on nothing is said."""
    losses = directions(b.Gaussian(1) * 4)[0]
    grid = np.linspace(0.0, 90.0, 61).tolist()
    with working():
        found = curve.deltas_at(losses, grid, 1e-6)
        served = found.index(None)
        assert 1e-290 < found[served - 1][1] < 1e-200  # type: ignore[index]
        assert found[served:] == [None] * (len(grid) - served)
        for x, ends in zip(grid[:served:4], found[:served:4], strict=True):
            single = contour.delta_at(losses, arb(x))
            assert ends is not None
            assert ends[0] <= single.upper
            assert ends[1] >= single.lower
            assert ends[1] - ends[0] <= 1e-6 * ends[1]
