"""What went wrong elsewhere must not go wrong here."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest
from flint import arb

import bursar as b
from bursar.numerics.balls import working
from bursar.theorems import Bound
from bursar.theorems.optimal import Responses
from support.catalogue import EXAMPLES, account, spread
from support.responses import answers, exact

TRUNCATED = b.TruncatedPoisson(b.Gaussian(2), "1/100", most=15, population=1000)
LN3 = "1.098612288668109691395245236922525704647490557822749451734694"


CASES: list[tuple[b.Composition | b.Mechanism, str, Callable[[Bound], bool]]] = [  # at which δ, and what holds
    # a peer says 1.0987 for a hundred responses with odds 3 if they are counted, not looped, and ignores other counts
    (b.RandomizedResponse(LN3, relation="replace_one") * 100, "1e-6", lambda x: 94.28 < x.lower <= x.upper < 94.298),
    (b.Exponential(1) * 100, "1e-6", lambda x: x.upper > 10),
    # a peer's intervals for a hundred pure mechanisms, [71.92, 72.12] and [111.9, 112.1], exclude the truth
    (b.Declared(b.PureDP(1)) * 100, "1e-6", lambda x: x.lower > 72.12 and abs(x.upper - 83.53) < 0.005),
    (b.Declared(b.PureDP(2)) * 100, "1e-6", lambda x: x.lower > 112.1 and abs(x.upper - 199.61) < 0.005),
    # a peer loses pure privacy: one Laplace release of scale 1 at δ = 0 gets ε = ∞, where ε = 1 holds
    (b.Laplace(1), "0", lambda x: x.lower == x.upper == 1.0),
    (b.Laplace(1) * 3 + b.RandomizedResponse("1/2"), "0", lambda x: x.lower == x.upper == 3.5),
    # a block of the data about which nothing is released costs nothing, beside the others or alone
    (b.Disjoint(b.Laplace(1) * 0, b.Laplace(1) * 2), "0", lambda x: x.upper == 2.0),
    (b.Disjoint(b.Laplace(1) * 0), "1e-6", lambda x: x.upper == 0.0),
]


@pytest.mark.parametrize(("what", "delta", "holds"), CASES, ids=lambda value: "" if callable(value) else str(value))
def test_known_answers(what: b.Composition | b.Mechanism, delta: str, holds: Callable[[Bound], bool]) -> None:
    """The answer is what it should be where a peer's is not."""
    found = b.account(what, delta=delta).bound
    assert holds(found), found


def test_no_noise_is_needed_where_nothing_is_told() -> None:
    """Gaussian privacy of μ = 0 costs nothing, at no δ too; one with μ above 0 has no bound there."""
    for mu, upper in (("0", 0.0), ("1/10", math.inf)):
        assert answers(b.Declared(b.GDP(mu)) * 3, delta="0")["gdp"].upper == upper


def test_no_negative_epsilon() -> None:
    """A peer's Rényi accountant says ε = −0.105 for one sampled Gaussian step at δ = 0.1."""
    bounds = answers(b.PoissonSampled(b.Gaussian(100), "1/1000"), delta="1/10")
    assert bounds["renyi"].upper == 0
    assert all(bound.lower >= 0 for bound in bounds.values())


def test_more_releases_than_the_sum_is_kept_to() -> None:
    """Beyond ten million copies the exact sum abstains with its reason, and others still answer."""
    report = b.account(b.RandomizedResponse("1/100000") * (10**7 + 1), delta="1e-6")
    assert {row.id: row for row in report.rows}["optimal"].reason is not None
    assert 0 < report.bound.upper < 1


@pytest.mark.parametrize("mechanism", [*spread(EXAMPLES), TRUNCATED], ids=str)
def test_counts_are_not_ignored(mechanism: b.Mechanism) -> None:
    """A peer ignored the count of some mechanisms: here a hundred releases cost more than one, in ε and in δ."""
    for question in ({"delta": "1e-6"}, {"epsilon": "1"}):
        once, often = (account(mechanism * count, **question).bound.upper for count in (1, 100))
        assert often > once or often in (0.0, 1.0, math.inf)


def test_one_meaning_of_sigma() -> None:
    """A peer's σ means two things: its accountants say 10.997 and 5.2215 for one replace-one Gaussian of σ = 1."""
    first, second = (answers(b.Gaussian(1, relation=name), delta="1e-6") for name in ("add_remove", "replace_one"))
    assert {name: (x.lower, x.upper) for name, x in first.items()} == {n: (x.lower, x.upper) for n, x in second.items()}
    assert {"single", "renyi", "zcdp", "gdp"} <= set(first)
    assert all(4.8865541 < bound.upper < 5.2216 for bound in first.values())
    assert first["gdp"].lower - 1e-14 <= 4.88655411746221 <= first["gdp"].upper + 1e-14


def test_an_empty_history() -> None:
    """A peer raises on an empty history; nothing released costs nothing, by every theorem."""
    for question in ({"delta": "0"}, {"delta": "1e-6"}, {"epsilon": "0"}, {"epsilon": "1"}):
        assert all((bound.lower, bound.upper) == (0, 0) for bound in answers(b.Composition(), **question).values())


def test_the_lecture_example() -> None:
    """For k = 100, ε = 0.1, δ = 1e-6 the closed forms and the optimum are the known ones, and 17.67 is nowhere."""
    bounds = answers(b.Declared(b.PureDP("1/10")) * 100, delta="1e-6")
    for name, value in (("strong", 5.75610551933573), ("drv10", 6.30823095051341), ("optimal", 4.77456758810799)):
        assert bounds[name].upper == pytest.approx(value, rel=1e-14)
    assert bounds["optimal"].lower == pytest.approx(4.77456758810799, rel=1e-14)
    assert not any(17 < end < 18 for bound in bounds.values() for end in (bound.lower, bound.upper))


@mpmath.workdps(50)
def test_delta_next_to_one() -> None:
    """A δ that differs from 1 by less than the working precision still needs its large ε: 1000 + ln(room)."""
    rooms = {b.PureDP(1000): "1e-45", b.ApproxDP(1000, "1/2"): "2e-45", b.BoundedRange(1000): "25e-92"}
    for promise, room in rooms.items():
        found = b.convert(promise, b.ApproxDP, delta=1 - Fraction("1e-45"))
        assert exact(found.epsilon) >= (1000 + mpmath.log(exact(room))) * (1 - mpmath.mpf(10) ** -30)


def test_a_wrong_guess_of_the_deciding_event_costs_only_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Floats choose the event that decides ε; where they choose another one, balls notice."""
    with working():
        right = Responses(arb("0.1"), 100).epsilon_at(arb("1e-6"))
        for guess in (0, 10, 30, 49):
            monkeypatch.setattr(Responses, "_search", lambda self, _, m=guess: m)
            found = Responses(arb("0.1"), 100).epsilon_at(arb("1e-6"))
            assert max(found.lower, right.lower) <= min(found.upper, right.upper)
