"""Products of vectors and matrices on one core."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bursar
from bursar.numerics.arrays import Array
from bursar.numerics.products import product, summed

SHAPES = [
    ((7,), (7,)),
    ((0,), (0,)),
    ((8192,), (8192,)),
    ((20_001,), (20_001,)),
    ((5, 6), (6,)),
    ((0, 6), (6,)),
    ((101, 203), (203,)),
    ((3, 20_001), (20_001,)),
    ((203,), (203, 101)),
    ((20_001,), (20_001, 3)),
    ((4, 5), (5, 6)),
    ((101, 103), (103, 107)),
    ((1, 300), (300, 501)),
    ((501, 300), (300, 1)),
    ((2, 20_001), (20_001, 3)),
    ((701, 3), (3, 702)),
    ((0, 4), (4, 5)),
    ((3, 50, 60), (60,)),
    ((3, 50, 60), (60, 70)),
    ((3, 50, 60), (3, 60, 70)),
]


def _some(shape: tuple[int, ...], imaginary: bool, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    found = rng.standard_normal(shape)
    return found + 1j * rng.standard_normal(shape) if imaginary else found


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("imaginary", [(False, False), (True, False), (False, True), (True, True)], ids=str)
def test_products_are_numpys(shapes: tuple[tuple[int, ...], tuple[int, ...]], imaginary: tuple[bool, bool]) -> None:
    """Of every shape, real and complex, turned and cut: as numpy's, but for the order of the sums."""
    left, right = (_some(shape, kind, i) for i, (shape, kind) in enumerate(zip(shapes, imaginary, strict=True)))
    turned = [left, np.asfortranarray(left), np.concatenate([left, left], axis=-1)[..., : left.shape[-1]]]
    size = np.abs(left) @ np.abs(right)
    for one in turned:
        found, wanted = product(one, right), one @ right
        assert np.shape(found) == np.shape(wanted)
        assert np.asarray(found).dtype == wanted.dtype
        # each of the two sums is off by no more than its terms are worth so many roundings
        assert (np.abs(found - wanted) <= 8 * left.shape[-1] * 2.0**-53 * size).all()


def test_sums_are_plain_numbers() -> None:
    """Σ left·right is a float, short or long."""
    ones = np.ones(30_000)
    assert type(summed(ones, ones)) is float
    assert (summed(ones, ones), summed(ones[:3], ones[:3])) == (30_000, 3)


@pytest.mark.parametrize("shapes", [((3,), (4,)), ((3, 4), (3,)), ((3, 4), (5, 6)), ((2, 3, 4), (3, 4, 5))], ids=str)
def test_what_does_not_fit_is_an_error(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    """Shapes that do not meet are not multiplied somehow."""
    with pytest.raises(ValueError, match=r"mismatch|shorter|longer|size"):
        product(*map(np.ones, shapes))


def test_everybody_multiplies_here() -> None:
    """No ``@`` and no other door to BLAS elsewhere in what computes: one long product would wake all its threads."""
    found, root = [], Path(bursar.__file__).parent
    for path in root.rglob("*.py"):
        if path.name == "products.py" or path.relative_to(root).parts[0] in ("cohorts", "adapters"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            matrices = isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult)
            named = isinstance(node, ast.Attribute) and node.attr in ("matmul", "inner", "vdot", "tensordot", "vecdot")
            if matrices or (named and isinstance(node.value, ast.Name) and node.value.id == "np"):
                found.append(f"{path.relative_to(root)}:{node.lineno}")
    assert found == []


SPY = """
import sys, time
import numpy as np
import bursar as b

few, mixed = b.parse("poisson(gaussian(sigma=1), rate=0.01)*3"), b.parse(sys.argv[2])
jobs = {
    "account": lambda: [b.account(few, delta="1e-6"), b.account(mixed, delta="1e-6")],
    "profile": lambda: b.profile(few, np.linspace(0, 0.4, 50)),
    "plan": lambda: b.plan("poisson(gaussian(sigma=?), rate=0.01)*3", epsilon=1, delta="1e-6"),
    "sweep": lambda: b.sweep(
        lambda sigma, rate: b.PoissonSampled(b.Gaussian(sigma=sigma), rate=rate) * 1000,
        epsilons=[1, 2], deltas=["1e-6"], settings=[0.01, 0.02, 0.03], progress=False,
    ),
}
job = jobs[sys.argv[1]]
whole, own = time.process_time(), time.thread_time()
job()
whole, own = time.process_time() - whole, time.thread_time() - own
print(whole - own, own)
"""
MIXED = " + ".join(
    f"poisson(gaussian(sigma={1 + i / 20}), rate={(i + 1) / 1000})*{i + 1} + laplace(scale={30 + i})" for i in range(20)
)


@pytest.mark.parametrize("job", ["account", "profile", "plan", "sweep"])
def test_no_thread_but_ours_works(job: str) -> None:
    """Where linear algebra may have as many threads as it likes, none of them takes processor time for an answer."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", SPY, job, MIXED], env=environment, capture_output=True, text=True, check=True
    )
    others, own = map(float, done.stdout.split())
    assert others < 0.02 * own + 0.01  # the two clocks are not read at one moment
