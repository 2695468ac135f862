"""Gaussian pairs that are nearly one, or far apart, against many digits."""

from __future__ import annotations

import mpmath
import pytest
from flint import arb

from bursar.guarantees.gdp import gaussian_delta, gaussian_epsilon
from bursar.numerics.balls import working


def exact(mu: mpmath.mpf, epsilon: mpmath.mpf) -> mpmath.mpf:
    """Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), with as many digits as it takes."""
    first, second = (mpmath.erfc(-(side * mu / 2 - epsilon / mu) / mpmath.sqrt(2)) / 2 for side in (1, -1))
    return first - mpmath.exp(epsilon) * second


@pytest.mark.parametrize("mu", [2.0**-90, 2.0**-30, 2.0**-21, 0.5, 2.0**19, 2.0**21, 2.0**25])
@pytest.mark.parametrize("far", [-3, 0, 1, 8, 30])
def test_profiles_of_any_size(mu: float, far: int) -> None:
    """The ball contains δ, and says it to nine digits at least."""
    with mpmath.workdps(150), working():
        epsilon = max(mu * mu / 2 + far * mu, 0.0)
        truth = exact(mpmath.mpf(mu), mpmath.mpf(epsilon))
        found = gaussian_delta(arb(mu), arb(epsilon))
        assert (arb(mpmath.nstr(truth, 60)) * (1 + arb(0, 1e-36))).overlaps(found)
        assert found.rad() <= 1e-9 * abs(found.mid())


@pytest.mark.parametrize("mu", ["1e-30", "1e-12", "1e9", "1e17", "3e34"])
@pytest.mark.parametrize("delta", ["1e-2", "1e-300"])
def test_costs_of_any_size(mu: str, delta: str) -> None:
    """ε is enclosed to ten digits, also where μ is known to seventeen only: close to μ²/2 + zμ where μ is large."""
    with working():
        unsure = arb(mu) * (1 + arb(0, 2.0**-54))
        found = gaussian_epsilon(unsure, arb(delta))
        assert found.upper - found.lower <= 1e-10 * found.upper
        if float(mu) > 1:
            z = float(mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(delta))) if delta == "1e-2" else 37.04
            middle = float(mu) ** 2 / 2 + z * float(mu)
            assert found.lower <= middle * (1 + 1e-9)
            assert middle <= found.upper * (1 + 1e-9)
