"""Sums on which a ledger's prices depend are added in an order that is the same everywhere."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import bursar
from bursar.numerics.arrays import dot
from bursar.numerics.trusted import UNIT

_LOSSES = Path(bursar.__file__).parent / "losses"
_FILES = sorted(
    [
        *(_LOSSES / "engines" / "lattice").glob("*.py"),
        *(_LOSSES / "residue").glob("*.py"),
        _LOSSES / "laws" / "allocated_moments.py",
        _LOSSES.parent / "numerics" / "trusted.py",
    ]
)
_BLAS = {"dot", "vdot", "matmul", "tensordot", "norm"}


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.name)
def test_prices_are_not_summed_by_threads(file: Path) -> None:
    """Products of arrays go through `arrays.dot`: BLAS adds in an order that depends on its threads."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        assert not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)), f"line {node.lineno}"
        assert not (isinstance(node, ast.Attribute) and node.attr in _BLAS), f"line {node.lineno}"


def test_a_sum_of_products_errs_by_its_length_at_most() -> None:
    """What the error terms assume of it: n units of the sum of sizes."""
    rng = np.random.default_rng(3)
    left, right = rng.normal(size=30_000), rng.normal(size=30_000)
    exact = sum(int(x * 2**60) * int(y * 2**60) for x, y in zip(left.tolist(), right.tolist(), strict=True)) / 2**120
    assert abs(dot(left, right) - exact) <= len(left) * UNIT * dot(np.abs(left), np.abs(right))
