"""Contours of many trainings at once: their ends hold the truth, also where each term of the error budget is made large
on purpose, and each term is needed there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from flint import arb

import bursar as b
from bursar.losses.engines.contour import NoContour, solve
from bursar.losses.engines.training import solve as many
from bursar.losses.engines.training.contours import Contours, contours
from bursar.losses.engines.training.rows import Rows, short
from bursar.losses.engines.training.solve import fits, least, misses
from bursar.losses.engines.training.sums import ends
from support.oracle import Sampled, delta

COUNT = 60


@cache
def drawn(seed: int, *, removed: bool) -> tuple[Rows, np.ndarray, np.ndarray]:
    """Random trainings, each at about the ε of a random δ, and what the engine for single questions proves of δ."""
    rng = np.random.default_rng(seed)
    rows, low, high = [], [], []
    while len(rows) < COUNT:
        rate, sigma = np.exp(rng.uniform(np.log([1e-3, 0.5]), np.log([0.4, 12.0]))).tolist()
        count, log_delta = round(math.exp(rng.uniform(2.0, 13.0))), -math.exp(rng.uniform(0.7, 4.0))
        pair = b.PoissonSampled(b.Gaussian(sigma), rate).losses()
        losses = [(pair.remove if removed else pair.add, count)]
        try:
            epsilon = solve.epsilon_at(losses, arb(math.exp(log_delta))).upper
            known = solve.delta_at(losses, arb(epsilon))
        except (NoContour, ArithmeticError):
            continue
        if epsilon > 0:
            rows.append((sigma, rate, float(count), epsilon, log_delta))
            low.append(known.lower)
            high.append(known.upper)
    return Rows(*np.array(rows).T), np.array(low), np.array(high)


def spoilt(name: str, where: Contours) -> Contours:
    """The same contours with one of their choices made badly."""
    shape, some = where.shape, np.random.default_rng(3).uniform(0.0, 1.0, len(where.tau))
    cut = np.ceil(16 * shape.cut * (0.4 + 0.5 * some)) / 16 if shape.removed else shape.cut
    changed: dict[str, Callable[[], Contours]] = {
        "nothing": lambda: where,
        "a short period": lambda: replace(where, step=short(where.step * (1.5 + some), 24)),
        "a short reach": lambda: replace(where, reach=0.4 * where.reach, last=np.ceil(0.4 * where.reach / where.step)),
        "nodes far apart": lambda: replace(where, shape=replace(shape, step=short(shape.step * (1.2 + some), 5))),
        "a low cut": lambda: replace(where, shape=replace(shape, cut=cut)),
        "less of the cut": lambda: replace(where, shape=replace(shape, cut=np.ceil(9.6 * shape.cut) / 16)),
        "a narrow window": lambda: replace(where, shape=replace(shape, counts=np.ceil(shape.counts * 0.7))),
        "another tilt": lambda: replace(where, tau=where.tau * (0.6 + 0.5 * some)),
    }
    return changed[name]()


CHOICES = (
    "nothing", "a short period", "a short reach", "nodes far apart", "a low cut", "less of the cut", "a narrow window",
    "another tilt",
)  # fmt: skip


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize("choice", CHOICES)
def test_ends_hold_the_truth_however_poor_the_choices(choice: str, removed: bool) -> None:
    """Against the engine for single questions: no end is on the wrong side, and well-chosen contours are narrow."""
    rows, low, high = drawn(11, removed=removed)
    found = ends(rows, spoilt(choice, contours(rows, removed=removed)), lower=True)
    served = np.isfinite(found.upper)
    assert np.count_nonzero(served) > COUNT / 8
    assert np.all(found.lower[served] <= high[served])
    assert np.all(found.upper[served] >= low[served])
    if choice == "nothing":
        assert np.count_nonzero(served) > COUNT / 2
        assert np.nanmedian((found.upper - found.lower) / found.upper) < 1e-6


@pytest.mark.parametrize(
    ("choice", "above"),
    [("a short period", False), ("a short reach", True), ("a short reach", False), ("a low cut", True)],
)
def test_each_term_of_the_budget_is_needed(choice: str, above: bool) -> None:
    """Where a choice is poor, the sums alone lie on the wrong side of the truth for some rows: the ends do not."""
    rows, low, high = drawn(11, removed=True)
    found = ends(rows, spoilt(choice, contours(rows, removed=True)), lower=True)
    wrong = found.value < low * (1 - 1e-4) if above else found.value > high * (1 + 1e-4)
    assert np.count_nonzero(wrong) > 1


@pytest.mark.parametrize("removed", [True, False])
def test_a_slow_evaluation_in_balls_agrees(removed: bool) -> None:
    """δ by flint's own integration, on a contour of its own, lies between the ends."""
    rows = Rows(*np.array([[1.1, 0.02, 3000.0, 4.0, -13.0], [3.0, 0.05, 500.0, 1.2, -12.0]]).T)
    where = contours(rows, removed=removed)
    found = ends(rows, where, lower=True)
    for i, (sigma, rate, count, epsilon) in enumerate(
        zip(rows.sigma, rows.rate, rows.copies, rows.epsilon, strict=True)
    ):
        part = Sampled(arb(sigma), arb(rate), int(count), -30.0, removed=removed)
        tau = float(where.tau[i])
        k = [float(part.log_moment(arb(tau) + d).real) for d in (-1e-2, 0.0, 1e-2)]
        spread = math.sqrt(count * (k[0] - 2 * k[1] + k[2]) / 1e-4)
        truth = delta([(part, int(count))], arb(epsilon), tau, spread)
        assert found.lower[i] <= truth <= found.upper[i]
        assert found.upper[i] - found.lower[i] < 1e-6 * found.upper[i]


def test_the_least_noise_of_many_is_that_of_each_alone() -> None:
    """Many rows share their starting places; where they end does not depend on it."""
    rate, copies = (x.ravel() for x in np.meshgrid(np.geomspace(0.01, 0.05, 30), np.geomspace(2e3, 3e4, 30)))
    rows = Rows(np.ones(900), rate, np.round(copies), np.full(900, 2.0), np.full(900, math.log(1e-6)))
    sigma, where = least(rows)
    assert np.all(where.fit)
    for i in range(0, 900, 91):
        alone, one = least(rows.part(np.array([i])))
        assert one.fit[0]
        assert sigma[i] == pytest.approx(alone[0], rel=2e-8)


def test_fitting_asks_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row whose other direction is not known to be cheap does not fit; and missing needs a lower end above δ."""
    rows = Rows(*np.array([[1.0, 0.01, 10_000.0, 5.0, math.log(1e-6)]]).T)
    sigma, where = least(rows)
    over, under = rows.at(sigma * (1 + 2e-7)), rows.at(sigma * (1 - 2e-7))
    limit = np.array([1e-6])
    assert [bool(ask(over, where, limit)[0]) for ask in (fits, misses)] == [True, False]
    assert [bool(ask(under, where, limit)[0]) for ask in (fits, misses)] == [False, True]
    true_ends = many.ends

    def blind(part: Rows, there: Contours, *, lower: bool) -> object:
        found = true_ends(part, there, lower=lower)
        return found if there.shape.removed else replace(found, upper=np.ones(len(part)))

    monkeypatch.setattr(many, "ends", blind)
    assert not fits(over, where, limit)[0]
