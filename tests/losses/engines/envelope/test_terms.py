"""Each error term of the envelope engine is needed: where it is large, without it the truth would lie outside."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from flint import acb, arb

import bursar as b
from bursar.losses.engines.envelope.comb import Combed
from bursar.losses.engines.envelope.crowds import LaplaceCrowd
from bursar.losses.engines.envelope.engine import Envelope, Line
from bursar.losses.engines.envelope.factor import PointsFactor, all_copies
from bursar.losses.engines.envelope.gathering import factors_of
from bursar.losses.engines.envelope.points import NoEnvelope, points_of
from bursar.losses.engines.envelope.spectrum import weighed
from bursar.losses.laws.laplace import LaplaceLoss
from bursar.losses.laws.stepped_table import SteppedTable
from bursar.losses.laws.table import Row
from bursar.losses.places import Law
from bursar.numerics.balls import working
from bursar.numerics.lattice import short


def line(tau: float, period: float, nodes: int) -> Line:
    """A line with tilts a little above and below."""
    return Line(tau, short(2 * math.pi / period, 24), nodes, 1.5 * tau, 0.5 * tau, 1e-12)


def test_aliases_are_taken_off() -> None:
    """With a short period the sums exceed δ by far, and the lower end stays below it."""
    loss = b.Table(p=["3/4", "1/4"], q=["1/4", "3/4"]).losses().remove
    with working():
        law = loss.lattice_law(50.0)
        assert law is not None
        factor, truth = PointsFactor(law, 1, arb(0)), loss.profile(0.5)
        near = line(0.5, 4.0, 400)
        for sums in (Envelope([factor], arb(0), near), Combed(factor, arb(0), line(0.5, 2 * math.log(3) * 3, 3))):
            lower, upper, errors = sums.evaluate(0.5)
            assert lower <= truth
            assert upper >= truth
            assert dict(errors)["aliasing"] > 0.05
            assert not lower + arb(dict(errors)["aliasing"]) * truth < truth * arb("0.9")


def test_what_is_given_up_is_added() -> None:
    """A law with a narrow window misses a part of δ, which the upper end adds."""
    loss = b.DiscreteGaussian(sigma=2).losses().remove
    with working():
        law = loss.lattice_law(3.0)
        assert law is not None
        factor, truth = PointsFactor(law, 1, arb(0)), loss.profile(1.5)
        lower, upper, errors = Envelope([factor], arb(0), line(1.0, 30.0, 4000)).evaluate(1.5)
        assert dict(errors)["cut"] > 0.05
        assert lower <= truth
        assert upper >= truth
        assert not upper - factor.given_up >= truth


@pytest.mark.parametrize("scale", ["1", "1/4"])
def test_panels_follow_the_frequency(scale: str) -> None:
    """At hundreds of turns over the range of the density the moments are still flint's, to twelve digits."""
    loss = b.Laplace(scale=scale).losses().remove
    with working():
        law = loss.lattice_law(60.0)
        assert law is not None
        factor, tau = PointsFactor(law, 1, arb(0)), 0.7
        frequencies = np.arange(64) * 6.25
        found = factor.moments(tau, frequencies)
        for j in (1, 20, 63):
            s = float(frequencies[j])
            truth = (loss.cumulant(acb(tau, s)) - loss.cumulant(arb(tau)).real).exp()
            value = acb(0, found.drift * s + arb(float(found.turn[j]))).exp() * math.exp(found.log_size[j])
            assert abs(truth - value) < 1e-12


def test_light_panels_are_left_out_and_said() -> None:
    """At a steep tilt only the top of a long density is kept, and what is not is bounded."""
    loss = b.Laplace(scale="1/40").losses().remove
    with working():
        law = loss.lattice_law(100.0)
        assert law is not None
        every, heavy = points_of(law, 30.0), points_of(law, 30.0, 25.0)
    assert len(heavy.losses) < len(every.losses) / 4
    assert 0 < heavy.left_out < 1e-15
    weights = every.log_masses + 25.0 * every.losses
    kept = heavy.log_masses + 25.0 * heavy.losses
    missing = 1 - math.fsum(np.exp(kept - weights.max())) / math.fsum(np.exp(weights - weights.max()))
    assert missing <= heavy.left_out + 1e-13


def test_a_crowd_that_is_left_early_is_known_in_size_only() -> None:
    """Frequencies at which a few of many losses leave nothing are bounded without the others."""
    pairs = [(b.Laplace(scale=20 + i).losses().remove, 400) for i in range(40)]
    with working():
        (crowd,) = factors_of(pairs, math.log(1e-6))
        found = crowd.moments(5.0, np.arange(50) * 2.0)
        early = np.flatnonzero(found.log_size < -60)
        assert len(early)
        for j in early[:4]:
            s = float(2.0 * j)
            total = sum((k * (loss.cumulant(acb(5.0, s)) - loss.cumulant(arb(5)).real) for loss, k in pairs), acb(0))
            assert total.real <= found.log_size[j]
            assert found.error[j] >= math.log(3) - 1e-9


@pytest.mark.parametrize("radius", ["0", "1e-9"])
def test_moments_of_a_laplace_crowd_cover_all_readings(radius: str) -> None:
    """Whichever ε of its balls is meant, at every live frequency the closed form in balls is within the errors."""
    middles, tau = [arb("0.5"), arb("0.03"), arb("4")], 3.0
    frequencies = np.arange(3000) * 0.125
    live = np.array([0, 1, 2, 63, 64, 65, 700, 1500, 2047, 2048, 2999])
    with working():
        crowd = LaplaceCrowd([arb(middle.mid(), arb(radius).mid()) for middle in middles], [1, 1, 1])
        for part in (live, np.arange(3000)):
            found = crowd.values(tau, slice(0, 3), frequencies, part)
            for row, middle in enumerate(middles):
                for e in (middle - arb(radius), middle + arb(radius)):
                    law = LaplaceLoss(e)
                    for j in live.tolist():
                        t, place = acb(tau, float(frequencies[j])), int(np.flatnonzero(part == j)[0])
                        exact = (law.cumulant(t) - law.cumulant(arb(tau)) - acb(0, float(frequencies[j])) * e).exp()
                        apart = abs(exact - acb(complex(found.values[row, place])))
                        assert apart <= arb(float(np.broadcast_to(found.errors, found.values.shape)[row, place]))


def test_few_laplaces_beside_atoms_are_narrow_near_their_largest_loss() -> None:
    """A Laplace beside a response, at a δ that only all largest losses reach: the exact ε, by hand, is inside."""
    with mpmath.workdps(40):
        e, delta = mpmath.mpf(1), mpmath.mpf("1e-6")
        truth = 1 / (1 + mpmath.exp(-e))

        def profile(x: mpmath.mpf) -> mpmath.mpf:
            """δ of the Laplace at x, |x| ≤ 1: half at the top, and the density e^{(l−1)/2}/4 below it."""
            inside = mpmath.quad(lambda y: mpmath.exp((y - e) / 2) / 4 * (1 - mpmath.exp(x - y)), [x, e])
            return (1 - mpmath.exp(x - e)) / 2 + inside

        exact = mpmath.findroot(lambda x: truth * profile(x - e) - delta, (1.99999, 1.999999), solver="anderson")
    found = b.account(b.Laplace(1) + b.RandomizedResponse(1), delta="1e-6").epsilon
    assert found.lower <= exact <= found.upper
    assert found.encloses(1e-7)


@pytest.mark.parametrize("tau", [0.01, 1.0, 10.0, 100.0])
def test_combs_whose_step_is_not_known_exactly_cover_all_readings(tau: float) -> None:
    """A k-ary response whose ε is a wide ball: both ends hold for each ε in it."""
    middle, radius = arb("0.01"), arb("1e-6")
    readings = [middle - radius, middle, middle + radius]
    with working():
        losses = [_response(epsilon) for epsilon in (arb(middle.mid(), radius.mid()), *readings)]
        law = losses[0].lattice_law(50.0)
        factor = PointsFactor(law, 1, arb(0))
        nodes = math.ceil(max(40.0, 5 / (tau * 0.01)))
        lower, upper, _ = Combed(factor, arb(0), line(tau, nodes * 0.01, nodes)).evaluate(0.0)
        for loss in losses[1:]:
            assert not loss.profile(0) < lower
            assert not loss.profile(0) > upper


def _response(epsilon: arb) -> SteppedTable:
    """A response of three categories."""
    norm = epsilon.exp() + 2
    truth, lie = epsilon.exp() / norm, 1 / norm
    return SteppedTable((Row(truth, lie, epsilon), Row(lie, truth, -epsilon), Row(lie, lie, arb(0))), epsilon)


def test_moments_smaller_than_their_error_are_at_most_that_error() -> None:
    """Where weights are known to a thousandth a moment that cancels may be anything up to that."""
    near = np.array([0.5, 0.5]), np.array([0.0, 1.0])
    law = weighed(near[1], np.zeros(2), np.log(near[0]), np.full(2, 9e-4), 0.0, whole=True)
    values, errors = law.folded(2)
    factor = PointsFactor(Law(near[1], np.zeros(2), np.log(near[0]), np.full(2, 9e-4)), 3, arb(0))
    found = all_copies(law, np.array([0.0, math.pi]), values, errors, factor)
    assert errors[1] > 1e-4
    assert found.log_size[1] >= 3 * math.log(errors[1]) - 1e-9


@pytest.mark.parametrize(("higher", "lower"), [(0.4, 0.2), (1.0, 0.9), (math.nan, 0.2), (1.0, -0.1)])
def test_tilts_on_the_wrong_side_bound_nothing(higher: float, lower: float) -> None:
    """Aliases are bounded by a tilt above the one that is summed at and one below; others are refused."""
    law = b.Table(p=["3/4", "1/4"], q=["1/4", "3/4"]).losses().remove.lattice_law(50.0)
    with working(), pytest.raises(NoEnvelope, match="aliases"):
        Envelope([PointsFactor(law, 1, arb(0))], arb(0), Line(0.5, 1.5, 40, higher, lower, 1e-12))
