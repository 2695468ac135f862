"""An interval that is wider than asked, or has no lower end, says which term is wide and what would narrow it."""

from __future__ import annotations

import pytest

import bursar as b
from bursar.losses.engines.answer import Answer
from bursar.theorems._width import why_wide


def wide(engine: str, *errors: tuple[str, float]) -> Answer:
    """An answer that is a tenth wide, with these errors."""
    return Answer(0.9, 1.0, errors, engine, 10, 1.0)


@pytest.mark.parametrize(
    ("found", "effort", "kinds", "said"),
    [
        (wide("lattice", ("discretisation", 0.2), ("rounding", 0.1)), "normal", 3, 'effort="high" allows more points'),
        (wide("lattice", ("discretisation", 0.2), ("rounding", 0.1)), "low", 3, 'effort="normal" allows more points'),
        (wide("lattice", ("discretisation", 0.2)), "high", 3, "fewer than these 3 different mechanisms"),
        (wide("contour", ("aliasing", 0.1), ("rounding", 0.2)), "normal", 2, "fewer than these 2 different mechanisms"),
        (wide("contour", ("rounding", 0.2)), "normal", 1, "no setting narrows it"),
        (wide("top event"), "normal", 1, "no setting narrows it"),
    ],
    ids=["more points", "from low", "all points used", "many kinds", "one kind", "no budget"],
)
def test_what_would_narrow_it(found: Answer, effort: str, kinds: int, said: str) -> None:
    """The widest term is named, and the advice is one that can be followed."""
    reason = why_wide(found, 1e-6, effort, kinds)
    assert reason.startswith("; that is wider than the 1e-06 asked")
    assert said in reason
    if found.errors:
        assert max(found.errors, key=lambda term: term[1])[0] in reason


def test_a_narrow_answer_needs_no_excuse() -> None:
    """Where the width is reached nothing is added."""
    assert why_wide(wide("lattice", ("rounding", 0.2)), 0.1, "normal", 9) == ""
    assert "wider" not in b.account(b.Gaussian(20) * 100 + b.Laplace(100) * 5, delta=1e-6).epsilon.because


def test_a_report_that_is_wider_than_asked_says_so() -> None:
    """A width that cannot be reached is named in the answer's own reason."""
    found = b.account(b.Gaussian(20) * 100 + b.Laplace(100) * 5, delta=1e-6, width=1e-12).epsilon
    assert found.upper - found.lower > 1e-12 * found.upper
    assert "wider than the 1e-12 asked: its widest term is " in found.because


@pytest.mark.parametrize(
    ("what", "named"),
    [
        (b.Declared(b.ZCDP("1/10")) * 3, "zcdp(rho=1/10)"),
        (b.Declared(b.ApproxDP("1/10", "0")) * 3, None),
    ],
    ids=["unknown losses", "told exactly or not"],
)
def test_an_answer_without_a_lower_end_says_whose_fault_it_is(what: b.Composition, named: str | None) -> None:
    """Promises have no lower end by nature: the mechanism that states nothing more is named."""
    found = b.account(what, delta=1e-6).epsilon
    if found.lower == 0:
        assert "no lower end, since " in found.because
        assert named is None or named in found.because
    assert "no lower end" not in b.account(b.Gaussian(3) * 2, delta=1e-6).epsilon.because
