"""Balls and arrays are real types: the type checker refuses what they cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest
from mypy import api

from support.where import SOURCE, TOP

HEAD = """\
from bursar.numerics.arrays import Array, Complexes
from bursar.numerics.balls import Ball, ComplexBall, ball, complex_ball, up
from bursar.numerics.quadrature import real_integral
from bursar.numerics.trusted import forward, normal_cdf

def use(x: Ball, z: ComplexBall, v: Array, w: Complexes) -> None:
"""
MISUSES = {
    'up("0.1")': "arg-type",
    "up(z)": "arg-type",
    "x.squared()": "attr-defined",
    "z.upper()": "attr-defined",
    'x + "1"': "operator",
    "z < x": "operator",
    'ball("0.1")': "arg-type",
    "plain: float = x * 2": "assignment",
    "one: Ball = complex_ball(x)": "assignment",
    "real_integral(lambda y, analytic: y.exp(), 1.0)": "arg-type",
    "v.squared()": "attr-defined",
    "normal_cdf(x)": "arg-type",
    "forward(w)": "arg-type",
    "two: Array = w": "assignment",
}
USES = (
    "up(2 * x + 1)",
    "up((z * x).exp().real)",
    "whole: Ball = sum((x, x), ball(0))",
    "real_integral(lambda y, analytic: y.exp(), (x, x))",
    "up(ball(0.1)) < float(x)",
    "normal_cdf(v * 2 - float(x))",
    "forward(v)",
)


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """What mypy, set as for the source itself, says about each line of a file with all uses and misuses."""
    folder = tmp_path_factory.mktemp("types")
    snippet = folder / "snippet.py"
    snippet.write_text(HEAD + "".join(f"    {line}\n" for line in (*MISUSES, *USES)), encoding="utf-8")
    settings = folder / "pyproject.toml"
    settings.write_text(
        (TOP / "pyproject.toml")
        .read_text(encoding="utf-8")
        .replace('mypy_path = "src"', f'mypy_path = "{SOURCE.parent}"'),
        encoding="utf-8",
    )
    said, trouble, _ = api.run(
        ["--config-file", str(settings), "--cache-dir", str(folder / "cache"), "--no-error-summary", str(snippet)]
    )
    assert trouble == ""
    found: dict[int, str] = {}
    for row in said.splitlines():
        place, _, text = row.partition(": error: ")
        if text:
            path, line = place.rsplit(":", 1)
            assert Path(path).name == snippet.name, row
            found[int(line)] = text
    return found


def test_each_misuse_is_refused(complaints: dict[int, str]) -> None:
    """A word for a ball, a method that balls lack, an order of complex numbers, numbers for arrays: all are errors."""
    first = HEAD.count("\n") + 1
    for line, (misuse, kind) in enumerate(MISUSES.items(), first):
        assert f"[{kind}]" in complaints.get(line, ""), misuse


def test_each_use_is_accepted(complaints: dict[int, str]) -> None:
    """What the source does with balls and arrays passes, so that the refusals above are about the misuse alone."""
    first = HEAD.count("\n") + 1
    assert set(complaints) == set(range(first, first + len(MISUSES)))
