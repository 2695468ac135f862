"""What the command line understands: help, exit codes, who does it, and what happened."""

from __future__ import annotations

import getpass
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

import bursar as b
import bursar.cli.history
from bursar.cli import options
from bursar.cli.main import app
from bursar.cli.shared import EXIT_CODES, exit_code
from bursar.errors import StorageFull

TOP = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder, as nobody in particular."""
    monkeypatch.chdir(tmp_path)
    for name in ("BURSAR_LEDGER", "BURSAR_ACTOR"):
        monkeypatch.delenv(name, raising=False)


def run(*words: str) -> Result:
    """`bursar …`."""
    return CliRunner().invoke(app, list(words))


def paths(command: Any = None, *path: str) -> list[tuple[str, ...]]:
    """Every command and group, by the words that call it."""
    top = get_command(app) if command is None else command
    below = getattr(top, "commands", {})
    return [path, *(one for name, sub in below.items() for one in paths(sub, *path, name))]


@pytest.mark.parametrize("path", paths(), ids=" ".join)
def test_h_is_help(path: tuple[str, ...]) -> None:
    """Everywhere, and nothing is done."""
    short, long = run(*path, "-h"), run(*path, "--help")
    assert short.exit_code == long.exit_code == 0
    assert short.stdout == long.stdout
    assert "Usage: " in short.stdout


@pytest.mark.parametrize("path", paths(), ids=" ".join)
def test_a_mistake_is_json_where_json_is_wanted(path: tuple[str, ...]) -> None:
    """An option that does not exist is a problem on standard output, and exit code 2, at every command."""
    done = run(*path, "--nonsense", "--json")
    assert (done.exit_code, done.stderr) == (2, "")
    assert json.loads(done.stdout)["code"] == "input_invalid"
    assert "--nonsense" in json.loads(done.stdout)["detail"]


def test_every_exit_code_is_documented() -> None:
    """On the page, and in the help."""
    page = (TOP / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    help_text = " ".join(run("-h").stdout.split())
    for code, means in EXIT_CODES.items():
        assert f"| {code} | {means} |" in page
        assert f"{code} {means.split(':')[0]}" in help_text


def test_refused_frozen_storage_and_usage_are_told_apart() -> None:
    """Each has an exit code of its own, with --json too."""
    run("ledger", "open", "data", "--epsilon", "1")
    words = ("ledger", "spend", "data", "laplace(scale=1/2)")
    assert run(*words).exit_code == run(*words, "--json").exit_code == 1
    assert run("ledger", "spend", "data", "nonsense").exit_code == 2
    run("ledger", "freeze", "data", "--reason", "audit")
    assert run("ledger", "spend", "data", "laplace(scale=10)").exit_code == 4
    assert json.loads(run("ledger", "spend", "data", "laplace(scale=10)", "--json").stdout)["code"] == "scope_frozen"
    run("ledger", "retire", "data", "--reason", "over")
    assert run("ledger", "spend", "data", "laplace(scale=10)").exit_code == 4
    assert exit_code(StorageFull("full")) == 5


def test_a_halted_ledger_has_its_exit_code(tmp_path: Path) -> None:
    """Behind its anchor nothing is charged, and a script can tell."""
    run("ledger", "open", "data", "--epsilon", "1")
    run("ledger", "backup", "copy.db")
    run("ledger", "spend", "data", "laplace(scale=10)")
    for file in tmp_path.glob("budget.db-[ws]*"):
        file.unlink()
    (tmp_path / "copy.db").replace(tmp_path / "budget.db")
    done = run("ledger", "spend", "data", "laplace(scale=10)", "--json")
    assert done.exit_code == 4
    assert json.loads(done.stdout)["code"] == "ledger_halted"


def test_a_store_that_fails_has_its_exit_code() -> None:
    """A server that does not answer is a store that cannot be used: 5, and no traceback."""
    nowhere = ("--ledger", "postgresql://nobody@127.0.0.1:1/nothing")
    done = run("ledger", "spend", "data", "laplace(scale=10)", *nowhere)
    assert done.exit_code == 5, done.output
    assert done.stderr.startswith("bursar: ")
    assert "Traceback" not in done.stderr
    told = run("ledger", "spend", "data", "laplace(scale=10)", *nowhere, "--json")
    assert (told.exit_code, json.loads(told.stdout)["code"]) == (5, "storage_unavailable")


def test_who_does_it_is_who_is_logged_in() -> None:
    """Unless somebody is named, by an option or by the environment; an empty name is nobody."""
    run("ledger", "open", "data", "--epsilon", "1")
    run("ledger", "spend", "data", "laplace(scale=10)", "--by", "ann")
    run("ledger", "spend", "data", "laplace(scale=10)", "--by", "")
    CliRunner(env={"BURSAR_ACTOR": "bob"}).invoke(app, ["ledger", "spend", "data", "laplace(scale=10)"])
    entries = json.loads(run("ledger", "history", "data", "--json").stdout)["entries"]
    assert [entry["actor"] for entry in entries] == [getpass.getuser(), "ann", "", "bob"]


def test_a_user_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system does not know who it is, nobody is named."""

    def nobody() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert options.user() == ""
    monkeypatch.setattr(getpass, "getuser", lambda: "x\n")
    assert options.user() == ""


def test_what_happened_is_a_table() -> None:
    """With heads, the last entries of the scope alone, and how to see older ones."""
    run("ledger", "open", "data", "--epsilon", "1")
    run("ledger", "open", "data/maps", "--epsilon", "1/2")
    for number in range(4):
        run("ledger", "spend", "data", "laplace(scale=10)", "--by", f"ann{number}")
    run("ledger", "spend", "data/maps", "laplace(scale=10)", "--by", "bob")
    run("ledger", "limit", "data/maps", "--epsilon", "1/4", "--reason", "less is enough")
    table = run("ledger", "history", "data", "--most", "2").stdout
    head, *rows = table.splitlines()
    assert all(word in head for word in ("when (", "who", "did", "what", "came to", "reason"))
    assert [row.split()[0] for row in rows[:2]] == ["6", "7"] or "bob" in rows[1]
    assert "--before" in rows[-1]
    below = json.loads(run("ledger", "history", "data/maps", "--json").stdout)
    assert [entry["kind"] for entry in below["entries"]] == ["open", "spend", "limit"]
    assert below["older"] is None
    assert "less is enough" in run("ledger", "history", "data/maps").stdout
    older = json.loads(run("ledger", "history", "data", "--before", "4", "--json").stdout)["entries"]
    assert all(entry["seq"] < 4 for entry in older)
    assert run("ledger", "history", "nothing").exit_code == 2


def test_pages_back_into_a_long_history(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scope that others of its root drown in entries is still found."""
    monkeypatch.setattr(bursar.cli.history, "_PAGE", 5)
    with b.Ledger("sqlite:///budget.db", alert=None) as ledger:
        ledger.open("data", rho="1000")
        ledger.open("data/rare", rho="1")
        ledger.open("data/often", rho="900")
        ledger.spend("data/rare", b.Gaussian(sigma=5), key="rare")
        for number in range(12):
            ledger.spend("data/often", b.Gaussian(sigma=50), key=str(number))
    found = json.loads(run("ledger", "history", "data/rare", "--most", "1", "--json").stdout)
    assert [entry["key"] for entry in found["entries"]] == ["rare"]
    assert found["older"] == 4


def test_jobs_at_the_shell() -> None:
    """split, counting and convert answer as Python does, with --json too."""
    words = ("split", "1", "2", "--delta", "1e-6", "--noise", "gaussian")
    shares = json.loads(run(*words, "--epsilon", "1", "--json").stdout)
    assert shares["shares"][1]["scale"] == b.split([1, 2], epsilon=1, delta=1e-6, noise="gaussian").shares[1].scale
    assert run(*words, "--standard-errors", "10,20").stdout.startswith("gaussian noise")
    assert json.loads(run("counting", "2e0", "--json").stdout)["queries"] == [2]
    assert run("counting", "1").stdout.startswith("standard error of each of d counts")
    promise = json.loads(run("convert", "zcdp(rho=1/2)", "--to", "approx-dp", "--delta", "1e-6", "--json").stdout)
    assert promise["promise"]["name"] == "approx_dp"
    assert b.convert("zcdp(rho=1/2)", "approx_dp", delta=1e-6).text() == promise["text"]
    assert run("convert", "pure_dp(epsilon=1)", "--to", "renyi").stdout.startswith("renyi: orders = [2,")
    assert run("convert", "zcdp(rho=1)", "--to", "gdp").exit_code == 2
    assert run("split", "1", "--delta", "1e-6").exit_code == 2
    assert run("split", "1", "--standard-errors", "1", "--weights", "1", "--delta", "1e-6").exit_code == 2


def test_files_that_are_written_are_named() -> None:
    """A picture says where it is, and in words what it shows."""
    told = json.loads(run("plot", "loss", "laplace(scale=2)", "--to", "loss.png", "--json").stdout)
    assert Path(told["wrote"]).read_bytes().startswith(b"\x89PNG")
    assert told["alt"].startswith("The privacy loss of 1 release.")
    assert json.loads(run("plot", "loss", "nonsense", "--json").stdout)["code"] == "input_invalid"
    run("ledger", "open", "data", "--epsilon", "1")
    assert json.loads(run("ledger", "export", "--json").stdout)["form"] == "jsonl"


def test_completion_leaves_a_ledger_alone(tmp_path: Path) -> None:
    """Offering names writes nothing, and a file that is no ledger offers none, in silence."""
    run("ledger", "open", "data", "--epsilon", "1")
    before = run("ledger", "export").stdout
    assert offered("bursar ledger show da") == ["data"]
    (tmp_path / "no.db").write_text("nothing", encoding="utf-8")
    assert offered("bursar ledger show --ledger no.db d") == []
    assert run("ledger", "export").stdout == before


def offered(line: str) -> list[str]:
    """What a shell is told about a line that is not finished."""
    import os

    asked = {"_BURSAR_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'bursar'; from bursar.cli.main import main; main()"],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()
