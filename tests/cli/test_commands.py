"""`bursar ledger`: the commands, their answers and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from typer.testing import CliRunner, Result

from bursar import wire
from bursar.cli.main import app
from bursar.ledger.ledger import Ledger
from support.hands import FACTS


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BURSAR_LEDGER", raising=False)


def run(*words: str, typed: str | None = None) -> Result:
    """`bursar ledger …`."""
    return CliRunner().invoke(app, ["ledger", *words], input=typed)


def test_a_budget_from_opening_to_refusal() -> None:
    """Open, quote, spend, be refused with exit code 1, show, verify."""
    assert run("open", "census", "--epsilon", "1", "--delta", "1e-6").exit_code == 0
    quoted = json.loads(run("quote", "census", "gaussian(sigma=10)", "--json").stdout)
    for number in range(quoted["fits"]):
        assert run("spend", "census", "gaussian(sigma=10)", "--key", f"q{number}").exit_code == 0
    refused = run("spend", "census", "gaussian(sigma=10)", "--key", "more")
    assert refused.exit_code == 1
    assert "Nothing was charged" in refused.stderr
    assert run("quote", "census", "gaussian(sigma=10)").exit_code == 1
    again = run("spend", "census", "gaussian(sigma=10)", "--key", "q0")
    assert again.exit_code == 0
    assert "nothing new was charged" in again.stdout
    shown = run("show", "census")
    assert "no more like gaussian(sigma=10)" in " ".join(shown.stdout.split())
    assert "odometer" not in shown.stdout
    assert "odometer" in run("show", "census", "--counted").stdout
    assert json.loads(run("show", "--json").stdout)[0]["scope"] == "census"
    assert run("verify", "--reprice").exit_code == 0


def test_reservations_by_command() -> None:
    """Reserve prints an id that draw and close take."""
    run("open", "data", "--epsilon", "1")
    made = json.loads(run("reserve", "data", "laplace(scale=10)*4", "--ttl", "60", "--json").stdout)
    assert run("draw", made["id"], "laplace(scale=10)").exit_code == 0
    assert run("close", made["id"]).exit_code == 0
    assert run("draw", made["id"]).exit_code == 2
    state = json.loads(run("show", "data", "--json").stdout)
    assert state["lines"][0]["spent"] == "1/10"


def test_a_steward_by_command(tmp_path: Path) -> None:
    """Limit, freeze, thaw, retire, correct, bring in, backup, restore."""
    run("open", "data", "--epsilon", "1", "--spent", "laplace(scale=10)")
    assert run("limit", "data", "--epsilon", "2", "--reason", "more", "--by", "ann").exit_code == 0
    assert run("freeze", "data", "--reason", "audit").stdout.startswith("data is frozen: entry 3 of data")
    assert run("spend", "data", "laplace(scale=10)").exit_code == 4
    assert run("thaw", "data", "--reason", "done").exit_code == 0
    assert run("status", "data", "gone", "--reason", "done").exit_code == 2
    assert run("spend", "data", "laplace(scale=10)").exit_code == 0
    assert run("correct", "data", "5", "laplace(scale=10)", "--reason", "twice").exit_code == 0
    (tmp_path / "old.csv").write_text("what,count\nlaplace(scale=10),2\n", encoding="utf-8")
    assert run("bring-in", "data", "old.csv").exit_code == 0
    assert run("backup", "copy.db").exit_code == 0
    assert run("restore", "--reason", "x", "--assume-spent").stdout.strip() == "nothing is behind its anchor"
    assert run("restore", "--reason", "x").exit_code == 2
    state = json.loads(run("show", "data", "--json").stdout)
    assert state["lines"][0]["left"] == "3/2"
    assert run("retire", "data", "--reason", "over").exit_code == 0
    assert run("thaw", "data", "--reason", "back").exit_code == 4


def test_looking_by_command() -> None:
    """Scopes, what was released and what was written, for people and as the service says it."""
    run("open", "data", "--epsilon", "1")
    run("spend", "data", "laplace(scale=10)", "--by", "ann", "--key", "a")
    run("spend", "data", "laplace(scale=10)", "--key", "b")
    run("spend", "data", "laplace(scale=1)", "--key", "c", "--by", "")
    assert run("scopes").stdout == "data: root, open, ε = 1 (pure)\n"
    (scope,) = json.loads(run("scopes", "--json").stdout)["scopes"]
    assert msgspec.convert(scope, wire.Scope).name == "data"
    assert run("released", "data").stdout == "2 × laplace(scale=10)\n"
    assert json.loads(run("released", "data", "--json").stdout) == {
        "released": [{"what": "laplace(scale=10)", "count": 2}]
    }
    assert run("released", "nothing").exit_code == 2
    lines = run("entries", "data").stdout.replace("\n  ", " ").splitlines()
    assert [line.split()[0] for line in lines] == ["1", "2", "3", "4"]
    assert "charged; laplace(scale=10); by ann; took 10 %, 90 % left after it" in lines[1]
    assert "refused; laplace(scale=1); asked for 100 %, 80 % is left" in lines[3]
    first = json.loads(run("entries", "data", "--most", "2", "--json").stdout)
    assert [entry.seq for entry in msgspec.convert(first, wire.Entries).entries] == [1, 2]
    assert "--after 2" in run("entries", "data", "--most", "2").stdout
    assert run("entries", "data", "--after", "3").stdout.startswith("4  ")
    assert run("entries", "data", "--most", "0").exit_code == 2


def test_exports_by_command(tmp_path: Path) -> None:
    """JSON Lines with the script beside it, CSV, and the registry's draft."""
    run("open", "data", "--epsilon", "1")
    assert json.loads(run("export", "--verifier", "check.py").stdout.splitlines()[0])["bursar"] == "journal"
    assert (tmp_path / "check.py").exists()
    assert run("export", "--form", "csv").stdout.startswith("root,seq")
    assert run("export", "--form", "opendp", "--root", "data").exit_code == 2
    (tmp_path / "about.json").write_text(json.dumps(FACTS), encoding="utf-8")
    assert "privacy_loss" in run("export", "--form", "opendp", "--root", "data", "--facts", "about.json").stdout
    assert run("export", "--form", "pdf").exit_code == 2


@pytest.mark.parametrize(
    "words",
    [
        ("spend", "nothing", "laplace(scale=1)"),
        ("open", "x", "--epsilon", "none"),
        ("open", "x"),
        ("open", "x", "--epsilon", "1", "--delta", "1e-6", "--currency", "pld"),
        ("show", "nothing"),
        ("spend", "nothing", "nonsense("),
        ("show", "--ledger", "mysql://somewhere"),
        ("show", "--ledger", "/no/such/folder/a.db"),
    ],
)
def test_bad_input_has_exit_code_2(words: tuple[str, ...]) -> None:
    """And one line that says what is wrong."""
    done = run(*words)
    assert done.exit_code == 2
    assert done.stderr.startswith("bursar: ")
    assert "Traceback" not in done.stderr


def test_verify_fails_loudly(tmp_path: Path) -> None:
    """A changed balance gives exit code 4 and says where."""
    import apsw

    run("open", "data", "--epsilon", "1")
    run("spend", "data", "laplace(scale=10)")
    raw = apsw.Connection("budget.db")
    raw.execute("UPDATE lines SET spent = 0")
    raw.close()
    done = run("verify", "--json")
    assert done.exit_code == 4
    assert "data.epsilon" in done.stdout


def test_a_correction_asks_first() -> None:
    """What it does beyond charging the release is shown; --yes agrees; for machines the consent is in the problem."""
    run("open", "data", "--epsilon", "1", "--delta", "1e-6")
    run("spend", "data", "randomized_response(epsilon=0.1)", "--key", "a")
    words = ("correct", "data", "2", "randomized_response(epsilon=0.8)", "--reason", "twice", "--key", "fix")
    refused = run(*words)
    assert refused.exit_code == 2
    assert "nothing is left for Gaussian-like releases" in refused.stderr
    assert "--yes" in refused.stderr
    told = json.loads(run(*words, "--json").stdout)
    assert told["code"] == "consent_needed"
    assert told["consent"] in refused.stderr
    assert len(run("export").stdout.splitlines()) == 3
    done = run(*words, "--yes")
    assert done.exit_code == 0
    assert "nothing is left for Gaussian-like releases" in done.stderr
    assert done.stdout.startswith("corrected: entry 3 of data, key fix")
    assert json.loads(run(*words, "--yes", "--json").stdout)["replayed"]


def test_prices_are_shown_before_anything_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a correction and of past releases, always; at a terminal it is asked, and no is no."""
    table = tmp_path / "old.csv"
    table.write_text("what\nlaplace(scale=10)\n", encoding="utf-8")
    run("open", "data", "--epsilon", "1")
    run("spend", "data", "laplace(scale=10)", "--key", "a")
    price = "bursar: data: 10 % taken, 80 % is left afterwards\n"
    words = ("correct", "data", "2", "laplace(scale=10)", "--reason", "twice", "--key", "fix")
    with monkeypatch.context() as terminal:
        terminal.setattr("bursar.cli.agreeing.sys", SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True)))
        for command in (words, ("bring-in", "data", str(table), "--key", "fix")):
            refused = run(*command, typed="n\n")
            assert (refused.exit_code, price in refused.stderr) == (1, True)
            assert "Is that meant?" in refused.stderr
        assert len(run("export").stdout.splitlines()) == 3
        done = run(*words, typed="y\n")
        assert done.stdout.splitlines()[-1] == "  data: 10 % taken, 80 % is left afterwards"
        assert "taken" not in run(*words).stderr, "a retry charges nothing"
    shown = run("bring-in", "data", str(table), "--json")
    assert shown.stderr == "bursar: data: 10 % taken, 70 % is left afterwards\n"
    assert json.loads(shown.stdout)["kind"] == "import"
    table.write_text("what\nlaplace(scale=1)\n", encoding="utf-8")
    much = run("bring-in", "data", str(table))
    assert (much.exit_code, much.stderr.startswith("bursar: refused: data: asked for")) == (1, True)


def test_past_releases_ask_first(tmp_path: Path) -> None:
    """In a budget that is in use they may do more than cost their price; --yes agrees to what is shown."""
    table = tmp_path / "old.csv"
    table.write_text("what\nrandomized_response(epsilon=0.8)\n", encoding="utf-8")
    run("open", "data", "--epsilon", "1", "--delta", "1e-6")
    run("spend", "data", "randomized_response(epsilon=0.1)", "--key", "a", "--reason", "a map")
    refused = run("bring-in", "data", str(table))
    assert refused.exit_code == 2
    assert "nothing is left for Gaussian-like releases" in refused.stderr
    assert "--yes" in refused.stderr
    done = run("bring-in", "data", str(table), "--yes")
    assert (done.exit_code, "nothing is left for Gaussian-like releases" in done.stderr) == (0, True)
    assert "a map" in run("history", "data").stdout
    held = run("reserve", "data", "laplace(scale=1000)", "--ttl", "60", "--reason", "a plan", "--json")
    run("draw", json.loads(held.stdout)["id"], "--reason", "its end")
    assert [one["reason"] for one in json.loads(run("entries", "data", "--json").stdout)["entries"][-2:]] == [
        "a plan",
        "its end",
    ]


def test_show_of_a_halted_ledger(tmp_path: Path) -> None:
    """HALTED stands first, once, with the reason; in JSON it is a field of every scope."""
    for name in ("one", "two"):
        run("open", name, "--epsilon", "1")
    assert "HALTED" not in run("show").stdout
    assert json.loads(run("show", "one", "--json").stdout)["halted"] is None
    run("backup", "copy.db")
    run("spend", "one", "laplace(scale=10)")
    for file in tmp_path.glob("budget.db-[ws]*"):
        file.unlink()
    (tmp_path / "copy.db").replace(tmp_path / "budget.db")
    shown = run("show")
    assert shown.stdout.startswith("HALTED, nothing is charged: one ends at entry 1, its anchor knows entry 2")
    assert shown.stdout.count("HALTED") == 1
    assert run("show", "two").stdout.startswith("HALTED")
    assert "older copy" in json.loads(run("show", "one", "--json").stdout)["halted"]
    with Ledger(tmp_path / "budget.db", alert=None) as ledger:
        assert str(ledger.show("one")).startswith("HALTED, nothing is charged: one ends")
    run("restore", "--reason", "lost", "--assume-spent")
    assert "HALTED" not in run("show").stdout


def test_an_empty_copy_is_halted_too(tmp_path: Path) -> None:
    """Also where there is no scope left to show."""
    run("open", "one", "--epsilon", "1")
    for file in tmp_path.glob("budget.db*"):
        if file.name != "budget.db-anchor":
            file.unlink()
    Ledger(tmp_path / "budget.db", alert=None).shut()
    assert run("show").stdout.startswith("HALTED")
