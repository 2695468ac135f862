"""Spending, in every store: what is admitted, refused, replayed and written down."""

from __future__ import annotations

import threading
from fractions import Fraction
from typing import Any

import pytest

import bursar as b
from bursar.ledger.journal.body import body_in
from bursar.ledger.ledger import Ledger
from bursar.ledger.views.looks import held_by
from bursar.losses.residue import VERSION
from support.hands import TENTH, left


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
    with pytest.raises(b.errors.KeyReused):
        ledger.spend("data", b.Laplace(scale=9), key="a")
    assert left(ledger, "data") == 5 - Fraction(1, 10)


def test_a_query_runs_once(ledger: Ledger) -> None:
    """run() charges, then runs; with a key that was charged before it raises and runs nothing."""
    ledger.open("data", epsilon=1)
    ran = []
    assert ledger.run("data", TENTH, lambda: ran.append(1) or 42, key="k") == 42
    with pytest.raises(b.errors.AlreadyRun):
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
    assert "a reservation of it would not be given back" in str(quoted)


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


def test_plans_as_one_charge(ledger: Ledger) -> None:
    """A declared composition is priced by the best theorem at its δ: ten thousand steps of training as one charge."""
    ledger.open("training", epsilon=3, delta="1e-5", currency="sums")
    steps = b.PoissonSampled(b.Gaussian(sigma=1.1), rate="0.004") * 5000
    ledger.spend("training", steps, delta="1e-5", key="run")
    bought = b.account(steps, delta="1e-5").epsilon.upper
    assert float(ledger.show("training").line("epsilon").spent) == pytest.approx(bought, rel=1e-9)
    with pytest.raises(b.errors.CostInvalid, match="delta="):
        ledger.spend("training", b.Gaussian(sigma=1))


def test_releases_that_cost_nothing(ledger: Ledger) -> None:
    """They pass for ever, and a quote of them returns."""
    ledger.open("data", epsilon=1, delta="1e-6")
    for free in (b.Declared(b.PureDP(0)), b.Declared(b.GDP(0)), b.NameAndShame(delta=0)):
        assert ledger.quote("data", free).fits == 10**12
        ledger.spend("data", free)


def test_mixed_units_and_relations_are_refused(ledger: Ledger) -> None:
    """Scopes that protect different things are not charged together, nor releases measured otherwise."""
    ledger.open("people", epsilon=1, unit="person")
    ledger.open("houses", epsilon=1, unit="household")
    with pytest.raises(b.errors.CurrencyMismatch):
        ledger.spend(["people", "houses"], TENTH)
    with pytest.raises(b.errors.CurrencyMismatch):
        ledger.spend("people", b.Laplace(scale=10, relation="replace_one"))
    with pytest.raises(b.InputError, match="root's"):
        ledger.open("team", parent="people", epsilon=1, unit="household")
    assert left(ledger, "people") == 1


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
    assert "at any time" in found.counted()
    assert "fixed in advance" in found.counted()
    assert found.to_dict()["released"] == [{"what": "randomized_response(epsilon=0.1)", "count": 30}]


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
        lambda ledger: ledger.draw("\ud800"),
        lambda ledger: ledger.restore(assume_spent=False, reason="no"),
        lambda ledger: ledger.spend("data", TENTH, key="\ud800"),
        lambda ledger: ledger.reserve("data", TENTH, ttl=1, key=""),
        lambda ledger: ledger.freeze("data", reason="\ud800x"),
        lambda ledger: ledger.correct(("\ud800", 1), TENTH, reason="x"),
        lambda ledger: ledger.correct(None, TENTH, reason="x"),
        lambda ledger: ledger.correct(("data", "z"), TENTH, reason="x"),
        lambda ledger: ledger.correct(("data", 2**70), TENTH, reason="x"),
        lambda ledger: ledger.open("more", epsilon=1, spent=5),
        lambda ledger: ledger.open("more", epsilon=1, spent=None),
        lambda ledger: ledger.open("more", epsilon=1, alerts=5),
        lambda ledger: ledger.open("more", epsilon=1, currency=[]),
        lambda ledger: ledger.open("more", epsilon=1, kind=[]),
        lambda ledger: ledger.open("more", epsilon=1, delta="1e-6", leak="1e-330"),
        lambda ledger: ledger.limit("data", epsilon=2, reason="x", approved_by=object()),
        lambda ledger: ledger.limit("data", delta=0, reason="x"),
        lambda ledger: ledger.limit("data", order=2, reason="x"),
        lambda ledger: ledger.limit("data", reason="x"),
        lambda ledger: ledger.bring_in("data", None),
        lambda ledger: ledger.backup(None),
        lambda ledger: ledger.backup(""),
        lambda ledger: held_by(ledger.office, []),
        lambda ledger: ledger.entries([]),
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
        with pytest.raises(b.errors.ScopeUnknown):
            verb("nothing", TENTH)
    with pytest.raises(b.errors.ScopeUnknown):
        ledger.show("nothing")
    with pytest.raises(b.errors.ScopeUnknown):
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
    kinds = {chained.entry.kind: body_in(chained.entry.body) for chained in ledger.entries("certified")}
    assert kinds["reserve"].certificate == VERSION
    assert kinds["open"].certificate is None
    ledger.close(held.id)
