"""Densities that the lattice engine is not asked about unless it is named."""

from __future__ import annotations

import pytest
from flint import arb

import bursar as b
from bursar.losses.engines.lattice import long


@pytest.mark.parametrize(("scale", "expected"), [("1", False), ("0.0000001", True)])
def test_only_long_densities_are_left_out(scale: str, expected: bool) -> None:
    """A sampled Laplace of a tiny scale has a hundred million losses between its ends; one of scale 1 has a few."""
    mechanism = b.parse(f"poisson(laplace(scale={scale}), rate=0.01)").terms[0].mechanism
    assert long([(mechanism.losses().remove, 10)], arb(10) ** -20) is expected
