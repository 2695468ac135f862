"""`bursar serve` and `bursar token`: the HTTP service and who may use it."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from bursar.cli.shared import failing, whole_number

if TYPE_CHECKING:
    from bursar.service.tokens import Tokens

Config = Annotated[str | None, typer.Option(envvar="BURSAR_CONFIG", help="A TOML file of settings.")]
TokenFile = Annotated[str | None, typer.Option("--tokens", help="The file of tokens; as the settings say.")]
Json = Annotated[bool, typer.Option("--json", help="The answer as JSON, for machines.")]

_GARBAGE = 20_000  # new objects between two looks of the collector

tokens_app = typer.Typer(
    name="token", help="Tokens for the service: who may do what, where, until when.", no_args_is_help=True
)


def serve(
    config: Config = None,
    ledger: Annotated[str | None, typer.Option("--ledger", "-l", help="The ledger; as the settings say.")] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on; 127.0.0.1.")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 8765.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="A ledger in memory with some history, and tokens.")] = False,
    as_json: Json = False,
) -> None:
    """The ledger, account and plan over HTTP, with a dashboard.

    [bold]Examples[/bold]

    bursar serve --demo

    bursar token add ada --role owner && bursar serve --ledger sqlite:///budget.db
    """
    from bursar.extras import needs
    from bursar.service.settings import load

    with failing(as_json):
        settings = load(config, ledger=ledger, host=host, port=port)
        with needs("serve", "the service"):
            from bursar.service.core import Service
            from bursar.service.demo import demo as make
            from bursar.service.server import Server
        service, secrets = make(settings) if demo else (Service(settings), {})
        scheme = "http" if settings.tls_key is None else "https"

        def ready() -> None:
            place = f"{scheme}://{settings.host}:{settings.port}/"
            if as_json:
                typer.echo(json.dumps({"serves": place, "secrets": secrets}, ensure_ascii=False))
                return
            typer.echo(f"bursar serves {place} (Ctrl-C stops it, and loses nothing)")
            for role, secret in secrets.items():
                typer.echo(f"  sign in as {role}: {secret}")
            if not demo and not service.tokens.all():
                typer.echo("  nobody has a token yet: bursar token add NAME --role owner", err=True)

        # what has been loaded stays: looking through it for garbage every few requests costs more than the requests
        gc.freeze()
        gc.set_threshold(_GARBAGE)
        Server(service, ready).run()
        if service.at_work:  # in a thread, which Python would wait for, however long
            sys.stdout.flush()
            os._exit(0)


@tokens_app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Who it is for; the journal writes it beside what they do.")],
    role: Annotated[str, typer.Option(help="owner, steward, analyst or auditor.")],
    scope: Annotated[str, typer.Option(help="The scope it is bound to, with all below; * for all.")] = "*",
    days: Annotated[str, typer.Option(help="How long it lasts.")] = "90",
    config: Config = None,
    tokens: TokenFile = None,
    as_json: Json = False,
) -> None:
    """Issue a token; its secret is shown this once.

    [bold]Example[/bold]

    bursar token add ada --role analyst --scope census/maps --days 30
    """
    with _opened(config, tokens, as_json) as kept:
        lasting = whole_number(days, "days", at_least=1, at_most=36_500)
        token, secret = kept.add(name, role, scope, seconds=lasting * 86_400)
    if as_json:
        typer.echo(json.dumps({"token": _plain(token), "secret": secret}, ensure_ascii=False))
    else:
        typer.echo(f"{secret}\n(for {token.name}, {token.role} of {token.scope}; it is not kept and not shown again)")


@tokens_app.command("list")
def show(config: Config = None, tokens: TokenFile = None, as_json: Json = False) -> None:
    """All tokens, without their secrets."""
    import time

    with _opened(config, tokens, as_json) as kept:
        found = kept.all()
    if as_json:
        typer.echo(json.dumps({"tokens": [_plain(token) for token in found]}, ensure_ascii=False))
        return
    for token in found:
        state = "revoked" if token.revoked else "expired" if token.expires <= time.time() else "in force"
        until = time.strftime("%Y-%m-%d", time.gmtime(token.expires))
        typer.echo(f"{token.id}  {token.name}: {token.role} of {token.scope}, until {until}, {state}")


@tokens_app.command("revoke")
def revoke(
    id: Annotated[str, typer.Argument(help="The token's id, as list shows it.")],
    config: Config = None,
    tokens: TokenFile = None,
    as_json: Json = False,
) -> None:
    """Let a token open nothing any more; a running service notices within a second."""
    from bursar.errors import InputError

    with _opened(config, tokens, as_json) as kept:
        if not kept.revoke(id):
            raise InputError(f"no token has the id {id}", argument="id")
    typer.echo(json.dumps({"revoked": True}) if as_json else f"{id} is revoked")


def _plain(token: object) -> object:
    import msgspec

    return msgspec.to_builtins(token)


@contextmanager
def _opened(config: str | None, path: str | None, as_json: bool = False) -> Iterator[Tokens]:
    """The file of tokens, with errors turned into exit codes."""
    with failing(as_json):
        from bursar.service.settings import load
        from bursar.service.tokens import Tokens

        kept = Tokens(load(config, tokens=path).tokens)
        try:
            yield kept
        finally:
            kept.close()
