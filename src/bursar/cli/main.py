"""Where `bursar` begins. Plain words to `account` or `plan` are read here, so that the answer need not wait until all
commands are loaded with their help; everything else, and everything that is not understood, goes to `bursar.cli.app`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from bursar.cli import counting, streams

if TYPE_CHECKING:
    from bursar.cli.app import app

__all__ = ["PLAIN", "Plain", "app", "main", "read"]


class Plain(NamedTuple):
    """A command whose plain words are read here: what does it, and the options that it knows."""

    run: Callable[..., None]
    valued: tuple[str, ...]
    flags: tuple[str, ...]
    needed: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()


PLAIN = {
    "account": Plain(
        counting.account,
        valued=("delta", "epsilon", "width", "effort"),
        flags=("json", "explain", "cite"),
        repeated=("theorem",),
    ),
    "plan": Plain(
        counting.plan,
        valued=("epsilon", "delta", "width", "effort"),
        flags=("json", "explain"),
        needed=("epsilon", "delta"),
    ),
}


def read(words: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """What plain words ask: the one argument, and the options by the names that the command has for them. None where
    they are not as plain as that: then somebody wants help, or made a mistake that deserves an explanation.
    """
    command = PLAIN.get(words[0]) if words else None
    if command is None:
        return None
    arguments: list[str] = []
    options: dict[str, Any] = {}
    rest = iter(words[1:])
    for word in rest:
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("-") or word == "-":
            arguments.append(word)
        elif not word.startswith("--"):
            return None
        elif name in command.flags and not equals:
            options["as_json" if name == "json" else name] = True
        elif name in (*command.valued, *command.repeated):
            value = value if equals else next(rest, "-")
            if value.startswith("-"):
                return None
            options[name] = [*options.get(name, ()), value] if name in command.repeated else value
        else:
            return None
    if len(arguments) != 1 or any(name not in options for name in command.needed):
        return None
    return arguments[0], options


def main() -> None:
    """Run `bursar` with the words of the command line."""
    words = sys.argv[1:]
    asked = None if "_BURSAR_COMPLETE" in os.environ else read(words)  # a shell may ask which words there could be
    if asked is None:
        from bursar.cli.app import app

        streams.run(app)
        return
    try:
        streams.run(lambda: PLAIN[words[0]].run(asked[0], **asked[1]))
    except KeyboardInterrupt:
        sys.exit(130)


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module 'bursar.cli.main' has no attribute {name!r}")
    from bursar.cli.app import app

    return app
