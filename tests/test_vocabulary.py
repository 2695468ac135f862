"""One vocabulary at every door: a verb has the same name in Python, on the command line, over HTTP and in both clients.

Python's names are the names. The address is /v1/NAME; the command line writes an underscore as it writes all of them,
with a hyphen, or as the name of a group: ``bursar token add`` is token_add.
"""

from __future__ import annotations

from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import bursar as b
from bursar.cli.main import app
from bursar.client import AsyncClient, Client
from bursar.service.endpoints import ENDPOINTS
from bursar.service.permissions import MAY

PYTHON, COMMAND, HTTP, CLIENTS = "python", "command line", "http", "clients"
EVERYWHERE = (PYTHON, COMMAND, HTTP, CLIENTS)
TABLE = {
    **dict.fromkeys(("account", "plan"), EVERYWHERE),
    **dict.fromkeys(("quote", "spend", "reserve", "draw", "close"), EVERYWHERE),
    **dict.fromkeys(("open", "limit", "freeze", "thaw", "retire", "correct", "bring_in"), EVERYWHERE),
    **dict.fromkeys(("scopes", "show", "released", "entries", "verify", "export"), EVERYWHERE),
    **dict.fromkeys(("token_list", "token_add", "token_revoke"), (COMMAND, HTTP, CLIENTS)),  # of the service
    "history": (COMMAND,),  # entries as a table, of the last ones
    **dict.fromkeys(("health", "metrics"), (HTTP, CLIENTS)),  # of a service that runs
    **dict.fromkeys(("backup", "restore"), (PYTHON, COMMAND)),  # of files: for whoever sits at the machine
    "run": (PYTHON,),  # runs a function
}
"""Every verb, and the doors that it is at; where it is not at all of them, why."""
NO_VERBS = {
    "scope": "a value that others are asked about",
    "halted": "a property: show says it at every door",
    "shut": "lets go of the store; the clients have it for their connection",
    "store": "the store itself",
    "actor": "who does it, where nobody is named",
    "read": "where texts are read, for callers with processes of their own",
    **dict.fromkeys(
        ("commit", "begin", "request", "office"),
        "for callers with a queue of their own, such as the service",
    ),
    "last": "a part of a verb, for the service",
}
"""What else a `Ledger` has, and why it is no verb."""
COUNTED = {"account": b.account, "plan": b.plan}


def commands(*, hidden: bool = False) -> dict[str, Any]:
    """The commands that are verbs, by the names of verbs."""
    top: Any = get_command(app)
    found = {name: one for name, one in top.commands.items() if name in COUNTED}
    for group, lead in (("ledger", ""), ("token", "token_")):
        found |= {lead + name.replace("-", "_"): one for name, one in top.commands[group].commands.items()}
    return {name: one for name, one in found.items() if one.hidden is hidden}


def doors(kind: str) -> set[str]:
    """The verbs that the table says are at a door."""
    return {name for name, where in TABLE.items() if kind in where}


def test_python() -> None:
    """Each is a method of the ledger, or a job; every other public thing of a ledger is named above."""
    public = {name for name in dir(b.Ledger) if not name.startswith("_")}
    assert public - set(NO_VERBS) | set(COUNTED) == doors(PYTHON)
    assert set(NO_VERBS).isdisjoint(TABLE)


def test_the_command_line() -> None:
    """Each is a command; there are no others in its groups."""
    assert set(commands()) == doors(COMMAND)


def test_http() -> None:
    """Each is an address, and what a role may do."""
    assert {endpoint.verb.name for endpoint in ENDPOINTS} == doors(HTTP)
    assert {endpoint.path.removeprefix("/v1").removeprefix("/") for endpoint in ENDPOINTS if endpoint.old is None} == (
        doors(HTTP)
    )
    assert {name for names in MAY.values() for name in names} == doors(HTTP) - {"health"}


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_the_clients(client: type) -> None:
    """Each is a method, and every method is one, but for two old names."""
    public = {name for name in dir(client) if not name.startswith("_")}
    assert public - {"send", "shut", "statement", "registry"} == doors(CLIENTS)


@pytest.mark.parametrize(
    ("old", "now"),
    [
        (["status", "data", "frozen", "--reason", "x"], ["freeze", "data", "--reason", "x"]),
        (["status", "data", "open", "--reason", "x"], ["thaw", "data", "--reason", "x"]),
        (["import", "data", "old.csv"], ["bring-in", "data", "old.csv"]),
        (["status", "data", "closed", "--reason", "x"], ["retire", "data", "--reason", "x"]),
    ],
)
def test_old_commands_say_what_they_are_called_now(old: list[str], now: list[str], tmp_path: Any) -> None:
    """They do the same, are in no help, and the note is on standard error alone."""
    (tmp_path / "old.csv").write_text("what\nlaplace(scale=10)\n", encoding="utf-8")
    said = []
    for number, words in enumerate((old, now)):
        path = f"{tmp_path / str(number)}.db"
        with b.Ledger(f"sqlite:///{path}", alert=None) as ledger:
            ledger.open("data", epsilon=1)
        given = [str(tmp_path / word) if word == "old.csv" else word for word in words]
        done = CliRunner().invoke(app, ["ledger", *given, "--ledger", path, "--key", "k"])
        assert done.exit_code == 0, done.output
        said.append(done)
    before, after = said
    assert before.stdout == after.stdout
    assert before.stderr.startswith(f"bursar: {old[0]} is now called ")
    assert now[0] in before.stderr
    assert after.stderr == before.stderr.partition("\n")[2]  # but for the note
    assert set(commands(hidden=True)) == {"status", "import"}
    assert f"ledger {old[0]}" not in CliRunner().invoke(app, ["ledger", "--help"]).output
