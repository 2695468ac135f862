"""An upper end of δ without a sum, against closed forms and against balls."""

from __future__ import annotations

import numpy as np
import pytest
from flint import arb

import bursar as b
from bursar.guarantees.gdp import gaussian_delta
from bursar.losses.engines.contour import modulus
from bursar.losses.engines.contour.factors import GaussianFactor, NoContour
from bursar.losses.engines.contour.modulus import delta_below
from bursar.losses.engines.contour.solve import at_most
from bursar.numerics.balls import working

CELLS = {"usual": modulus._PLACES, "two cells": np.array([0.5]), "few cells": np.array([0.4, 1.2, 2.5])}


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("square", ["0.01", "1", "30"])
def test_it_lies_above_a_gaussian(monkeypatch: pytest.MonkeyPatch, cells: str, square: str) -> None:
    """At every tilt and ε the bound exceeds the closed form, whatever its cells: near ends, and what lies beyond."""
    monkeypatch.setattr(modulus, "_PLACES", CELLS[cells])
    with working():
        mu = arb(square).sqrt()
        for epsilon in (0.3, 1.0, 4.0, 20.0):
            exact = gaussian_delta(mu, arb(epsilon))
            for share in (0.5, 1.0, 1.5):
                tilt = share * max(epsilon / float(square) - 0.5, 0.1)
                assert delta_below([GaussianFactor(mu * mu)], arb(0), epsilon, tilt) > exact


@pytest.mark.parametrize("tilt", [0.0, -0.0, -0.3, -0.5, -2.0, float("nan")])
def test_left_of_its_pole_it_bounds_nothing(tilt: float) -> None:
    """The integral is δ at tilts above 0 alone: at −½ it would say 10⁻²² of what is all but certain."""
    with working(), pytest.raises(NoContour, match="left of its pole"):
        delta_below([GaussianFactor(arb(400))], arb(0), 0.0, tilt)


def test_near_the_saddle_it_is_close() -> None:
    """Where the tilt is that of the ε, the bound is less than half as large again."""
    with working():
        for epsilon in (3.0, 6.0, 12.0):
            bound = delta_below([GaussianFactor(arb(1))], arb(0), epsilon, epsilon - 0.5)
            assert bound < 1.5 * gaussian_delta(arb(1), arb(epsilon))


@pytest.mark.parametrize("removed", [True, False])
@pytest.mark.parametrize(("sigma", "rate"), [("1", "0.3"), ("2", "0.1"), ("0.7", "0.01")])
def test_it_lies_above_one_sampled_gaussian(sigma: str, rate: str, *, removed: bool) -> None:
    """With a single copy the profile is known in closed form; what leaks, and what is cut off, counts on top."""
    with working():
        pair = b.PoissonSampled(b.Gaussian(sigma), rate).losses()
        law = pair.remove if removed else pair.add
        factor = law.contour_factor(1, -14.0)
        assert factor is not None
        for epsilon in (0.05, 0.2):
            for tilt in (0.5, 3.0, 12.0):
                exact = law.profile(arb(epsilon))
                assert not delta_below([factor], arb(0), epsilon, tilt) < exact
                leaky = delta_below([factor], arb("0.01"), epsilon, tilt)
                assert not leaky < exact + arb("0.01")


def test_what_is_given_up_is_known_from_a_floor_on() -> None:
    """Below the floor of a factor there is no bound."""
    with working():
        whole = b.PoissonSampled(b.Gaussian("0.3"), "1e-4").losses().remove.contour_factor(100, -60.0)
        assert whole is not None
        rare = whole.rare(5.0, -60.0)
        with pytest.raises(NoContour, match="given up"):
            delta_below([rare], arb(0), 4.0, 1.0)


def test_the_cheaper_direction_of_a_training_is_seen_without_a_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the directions differ by some per cent, no moment off the real line is needed to tell which is cheaper."""
    monkeypatch.setattr("bursar.losses.engines.contour.solve.Contour", None)
    with working():
        added = [(b.PoissonSampled(b.Gaussian("1.1"), "0.004").losses().add, 14_040)]
        assert at_most(added, 2.54, arb("1e-6"), 5.0)
