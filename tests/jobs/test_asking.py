"""Which theorems are asked: all that can matter, and those that take long only where they can."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import bursar as b
from bursar.jobs import account as job
from bursar.theorems import THEOREMS, Bound

ALL = [theorem.id for theorem in THEOREMS]
FIRST = {"single", "leaks", "numerical", "strategies"}
MANY = sum((b.Laplace(scale=20 + i) for i in range(20)), b.Composition())
SAMPLED = b.PoissonSampled(b.Gaussian(1.0), 0.01) * 1000


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the theorems that were asked, in their order."""
    names: list[str] = []

    def counted(theorem: Any) -> Any:
        def answer(*given: Any) -> Any:
            names.append(theorem.id)
            return theorem.answer(*given)

        return replace(theorem, answer=answer)

    monkeypatch.setattr(job, "THEOREMS", tuple(map(counted, THEOREMS)))
    return names


def test_what_no_proof_can_better_is_not_proved_again(asked: list[str]) -> None:
    """Twenty different Laplaces: the engine encloses their ε, and nobody converts sixty promises to say it worse."""
    report = b.account(MANY, delta=1e-6)
    assert set(asked) == FIRST
    reasons = {row.reason for row in report.rows if row.id not in FIRST}
    assert len(reasons) == 1
    assert reasons.pop().startswith("left unasked: numerical encloses the answer to ")


@pytest.mark.parametrize(
    "text",
    [
        "poisson(gaussian(sigma=1), rate=0.01)*1000",
        "gaussian_mixture(sigma=0.36, shifts=[0, 0.03, 1.6], weights=[0.5, 0.3, 0.2])*1000",
    ],
)
def test_no_integral_is_taken_for_an_answer_that_is_known(asked: list[str], text: str) -> None:
    """Where a divergence of each order is an integral, it is left alone once engines enclose the answer."""
    b.account(text, delta=1e-9)
    assert "numerical" in asked
    assert not {"renyi", "optimal"} & set(asked)


def test_a_theorem_that_is_named_is_asked(asked: list[str]) -> None:
    """``theorems`` asks all that it names, whatever is known already."""
    report = b.account(MANY, delta=1e-6, theorems=ALL)
    assert sorted(asked) == sorted(ALL)
    assert sum(row.bound is not None for row in report.rows) >= 7


@pytest.mark.parametrize(
    ("what", "more"),
    [
        (sum((b.Declared(b.ZCDP(f"0.0{i}")) for i in range(10, 30)), b.Composition()), {}),  # no engine serves this
        (MANY, {"width": 1e-12, "effort": "low"}),  # nor this as closely
    ],
    ids=["unknown losses", "a width that is not reached"],
)
def test_everybody_is_asked_where_the_answer_is_open(asked: list[str], what: b.Composition, more: Any) -> None:
    """Where nothing encloses the answer as closely as asked, every theorem has its say."""
    b.account(what, delta=1e-6, **more)
    assert sorted(asked) == sorted(ALL)


def test_few_mechanisms_are_asked_of_everybody(asked: list[str]) -> None:
    """A report of a few mechanisms shows what every theorem says, but for those that take long for what is sampled."""
    b.account(b.Gaussian(sigma=20.0) * 1000 + b.Laplace(scale=100.0) * 5, delta=1e-6)
    assert sorted(asked) == sorted(ALL)
    asked.clear()
    b.account(SAMPLED, delta=1e-6)
    assert set(ALL) - set(asked) == {"optimal", "renyi"}


@pytest.mark.parametrize("question", [{"delta": 1e-6}, {"epsilon": 0.2}], ids=str)
@pytest.mark.parametrize("what", [MANY, SAMPLED, MANY + b.Gaussian(30.0) * 3], ids=["bounded", "sampled", "mixed"])
def test_who_was_left_unasked_would_have_changed_nothing(what: b.Composition, question: Any) -> None:
    """All theorems together contradict nobody, and narrow the answer by no more than the width that was reached."""
    some, every = b.account(what, **question).bound, b.account(what, **question, theorems=ALL).bound
    assert some.lower <= every.lower <= every.upper <= some.upper
    assert some.upper - every.upper <= 1e-4 * some.upper


def test_theorems_that_exclude_each_other_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong bound among those that are asked first contradicts the others, and that is an error."""
    wrong = [
        replace(theorem, answer=lambda *_: Bound(9.0, 9.0, "a wrong proof")) if theorem.id == "leaks" else theorem
        for theorem in THEOREMS
    ]
    monkeypatch.setattr(job, "THEOREMS", tuple(wrong))
    with pytest.raises(b.errors.ContradictionError):
        b.account(MANY, delta=1e-6)


@pytest.mark.parametrize(
    ("bound", "width", "close"),
    [
        ((1.0, 1.0 + 1e-7), 1e-6, True),
        ((1.0, 1.0 + 1e-5), 1e-6, False),
        ((0.0, 0.0), 1e-6, True),
        ((0.0, 1e-300), 1e-6, False),
        ((float("inf"), float("inf")), 1e-6, True),
        ((1.0, float("inf")), 1e-6, False),
    ],
)
def test_when_an_answer_counts_as_enclosed(bound: tuple[float, float], width: float, close: bool) -> None:
    """Ends that are the same, or as close as asked; an infinite upper end beside a finite lower one is open."""
    assert Bound(*bound, "so").encloses(width) is close
