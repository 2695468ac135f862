"""`bursar ledger`: the commands, their answers and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hands import FACTS
from typer.testing import CliRunner, Result

from bursar.cli.main import app


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BURSAR_LEDGER", raising=False)


def run(*words: str) -> Result:
    """`bursar ledger …`."""
    return CliRunner().invoke(app, ["ledger", *words])


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
    assert "odometer" in shown.stdout
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
    """Limit, status, correct, import, backup, restore."""
    run("open", "data", "--epsilon", "1", "--spent", "laplace(scale=10)")
    assert run("limit", "data", "--epsilon", "2", "--reason", "more", "--by", "ann").exit_code == 0
    assert run("status", "data", "frozen", "--reason", "audit").exit_code == 0
    assert run("spend", "data", "laplace(scale=10)").exit_code == 2
    assert run("status", "data", "open", "--reason", "done").exit_code == 0
    assert run("status", "data", "gone", "--reason", "done").exit_code == 2
    assert run("spend", "data", "laplace(scale=10)").exit_code == 0
    assert run("correct", "data", "5", "laplace(scale=10)", "--reason", "twice").exit_code == 0
    (tmp_path / "old.csv").write_text("what,count\nlaplace(scale=10),2\n", encoding="utf-8")
    assert run("import", "data", "old.csv").exit_code == 0
    assert run("backup", "copy.db").exit_code == 0
    assert run("restore", "--reason", "x", "--assume-spent").stdout.strip() == "nothing is behind its anchor"
    assert run("restore", "--reason", "x").exit_code == 2
    state = json.loads(run("show", "data", "--json").stdout)
    assert state["lines"][0]["left"] == "3/2"


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
    """A changed balance gives exit code 2 and says where."""
    import apsw

    run("open", "data", "--epsilon", "1")
    run("spend", "data", "laplace(scale=10)")
    raw = apsw.Connection("budget.db")
    raw.execute("UPDATE lines SET spent = 0")
    raw.close()
    done = run("verify", "--json")
    assert done.exit_code == 2
    assert "data.epsilon" in done.stdout
