"""The law of one copy on the main road: every bound holds against balls, and none of its terms is idle."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from flint import acb, arb

from bursar.losses.engines.contour import NoContour, road
from bursar.losses.engines.contour.road_law import Law
from bursar.losses.engines.contour.road_nodes import Nodes, Setting, shaped
from bursar.numerics.balls import working
from bursar.numerics.trusted import UNIT
from support.cut_moments import cut_moment
from support.roads import drawn


def laws(seed: int, count: int) -> Iterator[Law]:
    """Tilted laws of random settings."""
    for sigma, rate, copies, target in drawn(seed, count):
        setting = Setting(sigma, rate, 4 * UNIT, copies, math.log(target))
        try:
            nodes = Nodes(setting, shaped(setting))
            yield Law(nodes, road._chosen(nodes).tau)
        except NoContour:
            continue


def exactly(law: Law, t: acb) -> acb:
    """The moment of the cut law in balls."""
    asked, shape = law.nodes.asked, law.nodes.shape
    cut = (arb(shape.cut) * arb(asked.sigma), arb(shape.soft) * arb(asked.sigma))
    edges = (asked.sigma * (law.nodes.first - 3), asked.sigma * (law.nodes.last + 3))
    return cut_moment(asked.sigma, asked.rate, t, cut, edges)


def test_moments_are_enclosed_by_balls() -> None:
    """M(τ) and the characteristic function at several frequencies lie within their bounds, and the bounds are small."""
    seen = 0
    for law in laws(4, 8):
        with working(160):
            whole = exactly(law, acb(law.tau))
            value, error = law.moment
            assert abs(whole.real - 1 - arb(value)) <= arb(error)
            assert error < 1e-8
            assert whole.real.log() <= arb(law.nodes.cumulant_at_most(law.tau))
            s = 3 / math.sqrt(law.nodes.asked.copies * law.variance) * np.array([0.3, 1.0])
            c, d, unsure = law.centred(s)
            missing = law.missing(float(s[-1]))
            for i, frequency in enumerate(s.tolist()):
                turned = exactly(law, acb(law.tau, frequency)) / whole * (acb(0, -frequency * arb(law.mean))).exp()
                off = abs(turned - acb(1 - arb(float(c[i])), arb(float(d[i]))))
                assert off <= arb(float(unsure[i]) + 2 * missing)
        seen += 1
    assert seen >= 4


def test_what_coarse_nodes_leave_out_is_in_their_bound() -> None:
    """Nodes far too far apart are off by more than rounding, and the bound says so."""
    setting = Setting(1.0, 0.02, 4 * UNIT, 1000, math.log(1e-6))
    shape = shaped(setting)
    nodes = Nodes(setting, replace(shape, step=shape.step * 4))
    law = object.__new__(Law)
    with pytest.raises(NoContour):
        law.__init__(nodes, 3.0)  # type: ignore[misc]
    with working(160):
        off = abs(exactly(law, acb(3.0)).real - 1 - arb(law.moment[0]))
        assert off > arb(1e-12)
        assert off <= arb(law.moment[1])


def test_what_a_narrow_window_leaves_out_is_in_its_bound() -> None:
    """Nodes that end too early miss more than rounding, and the bound says so."""
    setting = Setting(1.0, 0.02, 4 * UNIT, 1000, math.log(1e-6))
    shape = shaped(setting)
    law = object.__new__(Law)
    with pytest.raises(NoContour):
        law.__init__(Nodes(setting, replace(shape, high=6.0)), 3.0)  # type: ignore[misc]
    whole = Law(Nodes(setting, shape), 3.0)
    with working(160):
        off = abs(exactly(whole, acb(3.0)).real - 1 - arb(law.moment[0]))
        assert off > arb(1e-8)
        assert off <= arb(law.moment[1])


def test_readings_are_covered() -> None:
    """The moment of every σ and q within the spread lies within the bound of the float's own, with little to spare."""
    spread = 1e-12
    setting = Setting(1.1, 0.02, spread, 1000, math.log(1e-6))
    shape = shaped(setting)
    law = Law(Nodes(setting, replace(shape, step=shape.step * 0.75, low=shape.low - 2, high=shape.high + 2)), 3.0)
    value, error = law.moment
    assert law.still < 1e-16
    off = []
    for sigma, rate in [(1 - spread, 1.0), (1 + spread, 1.0), (1.0, 1 - spread), (1.0, 1 + spread)]:
        other = replace(setting, sigma=1.1 * sigma, rate=0.02 * rate)
        # the cut and the nodes are the same places in units of σ
        moved = Law(Nodes(other, law.nodes.shape), 3.0)
        off.append(abs(moved.moment[0] - value))
    assert max(off) <= error
    assert max(off) > error / 1000


def test_decay_bounds_hold() -> None:
    """By moments, by layers and by rungs: no larger frequency has a larger modulus than the bound."""
    rng = np.random.default_rng(8)
    seen = 0
    for law in laws(5, 25):
        copies, (least, most, turn) = law.nodes.asked.copies, law.by_moments()
        layers, usual = law.by_layers(), math.sqrt(40 / (law.nodes.asked.copies * least))
        s = np.sort(usual * np.exp(rng.uniform(-2.0, 3.0, 60)))
        modulus = np.abs(np.exp(1j * np.multiply.outer(s, law.apart)) @ law.weights)
        true = copies * np.log(modulus + 1e-300)
        assert np.all(layers(s) >= true - 1e-6)
        near = s < turn
        if near.any():
            x = np.square(s[near])
            assert np.all(modulus[near] ** 2 <= 1 - x * (least - x * most / 12) + 1e-12)
        rungs = usual * np.geomspace(0.9, 3.0, 8)
        bounds = law.by_rungs(rungs)
        for rung, bound in zip(rungs[:-1].tolist(), bounds.tolist(), strict=True):
            between = (s >= rung) & (s <= rungs[-1])
            assert np.all(true[between] <= bound + 1e-6)
        seen += 1
    assert seen >= 12
