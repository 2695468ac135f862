"""`exhausted_share`: what is set aside for it, what it costs, and that an answer is given once."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.cohorts import PersonFilter
from bursar.cohorts.people.share import Share
from bursar.errors import BudgetExceeded, CurrencyMismatch, InputError, KeyReused, ScopeFrozen
from support.tables import SECRET, arrow

HALF = b.Declared(b.ZCDP(rho="33/10000"))
MANY = arrow([(f"person {number}", 1.0) for number in range(1000)])


@pytest.fixture
def kept(people: Callable[..., PersonFilter]) -> PersonFilter:
    """A filter of 1/100, of which a third is set aside: two halves of the rest for everybody."""
    return people(reserve="1/300")


def test_what_is_set_aside_is_for_nothing_else(kept: PersonFilter) -> None:
    """Admissions stop at the rest; the statement shows what is held, and the promise is B for all of it."""
    admitted = [kept.admit(MANY, HALF, key=f"q-{number}").num_rows for number in range(3)]
    assert admitted == [1000, 1000, 0]
    line = kept.ledger.show("visits").line("rho")
    assert line.held == Fraction(1, 300)
    assert line.spent + line.held == line.limit
    found = kept.exhausted_share(HALF, sigma=20, key="how many")
    assert 850 < found.exhausted < 1150
    assert -150 < found.others < 150
    assert found.share is not None
    assert 0.8 < found.share <= 1
    line = kept.ledger.show("visits").line("rho")
    assert Fraction(1, 800) <= Fraction(1, 300) - line.held < Fraction(1, 800) + Fraction(1, 10**8)
    assert line.spent + line.held == line.limit
    assert kept.verify().ok


def test_an_answer_is_given_once(kept: PersonFilter) -> None:
    """The same key gives the same counts, after later charges too, and costs nothing."""
    kept.admit(MANY, HALF, key="q-1")
    first = kept.exhausted_share(HALF, sigma=20, key="how many")
    kept.admit(MANY, HALF, key="q-2")
    held = kept.ledger.show("visits").line("rho").held
    assert kept.exhausted_share(HALF, sigma=20, key="how many") == first
    assert kept.ledger.show("visits").line("rho").held == held
    assert kept.exhausted_share(HALF, sigma=20, key="and now") != first
    for other in ({"what": HALF, "sigma": 30}, {"what": b.Gaussian(sigma=50), "sigma": 20}):
        with pytest.raises(KeyReused):
            kept.exhausted_share(**other, key="how many")
    with pytest.raises(KeyReused):
        kept.exhausted_share(HALF, sigma=20, key="q-1")
    with pytest.raises(KeyReused):
        kept.admit(MANY, HALF, key="how many")


def test_questions_end_where_the_reserve_does(kept: PersonFilter) -> None:
    """The refusal follows from the questions alone, is written down, and is repeated; a finer answer costs more."""
    kept.admit(MANY, HALF, key="q-1")
    assert kept.exhausted_share(HALF, sigma=15, key="first").sigma == 15  # 1/450 of 1/300
    with pytest.raises(BudgetExceeded, match="set aside") as refused:
        kept.exhausted_share(HALF, sigma=15, key="second")
    assert not refused.value.replayed
    assert Fraction(1, 901) < refused.value.left < Fraction(1, 900)
    with pytest.raises(BudgetExceeded) as again:
        kept.exhausted_share(HALF, sigma=15, key="second")
    assert again.value.replayed
    assert kept.exhausted_share(HALF, sigma=22, key="third")  # 1/968
    assert kept.admit(MANY, HALF, key="q-2").num_rows == 1000


def test_whoever_comes_second_counts_again(kept: PersonFilter, monkeypatch: pytest.MonkeyPatch) -> None:
    """An admission that commits between the count and its entry is in the answer, and noise is drawn anew."""
    from bursar.cohorts.people import share

    drawn: list[int] = []

    def late(variance: Fraction) -> int:
        if not drawn:
            PersonFilter(kept.ledger, "visits", secret=SECRET).admit(MANY, HALF, key="between")
        drawn.append(0)
        return 0

    kept.admit(MANY.slice(0, 7), HALF, key="q-1")
    monkeypatch.setattr(share, "discrete_gaussian", late)
    assert kept.exhausted_share(HALF, sigma=20, key="how many") == Share(7, 993, Fraction(20))
    assert len(drawn) == 4


def test_discrete_noise_is_not_promised_as_gaussian(kept: PersonFilter) -> None:
    """After a question the promise is B-zCDP alone."""
    kept.admit(MANY, b.Gaussian(sigma=50), key="q-1")
    assert [type(one) for one in kept.promises()] == [b.ZCDP, b.GDP]
    kept.exhausted_share(HALF, sigma=20, key="how many")
    assert kept.promises() == [b.ZCDP(rho="1/100")]


def test_the_limit_keeps_what_is_set_aside(kept: PersonFilter) -> None:
    """A lower limit takes from admissions; one that does not cover what is held is refused."""
    with pytest.raises(InputError, match="has used"):
        kept.ledger.limit("visits", rho="1/400", reason="less")
    kept.ledger.limit("visits", rho="1/200", reason="less")
    assert kept.admit(MANY, HALF, key="q-1").num_rows == 0
    assert kept.admit(MANY, b.Declared(b.ZCDP(rho="1/601")), key="q-2").num_rows == 1000
    kept.ledger.freeze("visits", reason="a question")
    with pytest.raises(ScopeFrozen):
        kept.exhausted_share(HALF, sigma=20, key="how many")


@pytest.mark.parametrize("reserve", [0, "1/100", -1, "1/50", "0.00999999999"])
def test_bad_reserves(people: Callable[..., PersonFilter], reserve: Any) -> None:
    """A part of the budget, not all of it and not nothing."""
    with pytest.raises(InputError, match="reserve"):
        people(reserve=reserve)


def test_bad_questions(people: Callable[..., PersonFilter], kept: PersonFilter) -> None:
    """Each is refused by name, and nothing is charged."""
    with pytest.raises(InputError, match="reserve"):
        people("plain").exhausted_share(HALF, sigma=20, key="q")
    for sigma in (0, -1, "1e-4", float("nan"), None):
        with pytest.raises(InputError, match="sigma"):
            kept.exhausted_share(HALF, sigma=sigma, key="q")
    with pytest.raises(InputError, match="key"):
        kept.exhausted_share(HALF, sigma=20, key=None)  # type: ignore[arg-type]
    with pytest.raises(CurrencyMismatch):
        kept.exhausted_share(b.Gaussian(sigma=50, relation="replace_one"), sigma=20, key="q")
    assert kept.ledger.last("visits") == 1


def test_the_true_counts_are_nowhere(visits: PersonFilter, tmp_path: Path) -> None:
    """Neither the journal nor any statement has them; a draft for the registry names the question."""
    made = PersonFilter.create(
        visits.ledger, "kept", folder=tmp_path / "kept", person="user", rho="1/100", reserve="1/300", secret=SECRET
    )
    made.admit(arrow([(f"person {number}", 1.0) for number in range(739)]), HALF, key="q-1")
    found = made.exhausted_share(HALF, sigma=3000, key="how many")
    said = made.ledger.export() + str(made.ledger.show("kept")) + str(made.ledger.show("kept").to_dict())
    assert abs(found.others - 739) > 0  # once in 7500 draws it is not
    assert not re.search(r"\b739\b", said)
    assert "how many" in said
    assert str(Share(30, 70, Fraction(20))) == "about 30.0% of them: 30 exhausted, 70 not, each with noise of 20"
    assert Share(-3, 2, Fraction(20)).share is None
