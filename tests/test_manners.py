"""Every result is named in a line, said in words, and shown in a notebook."""

from __future__ import annotations

import importlib
import math
import pkgutil
import re
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bursar as b
from bursar import presented
from bursar.guarantees import Guarantee, ProbabilisticDP
from bursar.jobs.converting import spoken, written
from bursar.numerics.interval import Interval
from bursar.numerics.shown import shown_exactly
from bursar.numerics.validate import whole
from bursar.presented import LONGEST, Presented, Tabled
from bursar.written import Written
from support.catalogue import EXAMPLES
from support.markup import balanced

GAUSSIANS = b.Gaussian(sigma=20) * 100
MANY = b.Composition([b.Gaussian(sigma=10 + i) for i in range(500)])
LEDGER = b.Ledger("memory://", alert=None)


@cache
def results() -> dict[str, Any]:
    """One of each kind of result, long ones above all, by what they are."""
    LEDGER.open("data", epsilon=1, delta="1e-6")
    receipt = LEDGER.spend("data", b.Composition([b.Gaussian(sigma=900 + i) for i in range(200)]))
    quote = LEDGER.quote("data", "gaussian(sigma=60)")
    report = b.account(b.Laplace(scale=3) * 7, epsilon=1)
    curve = b.profile(b.Gaussian(sigma=1), [x / 10 for x in range(60)])
    sharing = b.split([1, 2], epsilon=1, delta=1e-6, noise="gaussian")
    swept = b.sweep(lambda sigma: b.Gaussian(sigma=sigma) * 10, epsilons=[1, 2], deltas=[1e-6])
    state = LEDGER.show("data")
    return {
        "report": report,
        "long report": b.account(MANY, delta=1e-6),
        "row": report.theorems[0],
        "abstaining row": report.theorems[-1],
        "bound": report.bound,
        "abstain": report.theorems[-1].result,
        "interval": Interval(0.1, 0.2),
        "plan": b.plan("gaussian(sigma=?)*10", epsilon=1, delta=1e-6),
        "curve": curve,
        "band": curve.trade_off([0.1, 0.2]),
        "split": sharing,
        "share": sharing.shares[0],
        "sweep": swept,
        "cell": swept[0],
        "training": b.training(records=6e4, batch_size=256, epochs=1, sigma=1, delta=1e-5),
        "trainings": b.training(records=6e4, batch_size=256, epochs=1, epsilon=3, delta=1e-5, batch_sizes=[512]),
        "counting": b.lecture.counting([1, 10], epsilon=1, delta=1e-6),
        "worst case": b.lecture.worst_case(["1/10"] * 10),
        "simulation": b.lecture.simulation_map(["1/2", "1/2"], ["1/3", "2/3"], odds=2, delta="1e-3"),
        "laplace from bits": b.lecture.LaplaceSimulation(1),
        "composition": GAUSSIANS,
        "long composition": MANY,
        "term": GAUSSIANS.terms[0],
        "claim": b.Gaussian(sigma=1).claims()[0],
        "rényi curve": b.convert("zcdp(rho=1/2)", b.Renyi),
        "profile of a promise": b.convert("gdp(mu=1)", "profile"),
        "derived": b.convert("zcdp(rho=1/2)", "approx_dp", delta=1e-6),
        "ledger": LEDGER,
        "receipt": receipt,
        "quote": quote,
        "part": quote.parts[0],
        "taken": quote.taken[0],
        "reservation": LEDGER.reserve("data", "gaussian(sigma=60)", ttl=60),
        "statement": state,
        "line": state.lines[0],
        "scope": LEDGER.scope("data"),
        "verification": LEDGER.verify(),
        **{f"{one.name} {i}": one for i, one in enumerate(EXAMPLES)},
    }


def test_a_result_is_named_in_a_line() -> None:
    """Its repr has no more than 300 characters and three lines, and no addresses; its words say something."""
    for name, result in results().items():
        text = repr(result)
        assert 0 < len(text) <= LONGEST, name
        assert len(text.splitlines()) <= 3, name
        assert not re.search(r"0x[0-9a-f]{6,}|object at", text), text
        assert str(result).strip(), name


def test_a_result_is_shown_in_a_notebook() -> None:
    """As HTML in which everything closes and nothing runs; what is in it is escaped."""
    for name, result in results().items():
        shown = result._repr_html_()
        balanced(shown)
        assert re.sub(r"<[^>]*>", "", shown).strip(), name


def kinds(of: type) -> set[type]:
    """Everything below a class that is ours."""
    below = {one for direct in of.__subclasses__() for one in {direct, *kinds(direct)}}
    return {one for one in below if one.__module__.startswith("bursar.")}


def test_no_kind_of_result_is_forgotten() -> None:
    """Every class that presents itself is among those that are looked at here."""
    for module in pkgutil.walk_packages(importlib.import_module("bursar").__path__, "bursar."):
        if module.name.partition(".")[2].partition(".")[0] in ("jobs", "lecture", "ledger", "theorems", "numerics"):
            importlib.import_module(module.name)
    bases = {Tabled, presented.Named, Written}
    looked = {type(one) for one in results().values()}
    wanted = {
        one
        for one in kinds(Presented) - bases
        if not issubclass(one, (b.Mechanism, Guarantee)) and not one.__subclasses__()
    }
    assert wanted - looked <= {ProbabilisticDP}


def test_long_values_are_cut_not_lost() -> None:
    """Five hundred different mechanisms are named in a line that says how many there are; their text is whole."""
    assert "500 different mechanisms, 500 releases" in repr(MANY)
    assert b.parse(str(MANY)) == MANY


FRACTIONS = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9, max_denominator=10**30)
ends = st.floats(allow_nan=False, allow_infinity=False, width=64).filter(lambda x: 1e-200 < abs(x) < 1e200 or x == 0)


@given(st.tuples(ends, ends).map(sorted), st.sampled_from([".3f", ".0f", ".2e", ".4g", "g", ".1%", "+.3f", ",.2f"]))
def test_intervals_are_formatted_outward(pair: list[float], form: str) -> None:
    """The lower end that is printed is not above the lower end, the upper one not below the upper."""
    text = format(Interval(*pair), form)
    low, high = text.strip("[]").split(", ")
    scale = 100 if "%" in form else 1
    read = [Fraction(end.replace(",", "").rstrip("%")) / scale for end in (low, high)]
    assert read[0] <= Fraction(pair[0])
    assert Fraction(pair[1]) <= read[1]


def test_bounds_are_formatted_outward() -> None:
    """So are a report's answers; without a format they say all, and a format of texts is one."""
    bound = b.account(b.RandomizedResponse("0.1") * 100, delta=1e-6).epsilon
    assert f"{bound:.3f}" == "[4.774, 4.775]"
    assert f"{Interval(1, 2)}" == "[1, 2]"
    assert f"{Interval(1, 2):>8}" == "  [1, 2]"
    with pytest.raises(ValueError, match="format"):
        format(Interval(1, 2), "d")


def test_pictures_are_at_hand() -> None:
    """``b.plot`` resolves without an import of its own, and editors are told of it."""
    assert "plot" in dir(b)
    assert b.plot.loss_figure is importlib.import_module("bursar.plot").loss_figure


def test_texts_are_taken_for_values() -> None:
    """account, profile and convert read the text form; counts may be written 1e3 and 10_000."""
    whole = b.account(b.Gaussian(sigma=20) * 1000, delta=1e-6).epsilon
    for what in ("gaussian(sigma=20)*1e3", "gaussian(sigma=20)*1_000", "10_00*gaussian(sigma=2_0)"):
        assert b.account(what, delta=1e-6).epsilon == whole
    assert b.Gaussian(sigma=20) * 1e3 == b.Gaussian(sigma=20) * 1000
    assert b.profile("laplace(scale=2)", [0.1]).upper.tolist() == b.profile(b.Laplace(scale=2), [0.1]).upper.tolist()
    assert b.convert("gdp(mu=1)", "ZCDP") == b.convert(b.GDP(1), b.ZCDP)
    assert b.Composition([b.Gaussian(1), b.Gaussian(1) * 2, (b.Laplace(2), 3)]) == b.Gaussian(1) * 3 + b.Laplace(2) * 3


def test_aliases_of_theorems() -> None:
    """A textbook's name asks the same theorem."""
    asked = [b.account("laplace(scale=9)*20", delta=1e-6, theorems=[name]).rows[0] for name in ("advanced", "drv10")]
    assert asked[0] == asked[1]
    assert asked[0].bound is not None


def test_promises_are_spoken_safely() -> None:
    """Six digits, never less than what was derived; a curve is written down at some points."""
    promise = b.convert("zcdp(rho=1/2)", "approx_dp", delta=1e-6)
    assert spoken(promise) == "approx_dp: epsilon = 5.22154, delta = 1e-06"
    assert promise.epsilon <= Decimal("5.22154")
    curve = written(b.convert("zcdp(rho=1/2)", "renyi"))
    assert b.parse(f"declared({curve.text()})").count == 1
    assert "orders = [2, 4," in spoken(curve)
    tight = b.TCDP(rho=Decimal("0.12345678901234"), omega=Decimal("1234567.8901234"))
    assert spoken(tight) == "tcdp: rho = 0.123457, omega = 1234560"


@given(FRACTIONS, st.booleans(), st.integers(1, 15))
def test_numbers_are_spoken_on_the_safe_side(number: Fraction, up: bool, digits: int) -> None:
    """However few digits are shown, and though the number is no float."""
    said = Fraction(shown_exactly(number, up=up, digits=digits))
    assert said >= number if up else said <= number
    assert abs(said - number) <= 2 * number / 10 ** (digits - 1)


def test_what_lies_beside_a_round_number_is_spoken_beside_it() -> None:
    """A hair above one is not one, and a hair below it is not one either."""
    hair = Fraction(1, 10**30)
    assert Fraction(shown_exactly(1 + hair, up=True)) > 1
    assert Fraction(shown_exactly(1 - hair, up=False)) < 1


def test_counts_are_whole() -> None:
    """A float that is whole counts as far as floats tell whole numbers apart; halves, texts and larger ones do not."""
    assert whole(count=1e3, at_least=0) == 1000
    for wrong in (2.5, 2.0**53, math.inf, math.nan, "1e3", True):
        with pytest.raises(b.InputError, match="count must be a whole number"):
            whole(count=wrong, at_least=0, at_most=10**30)
