"""How `bursar` reads its words: a mistake is one sentence with the nearest right spelling, or a problem in JSON where
``--json`` is among the words; ``-h`` is help.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from bursar.cli.shared import REFUSED, USAGE, failing

_NO_COMMAND = re.compile(r"No such command '([^']*)'")
SETTINGS = {"help_option_names": ["-h", "--help"]}


class Words(TyperGroup):
    """The commands. What cannot be understood is said in bursar's own way."""

    def main(self, args: Sequence[str] | None = None, standalone_mode: bool = True, **more: Any) -> Any:  # type: ignore[override]
        """Run the command that the words name, and end with its exit code."""
        words = list(sys.argv[1:] if args is None else args)
        if not standalone_mode:
            return super().main(args=words, standalone_mode=False, **more)
        try:
            code = super().main(args=words, standalone_mode=False, **more)
        except typer.Abort:
            print("bursar: stopped; nothing was done", file=sys.stderr)
            sys.exit(REFUSED)
        except Exception as problem:
            if not hasattr(problem, "format_message"):  # no mistake in the words
                raise
            _explain(problem, words)
        sys.exit(code if isinstance(code, int) else 0)


def _explain(problem: Any, words: list[str]) -> None:
    """Say what is wrong with the words, where help is, and end."""
    from bursar.errors import InputError

    context = getattr(problem, "ctx", None)
    bare = type(problem).__name__ == "NoArgsIsHelpError"
    if bare and "--json" not in words:
        problem.show()
        sys.exit(USAGE)
    said = "a command is missing" if bare else _said(problem, context)
    place = context.command_path if context is not None else "bursar"
    argument = getattr(getattr(problem, "param", None), "name", None)
    with failing("--json" in words):
        raise InputError(f"{said}; {place} -h shows what there is", argument=argument)


def _said(problem: Any, context: Any) -> str:
    """One sentence, with what was typed and what may have been meant."""
    said = " ".join(problem.format_message().split()).rstrip(".")
    option, command = getattr(problem, "option_name", None), getattr(context, "command", None)
    if command is not None and option is not None and type(problem).__name__ == "NoSuchOption":
        names = [name for one in command.params for name in one.opts if name.startswith("-")]
        return f"there is no option {option}{_near(option.lstrip('-'), names)}"
    missing = _NO_COMMAND.match(said)
    if command is not None and missing is not None:
        names = [name for name, one in command.commands.items() if not one.hidden]
        return f"there is no command {missing[1]}{_near(missing[1], names)}"
    return said[:1].lower() + said[1:]


def _near(typed: str, names: list[str]) -> str:
    """What may have been meant, as it is typed."""
    from bursar.errors import nearest

    plain = {name.lstrip("-").replace("-", "_"): name for name in names}
    return re.sub(r"(?<=mean )\w+", lambda found: plain[found[0]], nearest(typed, plain))
