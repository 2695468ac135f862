"""What a report says: rows, sentences, sources and JSON; and what every file and theorem says about itself."""

from __future__ import annotations

import importlib
import itertools
import json
import math
import pkgutil
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import strategies as st

import bursar as b
from bursar import theorems
from bursar.guarantees import KINDS
from bursar.jobs.account import meet
from bursar.jobs.report import Row
from bursar.mechanisms import CATALOGUE
from bursar.numerics.interval import Interval
from bursar.references import bibtex, entries
from bursar.theorems import THEOREMS, Abstain, Bound, ForDelta, ForEpsilon, Theorem
from support.catalogue import (
    ADD,
    CHEAPER,
    EXAMPLES,
    QUESTIONS,
    REPLACE,
    account,
    holding,
    plain,
    promises,
    spread,
)
from support.patience import within

SOURCES = Path(b.__file__).parent

every_example = pytest.mark.parametrize("mechanism", spread(EXAMPLES), ids=str)
every_question = pytest.mark.parametrize("question", QUESTIONS, ids=str)
MIXED = b.Gaussian(sigma=20.0) * 1000 + b.Laplace(scale=100.0) * 5


def test_nothing_of_the_catalogue_is_missing() -> None:
    """The examples, the random examples and the chains of cheaper ones cover every mechanism and every promise."""
    assert {m.name for m in EXAMPLES} == set(CATALOGUE) == set(CHEAPER)
    assert {m.guarantee.name for m in EXAMPLES if isinstance(m, b.Declared)} == set(KINDS) == set(promises())
    assert {*plain(ADD), *holding(REPLACE, st.nothing(), st.nothing())} == set(CATALOGUE)


@pytest.mark.parametrize("power", [-30, -16, -6, 4, 16, 30])
@pytest.mark.parametrize("name", ["Gaussian", "Laplace", "RandomizedResponse", "Exponential", "DiscreteGaussian"])
def test_extreme_parameters_have_an_answer(name: str, power: int) -> None:
    """Whatever a mechanism accepts as its parameter is accounted, once, often, and as often as can be."""
    mechanism = getattr(b, name)(f"1e{power}")
    for count, question in itertools.product((1, 1000, 10**12), QUESTIONS[:3]):
        with within(40):
            bound = account(mechanism * count, **question).bound
        assert 0 <= bound.lower <= bound.upper


@pytest.mark.parametrize("question", QUESTIONS[:2], ids=str)
def test_own_densities_are_answered_soon(question: dict[str, object]) -> None:
    """All theorems together answer about a user's own densities within seconds."""
    with within(40):
        assert b.account(b.Densities("1 + x/4", "1", low=-1, high=1) * 2, **question).bound.lower >= 0


@pytest.mark.parametrize("question", QUESTIONS[:2], ids=str)
def test_flat_losses_are_answered_soon(question: dict[str, object]) -> None:
    """Laplace noise written as densities, whose loss is flat beyond its corners, is answered within seconds."""
    with within(40):
        laplace = b.Densities("exp(-abs(x))", "exp(-abs(x - 1))", low=-40, high=41, breaks=[0, 1])
        bound = account(laplace, **question).bound
    exact = account(b.Laplace(scale=1), **question).bound
    assert bound.lower - 1e-9 <= exact.upper
    assert exact.lower - 1e-9 <= bound.upper


@pytest.mark.parametrize("composition", [MIXED, MIXED * 0, EXAMPLES[0] * 1, EXAMPLES[-1] * 3], ids=str)
@every_question
def test_a_report_tells_everything(composition: b.Composition, question: dict[str, object]) -> None:
    """Rows come best first with abstentions last, and the JSON, the sentences and the table speak of each."""
    report = account(composition, **question)
    uppers = [math.inf if row.bound is None else row.bound.upper for row in report.theorems]
    assert sorted(row.id for row in report.theorems) == sorted(theorem.id for theorem in THEOREMS)
    assert uppers == sorted(uppers)
    abstaining = [row.bound is None for row in report.theorems]
    assert abstaining == sorted(abstaining)
    assert all((row.bound is None) != (row.reason is None) for row in report.rows)
    form = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert [row["id"] for row in form["theorems"]] == [row.id for row in report.theorems]
    assert form["composition"] == str(composition)
    assert b.parse(form["composition"]) == composition
    assert form["relation"] == composition.relation
    words, table = report.explain(), str(report)
    assert all(f"- {row.id} " in words for row in report.rows)
    assert all(row.id in table for row in report.rows)
    assert max(map(len, table.splitlines())) <= 80
    assert composition.relation in table


def test_infinity_is_a_word() -> None:
    """JSON has no infinity, so the report writes "inf"."""
    report = b.account(b.Gaussian(sigma=1), delta=0)
    assert report.epsilon.upper == math.inf
    assert report.to_dict()["epsilon"]["upper"] == "inf"
    assert "Infinity" not in json.dumps(report.to_dict())


@every_example
def test_long_reports_fit(mechanism: b.Mechanism) -> None:
    """The table of any composition fits 80 columns."""
    for report in (account(mechanism * 1000, delta=1e-6), account(mechanism, epsilon=0.5)):
        assert max(map(len, str(report).splitlines())) <= 80


def test_a_report_answers_its_own_question() -> None:
    """Asking a report for the other number is refused, with how to ask for it."""
    with pytest.raises(b.BursarError, match=r"account\(…, epsilon=…\)"):
        _ = b.account(MIXED, delta=1e-6).delta
    with pytest.raises(b.BursarError, match=r"account\(…, delta=…\)"):
        _ = b.account(MIXED, epsilon=1).epsilon
    assert b.account(MIXED, epsilon=1).delta.because
    assert b.account(MIXED, delta=1e-6).asked == ("delta", "1e-06")


def test_the_decision_is_cited() -> None:
    """cite() gives BibTeX for the theorems that decided, and only for them."""
    report = b.account(b.RandomizedResponse(epsilon=0.1) * 100, delta=1e-6)
    deciding = [theorem for theorem in THEOREMS if theorem.id in report.decided_by]
    keys = re.findall(r"^@\w+\{([^,]+),", report.cite(), re.MULTILINE)
    assert keys == list(dict.fromkeys(key for theorem in deciding for key in theorem.citations))
    assert "optimal" in report.decided_by


def test_every_citation_resolves() -> None:
    """Every theorem has sources in references.bib, and so has every claim of every mechanism."""
    for theorem in THEOREMS:
        assert theorem.citations
        assert set(theorem.citations) <= set(entries()), theorem.id
    for mechanism in EXAMPLES:
        cited = {claim.citation for claim in mechanism.claims()} - {"declared"}
        assert cited <= set(entries()), mechanism
    assert bibtex(["no such key"]) == ""
    written = (SOURCES / "references.bib").read_text(encoding="utf-8")
    assert len(re.findall(r"^@", written, re.MULTILINE)) == len(entries())


def test_disjoint_bounds_contradict_each_other() -> None:
    """Two theorems whose intervals do not meet raise a ContradictionError that names both; touching ones do not."""
    one, two = (Theorem(name, name, ("DR14",), THEOREMS[0].adaptivity, lambda c, q: None) for name in ("one", "two"))
    question = ForEpsilon(b.Gaussian(sigma=1).sigma)
    rows = (Row(one, Bound(0.0, 1.0, "small")), Row(two, Bound(1.0000001, 2.0, "large")))
    with pytest.raises(b.errors.ContradictionError, match=r"two.*1\.0000001.*one.*1\.0"):
        meet(rows, question)
    met = meet((rows[0], Row(two, Bound(1.0, 2.0, "large"))), question)
    assert (met.lower, met.upper) == (1, 1)


def test_no_theorem_means_no_bound() -> None:
    """Where every theorem abstains, nothing is claimed: ε up to infinity, δ up to 1."""
    silent = (Row(THEOREMS[0], Abstain("not today")),)
    number = b.Gaussian(sigma=1).sigma
    epsilon, delta = meet(silent, ForEpsilon(number)), meet(silent, ForDelta(number))
    assert (epsilon.lower, epsilon.upper, delta.lower, delta.upper) == (0, math.inf, 0, 1)


@pytest.mark.parametrize("kind", [Bound, Interval])
def test_a_bound_is_not_a_number(kind: type) -> None:
    """Neither a bound nor an interval turns into a float by itself: which end is safe depends on the question."""
    assert not {"__float__", "__int__", "__index__", "__lt__", "__add__"} & set(dir(kind)) - set(dir(object))


PARTS = ["Statement", "Hypotheses", "Source", "Code/paper", "Rounding", "Checked"]


FILES = [module.name for module in pkgutil.iter_modules(theorems.__path__) if module.name[0] != "_"]


@pytest.mark.parametrize("name", sorted({*FILES} - {"plugins"}))  # which finds the theorems of others
def test_every_theorem_says_what_it_proves(name: str) -> None:
    """Each theorem's docstring has its parts in order, and the index lists the theorem."""
    module = importlib.import_module(f"bursar.theorems.{name}")
    assert re.findall(rf"^({'|'.join(PARTS)}): \S", module.__doc__ or "", re.MULTILINE) == PARTS
    assert module.THEOREM in THEOREMS
    assert module.THEOREM.id == name


def test_mixed_readings_are_kept() -> None:
    """A float and the same decimal given exactly are one term that covers the readings of both."""
    loose, exact = b.RandomizedResponse(epsilon=0.1), b.RandomizedResponse(epsilon=Fraction(1, 10))
    for mixed in (loose + exact, exact + loose):
        assert mixed == exact * 2
        assert len(mixed.terms) == 1
        assert b.account(mixed, delta=0).to_dict() == b.account(loose * 2, delta=0).to_dict()
