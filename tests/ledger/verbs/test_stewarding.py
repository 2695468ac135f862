"""What stewards do, in every store: corrections, limits, closing, past releases, alerts."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import bursar as b
from bursar.ledger.commit.alerts import Alert
from bursar.ledger.ledger import Ledger
from support.hands import TENTH, agreed, left


def test_corrections_only_add(ledger: Ledger) -> None:
    """What an entry should have had is added; what no longer fits fills the scope and freezes it."""
    ledger.open("data", epsilon=1)
    wrong = ledger.spend("data", TENTH)
    ledger.correct(wrong, TENTH * 2, reason="the sensitivity was 3")
    assert left(ledger, "data") == Fraction(7, 10)
    agreed(ledger, wrong, TENTH * 8, reason="it was worse")
    assert left(ledger, "data") == 0
    with pytest.raises(b.errors.ScopeFrozen):
        ledger.spend("data", b.Laplace(scale=10**9))
    with pytest.raises(b.InputError, match="no charge"):
        ledger.correct(("data", 1), TENTH, reason="that is the opening")


def test_limits_change_with_a_reason(ledger: Ledger) -> None:
    """The unit stays, what is spent stays, and a limit below that is refused; two people where that was agreed."""
    ledger.open("data", epsilon=1, second_person=True)
    ledger.spend("data", TENTH * 4)
    for bad in ({"by": "ann"}, {"by": "ann", "approved_by": "ann"}, {"approved_by": "bob"}):
        with pytest.raises(b.errors.NotPermitted):
            ledger.limit("data", epsilon=2, reason="more", **bad)
    ledger.limit("data", epsilon=2, reason="more", by="ann", approved_by="bob")
    assert left(ledger, "data") == Fraction(16, 10)
    ledger.limit("data", epsilon="0.5", reason="less", by="bob", approved_by="ann")
    assert left(ledger, "data") == Fraction(1, 10)
    with pytest.raises(b.InputError, match="used 134 % of that limit"):
        ledger.limit("data", epsilon="0.3", reason="too little", by="bob", approved_by="ann")
    with pytest.raises(b.InputError, match="say why"):
        ledger.limit("data", epsilon=3, reason=" ", by="bob", approved_by="ann")


def test_residue_limits_can_be_raised(ledger: Ledger) -> None:
    """More ε on a residue scope buys as many more releases as the new allowance has room for."""
    ledger.open("data", epsilon=1, delta="1e-6")
    what = b.Gaussian(sigma=50.0)
    first = ledger.quote("data", what).fits
    ledger.spend("data", what * first)
    ledger.limit("data", epsilon=2, reason="more data")
    more = ledger.quote("data", what).fits
    with b.Ledger("memory://") as fresh:
        fresh.open("data", epsilon=2, delta="1e-6")
        assert abs(fresh.quote("data", what).fits - (first + more)) <= 1


def test_residue_limits_cannot_be_lowered_below_their_certificates(ledger: Ledger) -> None:
    """A charge is proved for the allowance it was made at: a smaller limit is refused where every split has one."""
    ledger.open("data", epsilon=10, delta="1e-6", splits=[("0", "1")])
    ledger.limit("data", epsilon=9, reason="nothing was charged yet")
    ledger.spend("data", b.Gaussian(sigma=1000))
    ledger.spend("data", b.Table(["0.001", "0.999"], ["0.0003", "0.9997"]))
    for lower in ({"epsilon": 8}, {"delta": "1e-7"}, {"leak": "5e-7"}):
        with pytest.raises(b.InputError, match="proved for its limit"):
            ledger.limit("data", reason="less", **lower)


def test_residue_corrections(ledger: Ledger) -> None:
    """A forgotten Gaussian costs its μ²; a release without a price out of its order exhausts the scope."""
    ledger.open("data", epsilon=1, delta="1e-6")
    wrong = ledger.spend("data", b.Gaussian(sigma=100))
    before = left(ledger, "data", "gaussian")
    ledger.correct(wrong, b.Gaussian(sigma=100), reason="it ran twice")
    assert before - left(ledger, "data", "gaussian") == pytest.approx(Fraction(1, 10**4), rel=1e-9)
    assert before - left(ledger, "data", "gaussian") >= Fraction(1, 10**4)
    agreed(ledger, wrong, b.Declared(b.ZCDP("1e-6")), reason="and something else ran")
    assert left(ledger, "data", "gaussian") == 0
    with pytest.raises(b.errors.ScopeFrozen):
        ledger.spend("data", b.Gaussian(sigma=10**6))


def test_freezing_and_closing(ledger: Ledger) -> None:
    """Frozen scopes refuse until they are thawed; closed ones for good, and those below with them."""
    ledger.open("data", epsilon=1)
    ledger.open("team", parent="data", epsilon=1)
    ledger.freeze("data", reason="audit")
    with pytest.raises(b.errors.ScopeFrozen):
        ledger.spend("team", TENTH)
    ledger.thaw("data", reason="done")
    ledger.spend("team", TENTH)
    ledger.retire("data", reason="the survey ended")
    for name in ("data", "team"):
        with pytest.raises(b.errors.ScopeClosed):
            ledger.spend(name, TENTH)
    with pytest.raises(b.errors.ScopeClosed):
        ledger.thaw("data", reason="no")


def test_opening_balance_and_import(ledger: Ledger) -> None:
    """What was released before counts: given when a scope is opened, or brought in from a table, all or nothing."""
    ledger.open("data", epsilon=1, spent=[TENTH * 2, b.Laplace(scale=20)])
    assert left(ledger, "data") == Fraction(75, 100)
    ledger.bring_in("data", 'what,count\nlaplace(scale=10),3\n"declared(pure_dp(epsilon=1/20))",1\n', key="sheet")
    assert left(ledger, "data") == Fraction(40, 100)
    assert ledger.bring_in(
        "data", 'what,count\nlaplace(scale=10),3\n"declared(pure_dp(epsilon=1/20))",1\n', key="sheet"
    ).replayed
    with pytest.raises(b.BudgetExceeded):
        ledger.bring_in("data", "what,count\nlaplace(scale=10),2\nlaplace(scale=2),1\n")
    assert left(ledger, "data") == Fraction(40, 100)
    for bad in ("", "mechanism\nlaplace(scale=1)\n", "what\n", "what\nlaplace(\n", "what,count\nlaplace(scale=1),x\n"):
        with pytest.raises(b.InputError):
            ledger.bring_in("data", bad)
    with pytest.raises(b.InputError, match="exceeds"):
        ledger.open("late", epsilon=1, spent=[TENTH * 11])


def test_past_releases_are_measured_as_the_scope_is(ledger: Ledger) -> None:
    """What is imported, corrected or there from the start is refused under another relation, as spending is."""
    other = b.Laplace(scale=10, relation="replace_one")
    ledger.open("people", epsilon=1)
    receipt = ledger.spend("people", TENTH)
    for wrong in (
        lambda: ledger.bring_in("people", 'what\nlaplace(scale=10)\n"laplace(scale=10, relation=replace_one)"\n'),
        lambda: ledger.correct(receipt, other, reason="forgotten"),
        lambda: ledger.reserve("people", other, ttl=60),
        lambda: ledger.quote("people", other),
        lambda: ledger.open("late", epsilon=1, spent=[other]),
    ):
        with pytest.raises(b.errors.CurrencyMismatch):
            wrong()
    with pytest.raises(b.errors.CostInvalid, match="leave delta= out"):
        ledger.bring_in("people", "what,delta\nlaplace(scale=10),1e-6\n")
    assert left(ledger, "people") == Fraction(9, 10)
    assert [scope.name for scope in ledger.scopes()] == ["people"]
    with pytest.raises(b.errors.CurrencyMismatch):
        ledger.open("late", epsilon=1, relation="replace_one", spent=[TENTH])
    ledger.open("late", epsilon=1, relation="replace_one", spent=[other])
    assert left(ledger, "late") == Fraction(9, 10)


def test_alerts_at_shares_of_the_limit(url: str, tmp_path: Path) -> None:
    """Each share is told once, with the entry that passed it; an alert that fails harms nobody."""
    heard: list[Alert] = []

    def tell(alert: Alert) -> None:
        heard.append(alert)
        raise RuntimeError("the pager is down")

    with Ledger(url, anchor=str(tmp_path / "a"), alert=tell) as ledger:
        ledger.open("data", epsilon=1, alerts=["1/2", "0.9", 1])
        for _ in range(10):
            ledger.spend("data", TENTH)
    assert [(alert.scope, alert.share, alert.seq) for alert in heard] == [
        ("data", 0.5, 6),
        ("data", 0.9, 10),
        ("data", 1.0, 11),
    ]


def test_the_order_of_a_promise_does_not_change(ledger: Ledger) -> None:
    """A scope counts at one Rényi order, so only its limit can move."""
    ledger.open("data", order=2, renyi=1)
    with pytest.raises(b.InputError, match="order"):
        ledger.limit("data", order=100, reason="x")
    ledger.limit("data", order=2, renyi=2, reason="more")
    assert left(ledger, "data", "renyi") == 2


def test_the_worst_block_is_the_one_with_least_left(ledger: Ledger) -> None:
    """A line that nobody uses does not make all blocks alike."""
    ledger.open("data", epsilon=1, delta="1e-6")
    for name in ("a", "z"):
        ledger.open(name, parent="data", kind="block")
    ledger.spend("z", b.Gaussian(sigma=5))
    assert ledger.show("data").worst_block == "z"
    ledger.open("sums", epsilon=1, delta="1e-6", currency="sums")
    for name in ("b", "y"):
        ledger.open(name, parent="sums", kind="block")
    ledger.spend("y", TENTH * 10)
    ledger.spend("b", b.Declared(b.ApproxDP(epsilon="0.01", delta="5e-7")))
    assert ledger.show("sums").worst_block == "y"


def test_imports_that_cost_nothing(ledger: Ledger) -> None:
    """They are in the list of releases, and the journal agrees."""
    ledger.open("data", epsilon=1, delta="1e-6", currency="advanced")
    ledger.bring_in("data", 'what\n"declared(pure_dp(epsilon=0))"\n')
    assert len(ledger.show("data").released) == 1
    assert ledger.verify()


def test_closing_closes_all_below(ledger: Ledger) -> None:
    """Whatever their names."""
    ledger.open("r", epsilon=1)
    ledger.open("z", parent="r", epsilon=1)
    ledger.open("a", parent="z", epsilon=1)
    ledger.open("m", parent="a", epsilon=1)
    ledger.retire("z", reason="done")
    assert {scope.name: scope.row.status for scope in ledger.scopes()} == {
        "r": "open", "z": "closed", "a": "closed", "m": "closed"
    }  # fmt: skip


def test_a_share_for_leaks_is_kept(ledger: Ledger) -> None:
    """Unless δ itself changes, of which it is a share."""
    ledger.open("data", epsilon=1, delta="1e-6", leak="5e-7")
    ledger.limit("data", epsilon=2, reason="more")
    assert Fraction(ledger.show("data").scope.target["leak"]) == Fraction(5, 10**7)
    assert left(ledger, "data", "delta") == Fraction(5, 10**7)


def test_the_second_person_is_another_one(ledger: Ledger) -> None:
    """Spaces do not make two of one."""
    ledger.open("data", epsilon=1, second_person=True)
    for again in ("ann", " ann", "ann ", " "):
        with pytest.raises(b.errors.NotPermitted):
            ledger.limit("data", epsilon=2, reason="more", by="ann", approved_by=again)
    ledger.limit("data", epsilon=2, reason="more", by="ann", approved_by="bob")


def test_equal_releases_in_other_words(ledger: Ledger) -> None:
    """A key remembers the words it was used with, whoever wrote the same in others meanwhile."""
    ledger.open("data", epsilon=1, delta="1e-6")
    ledger.spend("data", "gaussian(sigma=50.1)", key="k")
    ledger.quote("data", b.Gaussian(sigma=Fraction(501, 10)))
    assert ledger.spend("data", b.Gaussian(sigma=50.1), key="k").replayed


def test_a_block_stops_with_its_root(ledger: Ledger) -> None:
    """A block is charged alone, and still not while all of the data is frozen, nor once it is closed."""
    ledger.open("data", epsilon=1)
    ledger.open("north", parent="data", kind="block")
    ledger.spend("north", b.Laplace(scale=10))
    ledger.freeze("data", reason="a question")
    with pytest.raises(b.errors.ScopeFrozen):
        ledger.spend("north", b.Laplace(scale=10))
    ledger.thaw("data", reason="answered")
    ledger.spend("north", b.Laplace(scale=10))
