"""The verbs, in every store: what is admitted, refused, replayed, given back and written down."""

from __future__ import annotations

import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.ledger.alerts import Alert
from bursar.ledger.ledger import Ledger
from bursar.losses.residue import VERSION

TENTH = b.Laplace(scale=10)


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000_000

    def __call__(self) -> int:
        """The time now."""
        return self.now


def left(ledger: Ledger, scope: str, line: str = "epsilon") -> Fraction:
    """What a line has left."""
    return ledger.show(scope).line(line).left


def test_spend_until_refused(ledger: Ledger) -> None:
    """Ten tenths exhaust one; the refusal carries the numbers, changes nothing, and a smaller one would have passed."""
    ledger.open("data", epsilon=1)
    for number in range(9):
        assert not ledger.spend("data", TENTH, key=f"q{number}").replayed
    with pytest.raises(b.BudgetExceeded) as refused:
        ledger.spend("data", b.Laplace(scale=5), key="too much")
    problem = refused.value
    assert (problem.asked, problem.spent, problem.held) == (Fraction(1, 5), Fraction(9, 10), 0)
    assert (problem.limit, problem.left, problem.scope, problem.line) == (1, Fraction(1, 10), "data", "epsilon")
    assert problem.code == "insufficient_budget"
    assert "Nothing was charged" in str(problem)
    ledger.spend("data", TENTH, key="q9")
    assert left(ledger, "data") == 0


def test_the_same_key_gives_the_same_outcome(ledger: Ledger) -> None:
    """A retry charges once; a refusal is repeated even when it would pass now; another request is key_reused."""
    ledger.open("data", epsilon=1)
    first = ledger.spend("data", TENTH, key="a")
    again = ledger.spend("data", TENTH, key="a")
    assert again.replayed
    assert (again.seq, again.hash) == (first.seq, first.hash)
    with pytest.raises(b.BudgetExceeded) as refused:
        ledger.spend("data", b.Laplace(scale=1), key="b")
    assert not refused.value.replayed
    ledger.limit("data", epsilon=5, reason="more data")
    with pytest.raises(b.BudgetExceeded) as refused:
        ledger.spend("data", b.Laplace(scale=1), key="b")
    assert refused.value.replayed
    with pytest.raises(b.KeyReused):
        ledger.spend("data", b.Laplace(scale=9), key="a")
    assert left(ledger, "data") == 5 - Fraction(1, 10)


def test_a_query_runs_once(ledger: Ledger) -> None:
    """run() charges, then runs; with a key that was charged before it raises and runs nothing."""
    ledger.open("data", epsilon=1)
    ran = []
    assert ledger.run("data", TENTH, lambda: ran.append(1) or 42, key="k") == 42
    with pytest.raises(b.AlreadyRun):
        ledger.run("data", TENTH, lambda: ran.append(1), key="k")
    assert ran == [1]


def test_a_failed_query_is_not_refunded(ledger: Ledger) -> None:
    """A query's own failure may depend on the data, so its charge stays."""
    ledger.open("data", epsilon=1)
    with pytest.raises(ZeroDivisionError):
        ledger.run("data", TENTH, lambda: 1 // 0, key="k")
    assert left(ledger, "data") == Fraction(9, 10)


def test_quotes_are_what_happens(ledger: Ledger) -> None:
    """fits is what is then admitted, on a path of scopes with different currencies; quoting writes nothing."""
    ledger.open("data", epsilon=2, delta="1e-6")
    ledger.open("team", parent="data", rho="1/100")
    before = ledger.entries("data")
    quoted = ledger.quote("team", b.Gaussian(sigma=30.0))
    assert ledger.entries("data") == before
    for _ in range(quoted.fits):
        ledger.spend("team", b.Gaussian(sigma=30.0))
    assert quoted.passes
    assert not ledger.quote("team", b.Gaussian(sigma=30.0)).passes
    with pytest.raises(b.BudgetExceeded) as refused:
        ledger.spend("team", b.Gaussian(sigma=30.0))
    assert refused.value.scope == "team"
    assert "reservation gives nothing back" in str(quoted)


def test_all_scopes_of_a_path_or_none(ledger: Ledger) -> None:
    """A charge that one scope on the path refuses changes no other."""
    ledger.open("data", epsilon=1)
    ledger.open("team", parent="data", epsilon="1/2")
    ledger.open("person", parent="team", epsilon="1/4")
    ledger.spend("person", TENTH)
    assert [left(ledger, name) for name in ("data", "team", "person")] == [
        Fraction(9, 10),
        Fraction(4, 10),
        Fraction(15, 100),
    ]
    with pytest.raises(b.BudgetExceeded):
        ledger.spend("person", b.Laplace(scale=5))
    with pytest.raises(b.BudgetExceeded):
        ledger.spend("team", b.Laplace(scale=2))
    assert left(ledger, "data") == Fraction(9, 10)


def test_a_charge_on_two_roots(ledger: Ledger) -> None:
    """Both are debited in one commit, each chain gets its part, and one key answers for both."""
    ledger.open("one", epsilon=1)
    ledger.open("two", epsilon="1/2")
    receipt = ledger.spend(["one", "two"], TENTH, key="both")
    assert left(ledger, "one") == Fraction(9, 10)
    assert left(ledger, "two") == Fraction(4, 10)
    assert ledger.spend(["two", "one"], TENTH, key="both").seq == receipt.seq
    with pytest.raises(b.BudgetExceeded):
        ledger.spend(["one", "two"], b.Laplace(scale=2), key="much")
    assert left(ledger, "one") == Fraction(9, 10)


def test_blocks_protect_apart(ledger: Ledger) -> None:
    """Charges on blocks do not add up; a charge on the whole touches every block, those opened later included."""
    ledger.open("data", epsilon=1)
    ledger.open("north", parent="data", kind="block")
    ledger.open("south", parent="data", kind="block")
    for _ in range(8):
        ledger.spend("north", TENTH)
        ledger.spend("south", TENTH)
    assert left(ledger, "data") == Fraction(2, 10)  # the worst block's
    ledger.spend("data", TENTH)
    ledger.open("west", parent="data", kind="block")
    assert [left(ledger, name) for name in ("data", "north", "south", "west")] == [
        Fraction(1, 10),
        Fraction(1, 10),
        Fraction(1, 10),
        Fraction(9, 10),
    ]
    with pytest.raises(b.BudgetExceeded) as refused:
        ledger.spend("data", b.Laplace(scale=5))
    assert refused.value.scope in ("north", "south")
    ledger.open("other", epsilon=1, relation="replace_one")
    with pytest.raises(b.InputError, match="replace_one"):
        ledger.open("part", parent="other", kind="block")


def test_reservations(ledger: Ledger) -> None:
    """Held at once, drawn in parts, the rest given back; nothing more than was reserved can be drawn."""
    ledger.open("data", epsilon=1)
    held = ledger.reserve("data", TENTH * 6, ttl=60, key="r")
    assert held.given_back
    assert left(ledger, "data") == Fraction(4, 10)
    with pytest.raises(b.BudgetExceeded):
        ledger.spend("data", TENTH * 5)
    ledger.draw(held, TENTH * 2, key="d")
    assert ledger.draw(held, TENTH * 2, key="d").replayed
    state = ledger.show("data").line("epsilon")
    assert (state.spent, state.held) == (Fraction(2, 10), Fraction(4, 10))
    with pytest.raises(b.InputError, match="not part of"):
        ledger.draw(held, TENTH * 5)
    with pytest.raises(b.InputError, match="not part of"):
        ledger.draw(held, b.Laplace(scale=20))
    ledger.close(held)
    state = ledger.show("data").line("epsilon")
    assert (state.spent, state.held, state.left) == (Fraction(2, 10), 0, Fraction(8, 10))
    with pytest.raises(b.ReservationClosed):
        ledger.draw(held)
    with pytest.raises(b.ReservationClosed):
        ledger.draw("no such reservation")
    assert ledger.reserve("data", TENTH * 6, ttl=60, key="r").replayed


def test_all_of_a_reservation(ledger: Ledger) -> None:
    """A draw without an amount takes all that is left; then there is nothing to draw."""
    ledger.open("data", epsilon=1)
    held = ledger.reserve("data", TENTH * 3 + b.Laplace(scale=7), ttl=60)
    ledger.draw(held, TENTH)
    ledger.draw(held)
    assert ledger.show("data").line("epsilon").spent == Fraction(3, 10) + Fraction(1, 7)
    with pytest.raises(b.ReservationClosed, match="drawn"):
        ledger.draw(held)


def test_reservations_expire(url: str, tmp_path: Path) -> None:
    """When its time has passed a draw is refused and what was held is given back, whatever happens first."""
    clock = Clock()
    with Ledger(url, anchor=str(tmp_path / "a"), clock=clock, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        held = ledger.reserve("data", TENTH * 6, ttl=60)
        ledger.draw(held, TENTH)
        clock.now += 60_000_000
        with pytest.raises(b.ReservationExpired):
            ledger.draw(held, TENTH)
        ledger.spend("data", TENTH * 9)
        assert left(ledger, "data") == 0
        assert ledger.verify()


def test_residue_reservations_give_nothing_back(ledger: Ledger) -> None:
    """On a residue scope a reservation is spent at once, and the quote says so."""
    ledger.open("data", epsilon=1, delta="1e-6")
    assert not ledger.quote("data", b.Gaussian(sigma=50.0)).parts[0].given_back
    held = ledger.reserve("data", b.Gaussian(sigma=50.0) * 10, ttl=60)
    assert not held.given_back
    before = left(ledger, "data", "residue")
    ledger.draw(held, b.Gaussian(sigma=50.0) * 4)
    ledger.close(held)
    assert left(ledger, "data", "residue") == before
    assert ledger.show("data").released == (("gaussian(sigma=50)*4", 1),)


def test_plans_as_one_charge(ledger: Ledger) -> None:
    """A declared composition is priced by the best theorem at its δ: ten thousand steps of training as one charge."""
    ledger.open("training", epsilon=3, delta="1e-5", currency="sums")
    steps = b.PoissonSampled(b.Gaussian(sigma=1.1), rate="0.004") * 5000
    ledger.spend("training", steps, delta="1e-5", key="run")
    bought = b.account(steps, delta="1e-5").epsilon.upper
    assert float(ledger.show("training").line("epsilon").spent) == pytest.approx(bought, rel=1e-9)
    with pytest.raises(b.CostInvalid, match="delta="):
        ledger.spend("training", b.Gaussian(sigma=1))


def test_windows_are_rate_limits(url: str, tmp_path: Path) -> None:
    """A window starts anew in each period; the root's lifetime limit goes on falling."""
    clock = Clock()
    with Ledger(url, anchor=str(tmp_path / "a"), clock=clock, alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.open("daily", parent="data", kind="window", epsilon="1/5", period=86400)
        for _ in range(3):
            ledger.spend("daily", TENTH * 2)
            with pytest.raises(b.BudgetExceeded):
                ledger.spend("daily", TENTH)
            clock.now += 86_400_000_000
        assert left(ledger, "data") == Fraction(4, 10)
        assert left(ledger, "daily") == Fraction(1, 5)
        assert ledger.verify(reprice=True)
        with pytest.raises(b.InputError, match="period"):
            ledger.open("bad", parent="data", kind="window", epsilon=1)


def test_corrections_only_add(ledger: Ledger) -> None:
    """What an entry should have had is added; what no longer fits fills the scope and freezes it."""
    ledger.open("data", epsilon=1)
    wrong = ledger.spend("data", TENTH)
    ledger.correct(wrong, TENTH * 2, reason="the sensitivity was 3")
    assert left(ledger, "data") == Fraction(7, 10)
    ledger.correct(wrong, TENTH * 8, reason="it was worse")
    assert left(ledger, "data") == 0
    with pytest.raises(b.ScopeFrozen):
        ledger.spend("data", b.Laplace(scale=10**9))
    with pytest.raises(b.InputError, match="no charge"):
        ledger.correct(("data", 1), TENTH, reason="that is the opening")


def test_limits_change_with_a_reason(ledger: Ledger) -> None:
    """The unit stays, what is spent stays, and a limit below that is refused; two people where that was agreed."""
    ledger.open("data", epsilon=1, second_person=True)
    ledger.spend("data", TENTH * 4)
    for bad in ({"by": "ann"}, {"by": "ann", "approved_by": "ann"}, {"approved_by": "bob"}):
        with pytest.raises(b.NotPermitted):
            ledger.limit("data", epsilon=2, reason="more", **bad)
    ledger.limit("data", epsilon=2, reason="more", by="ann", approved_by="bob")
    assert left(ledger, "data") == Fraction(16, 10)
    ledger.limit("data", epsilon="0.5", reason="less", by="bob", approved_by="ann")
    assert left(ledger, "data") == Fraction(1, 10)
    with pytest.raises(b.InputError, match="spent"):
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
    """A charge is proved for the allowance it was made at: a smaller limit is refused once there is one."""
    ledger.open("data", epsilon=10, delta="1e-6")
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
    before = left(ledger, "data", "residue")
    ledger.correct(wrong, b.Gaussian(sigma=100), reason="it ran twice")
    assert before - left(ledger, "data", "residue") == pytest.approx(Fraction(1, 10**4), rel=1e-9)
    assert before - left(ledger, "data", "residue") >= Fraction(1, 10**4)
    ledger.correct(wrong, b.Declared(b.ZCDP("1e-6")), reason="and something else ran")
    assert left(ledger, "data", "residue") == 0
    with pytest.raises(b.ScopeFrozen):
        ledger.spend("data", b.Gaussian(sigma=10**6))


def test_releases_that_cost_nothing(ledger: Ledger) -> None:
    """They pass for ever, and a quote of them returns."""
    ledger.open("data", epsilon=1, delta="1e-6")
    for free in (b.Declared(b.PureDP(0)), b.Declared(b.GDP(0)), b.NameAndShame(delta=0)):
        assert ledger.quote("data", free).fits == 10**12
        ledger.spend("data", free)


def test_freezing_and_closing(ledger: Ledger) -> None:
    """Frozen scopes refuse until they are thawed; closed ones for good, and those below with them."""
    ledger.open("data", epsilon=1)
    ledger.open("team", parent="data", epsilon=1)
    ledger.freeze("data", reason="audit")
    with pytest.raises(b.ScopeFrozen):
        ledger.spend("team", TENTH)
    ledger.thaw("data", reason="done")
    ledger.spend("team", TENTH)
    ledger.retire("data", reason="the survey ended")
    for name in ("data", "team"):
        with pytest.raises(b.ScopeClosed):
            ledger.spend(name, TENTH)
    with pytest.raises(b.ScopeClosed):
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


def test_mixed_units_and_relations_are_refused(ledger: Ledger) -> None:
    """Scopes that protect different things are not charged together, nor releases measured otherwise."""
    ledger.open("people", epsilon=1, unit="person")
    ledger.open("houses", epsilon=1, unit="household")
    with pytest.raises(b.CurrencyMismatch):
        ledger.spend(["people", "houses"], TENTH)
    with pytest.raises(b.CurrencyMismatch):
        ledger.spend("people", b.Laplace(scale=10, relation="replace_one"))
    with pytest.raises(b.InputError, match="root's"):
        ledger.open("team", parent="people", epsilon=1, unit="household")
    assert left(ledger, "people") == 1


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
        with pytest.raises(b.CurrencyMismatch):
            wrong()
    with pytest.raises(b.CostInvalid, match="leave delta= out"):
        ledger.bring_in("people", "what,delta\nlaplace(scale=10),1e-6\n")
    assert left(ledger, "people") == Fraction(9, 10)
    assert [scope.name for scope in ledger.scopes()] == ["people"]
    with pytest.raises(b.CurrencyMismatch):
        ledger.open("late", epsilon=1, relation="replace_one", spent=[TENTH])
    ledger.open("late", epsilon=1, relation="replace_one", spent=[other])
    assert left(ledger, "late") == Fraction(9, 10)


def test_statements(ledger: Ledger) -> None:
    """Odometer and hindsight say what they mean, and order themselves as they must."""
    ledger.open("data", epsilon=4, delta="1e-6")
    for _ in range(30):
        ledger.spend("data", b.RandomizedResponse(epsilon=0.1))
    found = ledger.show("data")
    assert found.hindsight is not None
    assert found.odometer is not None
    truth = b.account(b.RandomizedResponse(epsilon=0.1) * 30, delta="1e-6").epsilon
    assert found.hindsight == (truth.lower, truth.upper)
    assert found.hindsight[1] <= found.odometer <= 3.0 + 1e-9
    assert "at any time" in str(found)
    assert "fixed in advance" in str(found)
    assert found.to_dict()["released"] == [{"what": "randomized_response(epsilon=0.1)", "count": 30}]


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


def test_threads_share_commits(ledger: Ledger) -> None:
    """Sixteen threads spend one scope to its end: exactly what fits is admitted."""
    ledger.open("data", epsilon=1)
    outcomes: list[Any] = []

    def work() -> None:
        for _ in range(8):
            try:
                outcomes.append(ledger.spend("data", b.Laplace(scale=100)))
            except b.BudgetExceeded as refusal:
                outcomes.append(refusal)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(outcome, b.Receipt) for outcome in outcomes) == 100
    assert len(outcomes) == 128
    assert left(ledger, "data") == 0


@pytest.mark.parametrize(
    "bad",
    [
        lambda ledger: ledger.spend("data", TENTH, key=""),
        lambda ledger: ledger.spend("data", TENTH, key="x" * 256),
        lambda ledger: ledger.spend("data", TENTH, key="a\nb"),
        lambda ledger: ledger.spend("data", TENTH, key=7),
        lambda ledger: ledger.spend("data", None),
        lambda ledger: ledger.spend("data", 0.1),
        lambda ledger: ledger.spend("data", "laplace(scale=ten)"),
        lambda ledger: ledger.spend("data", TENTH * 0),
        lambda ledger: ledger.spend("data", TENTH, delta=0),
        lambda ledger: ledger.spend([], TENTH),
        lambda ledger: ledger.spend([3], TENTH),
        lambda ledger: ledger.open("data", epsilon=1),
        lambda ledger: ledger.open("", epsilon=1),
        lambda ledger: ledger.open("x" * 101, epsilon=1),
        lambda ledger: ledger.open("bad\x00name", epsilon=1),
        lambda ledger: ledger.open("more", epsilon=1, kind="planet"),
        lambda ledger: ledger.open("more", epsilon=1, kind="quota"),
        lambda ledger: ledger.open("more", epsilon=1, alerts=[2]),
        lambda ledger: ledger.reserve("data", TENTH, ttl=0),
        lambda ledger: ledger.reserve("data", TENTH, ttl="soon"),
        lambda ledger: ledger.draw(7),
        lambda ledger: ledger.restore(assume_spent=False, reason="no"),
        lambda ledger: ledger.export("pdf"),
    ],
)
def test_bad_input_is_refused_and_loses_nothing(ledger: Ledger, bad: Any) -> None:
    """Every absurd request gets a clear error and leaves the ledger as it was."""
    ledger.open("data", epsilon=1)
    before = ledger.entries("data")
    with pytest.raises(b.InputError):
        bad(ledger)
    assert ledger.entries("data") == before
    ledger.spend("data", TENTH)


def test_unknown_scopes(ledger: Ledger) -> None:
    """A scope that nobody opened is unknown to every verb."""
    for verb in (ledger.spend, ledger.quote):
        with pytest.raises(b.ScopeUnknown):
            verb("nothing", TENTH)
    with pytest.raises(b.ScopeUnknown):
        ledger.show("nothing")
    with pytest.raises(b.ScopeUnknown):
        ledger.open("child", parent="nothing", epsilon=1)


def test_charges_on_a_residue_line_keep_the_version_of_their_certificate(ledger: Ledger) -> None:
    """Whoever reprices the journal later knows which rules made a charge; other lines have none to keep."""
    ledger.open("certified", epsilon=1, delta="1e-6")
    ledger.open("summed", epsilon=1)
    receipt = ledger.spend("certified", b.RandomizedResponse("0.01"))
    held = ledger.reserve("certified", b.RandomizedResponse("0.01"), ttl=60)
    plain = ledger.spend("summed", b.RandomizedResponse("0.01"))
    assert receipt.body["certificate"] == VERSION
    assert "certificate" not in plain.body
    kinds = {chained.entry.kind: chained.entry.content() for chained in ledger.entries("certified")}
    assert kinds["reserve"]["certificate"] == VERSION
    assert "certificate" not in kinds["open"]
    ledger.close(held.id)
