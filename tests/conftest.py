"""What all tests share."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("bursar", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("bursar")


def widened(printed: str) -> tuple[Fraction, Fraction]:
    """A printed decimal, give or take half a unit of its last digit."""
    mantissa, _, exponent = printed.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    half = Fraction(1, 2) * Fraction(10) ** (int(exponent or 0) - digits)
    return Fraction(printed) - half, Fraction(printed) + half


@pytest.fixture(name="widened")
def _widened() -> object:
    """The function above, for tests that read golden values."""
    return widened
