"""The main road: its ends are those of the engine for any question, also where each of its choices is made badly."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from flint import arb

import bursar as b
from bursar.losses.engines import contour
from bursar.losses.engines.answer import Losses
from bursar.losses.engines.contour import NoContour, road, solve
from bursar.losses.engines.contour.road_nodes import Nodes, Setting, shaped
from bursar.numerics.balls import working
from bursar.numerics.trusted import UNIT
from support.oracle import Sampled, delta
from support.roads import drawn

TRAINING = [(0.01, 1.0, 10_000), (0.001, 0.8, 100_000), (256 / 60000, 1.1, 14_040)]


def removed(sigma: float, rate: float, count: int) -> Losses:
    """The losses of so many copies, a record removed."""
    return [(b.PoissonSampled(b.Gaussian(sigma), rate).losses().remove, count)]


def by_road(losses: Losses, target: float) -> contour.solve.Answer:
    """ε at δ by the road alone."""
    sigma, rate, _ = losses[0][0].sampled_noise() or pytest.fail("no sampled Gaussian")
    return road.epsilon_at(sigma, rate, losses[0][1], arb(target))


@pytest.mark.parametrize(("rate", "sigma", "count"), TRAINING)
def test_training_is_on_the_road(rate: float, sigma: float, count: int) -> None:
    """The three cases of the benchmark are served by few moments, and as narrowly as by the other engine, nearly."""
    with working():
        losses = removed(sigma, rate, count)
        found, other = by_road(losses, 1e-6), solve.epsilon_at(losses, arb(1e-6))
        assert max(found.lower, other.lower) <= min(found.upper, other.upper)
        assert found.width < 1e-8
        assert found.nodes <= 16
        assert contour.on_main_road(losses, arb(1e-6)) == found


@pytest.mark.parametrize("seed", range(6))
def test_any_setting_agrees_with_the_other_engine(seed: int) -> None:
    """Random settings and δ's: where both serve, their intervals meet; and most are served."""
    served = 0
    with working():
        for sigma, rate, count, target in drawn(seed, 40):
            losses = removed(sigma, rate, count)
            try:
                found = by_road(losses, target)
                other = solve.epsilon_at(losses, arb(target))
            except (NoContour, ArithmeticError):
                continue
            served += 1
            assert max(found.lower, other.lower) <= min(found.upper, other.upper)
            assert found.width <= 1e-8
    assert served >= 25


def test_a_slow_evaluation_in_balls_agrees() -> None:
    """δ at both ends, by flint's own integration on a contour of its own, lies on either side of the δ asked."""
    for sigma, rate, count, target in [(1.1, 0.02, 3000, 1e-6), (3.0, 0.05, 500, 1e-9), (0.8, 0.01, 4000, 1e-5)]:
        with working():
            found = by_road(removed(sigma, rate, count), target)
        part = Sampled(arb(sigma), arb(rate), count, -30.0, removed=True)
        k = [float(part.log_moment(arb(found.tilt) + d).real) for d in (-1e-2, 0.0, 1e-2)]
        spread = math.sqrt(count * (k[0] - 2 * k[1] + k[2]) / 1e-4)
        low, high = (delta([(part, count)], arb(x), found.tilt, spread) for x in (found.lower, found.upper))
        assert high <= target <= low


CHOICES = (
    "nothing", "a short period", "a long period", "a short reach", "nodes far apart", "a low cut", "a narrow window",
    "another tilt", "a near tilt above",
)  # fmt: skip


def spoilt(choice: str, setting: Setting, share: float) -> road.Road:
    """A road with one of its choices made badly, more so for a larger share of 0 to 1."""
    shape = shaped(setting)
    changed = {
        "nodes far apart": replace(shape, step=shape.step * (1.25 if share < 0.5 else 1.5)),
        "a low cut": replace(shape, cut=math.ceil(16 * shape.cut * (0.55 + 0.4 * share)) / 16),
        "a narrow window": replace(shape, low=shape.low * (0.6 + 0.3 * share), high=shape.high * (0.6 + 0.3 * share)),
    }
    nodes = Nodes(setting, changed.get(choice, shape))
    made = road._chosen(nodes)
    other = {
        "a short period": made._replace(period=made.period * (0.4 + 0.4 * share)),
        "a long period": made._replace(period=made.period * 1.5),
        "a short reach": made._replace(lead=made.lead - 16 * (0.5 + 0.5 * share)),
        "another tilt": made._replace(tau=made.tau * (0.7 + 0.5 * share)),
        "a near tilt above": made._replace(above=made.tau * 1.05),
    }
    return road.Road(nodes, other.get(choice, made))


def ends_of(choice: str) -> Iterator[tuple[float, float, float, float, float]]:
    """For random settings: both ends of δ by the spoilt road, its sum alone, and both ends by the other engine."""
    rng = random.Random(choice)
    for sigma, rate, count, target in drawn(9, 40):
        losses = removed(sigma, rate, count)
        try:
            where = spoilt(choice, Setting(sigma, rate, 4 * UNIT, count, math.log(target)), rng.random())
            epsilon = solve.epsilon_at(losses, arb(target)).upper
            lower, upper, _ = where.evaluate(np.array([epsilon]))[0]
            value = math.exp(where.rough(epsilon)[0])
            known = solve.delta_at(losses, arb(epsilon))
        except (NoContour, ArithmeticError):
            continue
        yield float(lower.lower()), float(upper.upper()), value, known.lower, known.upper


@pytest.mark.parametrize("choice", CHOICES)
def test_ends_hold_the_truth_however_poor_the_choices(choice: str) -> None:
    """No end of δ is on the wrong side of what the other engine proves."""
    served = 0
    with working():
        for lower, upper, _, least, most in ends_of(choice):
            served += 1
            assert lower <= most
            assert upper >= least
    assert served >= (20 if choice == "nothing" else 5)


@pytest.mark.parametrize(
    ("choice", "above"),
    [("a short period", False), ("a short reach", True), ("a short reach", False), ("a low cut", True)],
)
def test_each_term_of_the_budget_is_needed(choice: str, above: bool) -> None:
    """Where a choice is poor the sum alone lies on the wrong side of the truth: the ends do not."""
    with working():
        found = list(ends_of(choice))
    wrong = [value < least * (1 - 1e-7) if above else value > most * (1 + 1e-7) for _, _, value, least, most in found]
    assert sum(wrong) > 1


def test_what_is_not_on_the_road_is_asked_elsewhere() -> None:
    """A setting that the road refuses has the answer of the engine for any question."""
    losses = removed(25.2, 1.08e-6, 21_595_741)
    with working():
        with pytest.raises(NoContour):
            by_road(losses, 1.6e-4)
        assert contour.on_main_road(losses, arb(1.6e-4)) == solve.epsilon_at(losses, arb(1.6e-4))
        added = [(b.PoissonSampled(b.Gaussian(1), 0.01).losses().add, 10_000)]
        assert contour.on_main_road(added, arb(1e-6)) == solve.epsilon_at(added, arb(1e-6))


def test_readings_reach_the_sum() -> None:
    """The sums of every σ and q within the spread lie within what the sum says it is unsure of."""
    spread = 1e-12
    setting = Setting(1.1, 0.02, spread, 1000, math.log(1e-6))
    with working():
        nodes = Nodes(setting, shaped(setting))
        choice = road._chosen(nodes)
        whole = road.Road(nodes, choice)
        off = []
        for sigma, rate in [(1 - spread, 1.0), (1 + spread, 1.0), (1.0, 1 - spread), (1.0, 1 + spread)]:
            other = replace(setting, sigma=1.1 * sigma, rate=0.02 * rate)
            moved = road.Road(Nodes(other, nodes.shape), choice)
            sums = [
                math.exp(one.rough(choice.epsilon)[0] - float(one.cumulant) + one.tau * choice.epsilon)
                for one in (whole, moved)
            ]
            off.append(abs(sums[0] - sums[1]) * math.pi / whole.step)
    assert max(off) <= whole.doubt
    assert max(off) > whole.doubt / 1000
