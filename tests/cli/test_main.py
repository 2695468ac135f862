"""Plain words mean the same whether they are read at the door or by the commands' own reader; and little is loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command
from typer.testing import CliRunner

from bursar.cli import counting
from bursar.cli.app import app
from bursar.cli.main import PLAIN, read
from support.patience import NET

COMMAND = ["account", "gaussian(sigma=20)*100", "--delta", "1e-6"]
HEAVY = [
    *("scipy", "pydantic", "pydantic_core", "typer", "click", "rich", "msgspec", "apsw", "sqlite3", "httpx", "html"),
    *("starlette", "uvicorn", "matplotlib", "asyncio", "ssl", "importlib.metadata", "importlib.resources", "difflib"),
    *(f"bursar.{room}" for room in ("ledger", "service", "client", "wire", "plot", "lecture", "cli.app", "cli.ledger")),
    *("bursar.mechanisms.poisson", "bursar.mechanisms.densities"),
    *("bursar.losses.laws.table", "bursar.losses.laws.sampled_gaussian"),
]

value = st.sampled_from(["1e-6", "1", "", "x=y", "normal", "-1", "-", "--json", "zcdp"])
names = st.sampled_from(
    ["delta", "epsilon", "width", "effort", "theorem", "json", "explain", "cite", "help", "del", "x"]
)
words = st.one_of(
    st.builds(lambda name: [f"--{name}"], names),
    st.builds(lambda name, value: [f"--{name}", value], names, value),
    st.builds(lambda name, value: [f"--{name}={value}"], names, value),
    st.sampled_from([["what"], ["-"], ["-h"], ["--"], [""], ["what", "else"]]),
)


def by_commands(calls: list[Any], asked: list[str]) -> tuple[str, dict[str, Any]] | None:
    """What the commands' own reader makes of the words, without the options that were not given."""
    calls.clear()
    done = CliRunner().invoke(app, asked)
    if done.exit_code or not calls:
        return None
    what, more = calls[0]
    return what, {name: given for name, given in more.items() if given not in (None, False, [])}


@given(command=st.sampled_from(sorted(PLAIN)), given=st.lists(words, max_size=5))
def test_what_is_read_at_the_door_is_what_the_commands_read(command: str, given: list[list[str]]) -> None:
    """Every line that is read at the door has the same meaning there; the others are left to the commands."""
    asked = [command, *(word for some in given for word in some)]
    mine = read(asked)
    if mine is not None:
        calls: list[Any] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(counting, command, lambda what, **more: calls.append((what, more)))
            theirs = by_commands(calls, asked)
        assert theirs is not None
        assert mine[0] == theirs[0]
        assert mine[1] == {name: value for name, value in theirs[1].items() if name in mine[1] or name != "effort"}


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_every_option_of_a_plain_command_is_known_at_the_door(name: str) -> None:
    """An option that is added to a command is read in both places."""
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    options = {word.removeprefix("--") for option in command.params for word in option.opts if word.startswith("--")}
    plain = PLAIN[name]
    assert options - {"help"} == {*plain.valued, *plain.flags, *plain.repeated}


@pytest.mark.parametrize(
    "asked", [[], ["help"], ["account"], ["account", "--help"], ["plan", "x"], ["account", "x", "--deltas", "1"]]
)
def test_what_needs_an_explanation_goes_to_the_commands(asked: list[str]) -> None:
    """Help, unknown words and words that are missing are not read at the door."""
    assert read(asked) is None


def outside(*asked: str) -> subprocess.CompletedProcess[str]:
    """The command in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-m", "bursar", *asked], capture_output=True, text=True, timeout=NET, check=False
    )


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (COMMAND, 0),
        ([*COMMAND, "--json"], 0),
        (["plan", "gaussian(sigma=?)*10", "--epsilon=1", "--delta=1e-6"], 0),
        (["account", "gaussian(sigma=20)"], 2),
        (["account", "gaussian(sigma=20)", "--delta", "x", "--json"], 2),
        (["plan", "declared(pure_dp(epsilon=2))*?", "--epsilon", "1", "--delta", "0"], 1),
    ],
)
def test_the_door_answers_as_the_commands_do(asked: list[str], code: int) -> None:
    """Output, errors and exit codes are the same either way."""
    done, inside = outside(*asked), CliRunner().invoke(app, asked)
    assert (done.returncode, done.stdout, done.stderr) == (code, inside.stdout, inside.stderr)
    assert inside.exit_code == code


def test_an_account_from_a_shell_loads_what_it_needs() -> None:
    """Of the heavy packages only numpy and flint are loaded, of our own modules those that the question concerns."""
    code = (
        "import json, sys; from bursar.cli.main import main\n"
        f"sys.argv = {['bursar', *COMMAND]!r}\n"
        "main()\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=NET, check=True)
    loaded = json.loads(done.stderr)
    assert [name for name in HEAVY if name in loaded] == []
    assert {"numpy", "flint", "bursar.jobs.account"} <= set(loaded)
    assert sum(name.split(".")[0] == "bursar" for name in loaded) <= 132
