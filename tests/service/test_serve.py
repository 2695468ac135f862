"""The command: settings from a file and the environment, tokens, the demo, TLS, and errors that say what to do."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from bursar.cli.main import app
from bursar.errors import InputError
from bursar.ledger.journal.body import body_in
from bursar.service.demo import demo
from bursar.service.settings import Settings, load
from bursar.service.tokens import Tokens
from support.offices import Command
from support.where import needs


def test_settings_come_from_a_file_then_the_environment_then_the_caller(tmp_path: Path) -> None:
    """Each wins over the one before."""
    file = tmp_path / "bursar.toml"
    file.write_text('ledger = "sqlite:///a.db"\nport = 1000\nrate = 5\n', encoding="utf-8")
    found = load(str(file), {"BURSAR_PORT": "2000", "BURSAR_BEHIND_PROXY": "true"}, rate=7.0)
    assert (found.ledger, found.port, found.rate, found.behind_proxy) == ("sqlite:///a.db", 2000, 7.0, True)
    assert load(None, {}) == Settings()


@pytest.mark.parametrize(
    "text",
    [
        "prot = 1",
        "port = 0",
        'port = "many"',
        "rate = -1",
        "guesses = 0",
        "largest_body = 3",
        'largest_reserved = "2"',
        'tls_key = "k.pem"',
        "port = ",
    ],
)
def test_settings_that_cannot_be_meant(tmp_path: Path, text: str) -> None:
    """Unknown names, wrong types and values out of range are refused, with the file's name."""
    file = tmp_path / "bursar.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"bursar\.toml"):
        load(str(file), {})


def test_tokens_are_shown_once_kept_hashed_and_expire(tmp_path: Path) -> None:
    """The file holds no secret; what expired or was revoked opens nothing."""
    now = [1_000_000.0]
    tokens = Tokens(str(tmp_path / "tokens.db"), lambda: now[0])
    token, secret = tokens.add("ada", "analyst", "data", seconds=100)
    assert len(secret) >= 43
    tokens.close()
    assert secret.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    tokens = Tokens(str(tmp_path / "tokens.db"), lambda: now[0])
    assert tokens.find(secret) == token
    assert tokens.find(secret[:-1]) is None
    now[0] += 101
    assert tokens.find(secret) is None
    other, again = tokens.add("bob", "auditor")
    assert tokens.find(again) == other
    assert tokens.revoke(other.id)
    assert tokens.find(again) is None
    assert not tokens.revoke("none")
    for name, role, seconds in (("", "owner", 1), ("x", "king", 1), ("x", "owner", 0), ("a\nb", "owner", 1)):
        with pytest.raises(InputError):
            tokens.add(name, role, seconds=seconds)
    with pytest.raises(InputError):
        tokens.add("x", "owner", "")
    tokens.close()


def test_token_commands(tmp_path: Path) -> None:
    """Add, list and revoke; bad input is exit code 2."""
    where = ["--tokens", str(tmp_path / "t.db")]
    runner = CliRunner()
    made = json.loads(runner.invoke(app, ["token", "add", "ada", "--role", "owner", "--json", *where]).output)
    assert made["secret"].startswith("bursar_")
    assert "bursar_" in runner.invoke(app, ["token", "add", "b", "--role", "auditor", *where]).output
    listed = runner.invoke(app, ["token", "list", *where]).output
    assert "ada: owner of *" in listed
    assert made["secret"] not in listed
    assert runner.invoke(app, ["token", "revoke", made["token"]["id"], *where]).exit_code == 0
    assert "revoked" in runner.invoke(app, ["token", "list", *where]).output
    assert len(json.loads(runner.invoke(app, ["token", "list", "--json", *where]).output)["tokens"]) == 2
    assert runner.invoke(app, ["token", "revoke", "none", *where]).exit_code == 2
    assert runner.invoke(app, ["token", "add", "x", "--role", "king", *where]).exit_code == 2


def test_the_demo_explains_itself() -> None:
    """A token for each role, and a month: six people and their reasons, a refusal, two who raise a limit, an audit."""
    service, secrets = demo(Settings())
    assert set(secrets) == {"owner", "steward", "analyst", "auditor"}
    purposes = {"census/maps", "census/tables", "census/research"}
    assert {scope.name for scope in service.ledger.scopes()} == {"census", "survey", *purposes}
    told = [chained.entry for root in ("census", "survey") for chained in service.ledger.entries(root)]
    assert {entry.actor for entry in told} == {"ada", "grace", "emmy", "alan", "mary", "kurt"}
    assert [entry.kind for entry in told].count("refuse") == 1
    (raised,) = [body_in(entry.body) for entry in told if entry.kind == "limit"]
    assert raised.approved_by == "mary"
    assert all(body_in(entry.body).asked().get("reason") for entry in told if entry.kind != "open")
    assert service.audit is not None
    assert (service.audit.by, service.audit.found["ok"], service.audit.found["entries"]) == ("kurt", True, len(told))
    assert told[0].at < service.audit.at < service.ledger.office.clock()
    assert service.ledger.verify()


def test_serve_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    """A missing file of settings, a folder that is not there: one line, exit code 2."""
    for arguments in (["--config", str(tmp_path / "none.toml")], ["--ledger", str(tmp_path / "no" / "budget.db")]):
        found = CliRunner().invoke(app, ["serve", *arguments])
        assert found.exit_code == 2
        assert found.output.startswith("bursar: ")
        assert "Traceback" not in found.output


def test_tls(command: Callable[..., Command], tmp_path: Path) -> None:
    """With a certificate the service speaks TLS, and nothing else."""
    made = subprocess.run(
        [needs("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem"],
        capture_output=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    server = command(tls_certificate=str(tmp_path / "cert.pem"), tls_key=str(tmp_path / "key.pem"))
    trusted = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    address = server.address.replace("http:", "https:")
    assert httpx.get(f"{address}/health", verify=trusted).json()["status"] == "ok"
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{server.address}/health")


def test_the_command_line_starts_without_the_service() -> None:
    """Asking for help loads neither the web framework nor numpy."""
    heavy = ("starlette", "uvicorn", "httpx", "numpy", "scipy", "flint")
    code = f"import sys; import bursar.cli.main; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
