"""Write the reference pages from the code: `make docs`. With --check, only say whether they are up to date."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

from typer.main import get_command

from bursar.cli.main import app
from bursar.guarantees import KINDS
from bursar.mechanisms import CATALOGUE
from bursar.theorems import THEOREMS

HERE = Path(__file__).parent
LABELS = ("Statement", "Hypotheses", "Source", "Code/paper", "Rounding", "Checked")


def theorems() -> str:
    """One section a theorem, from its module's docstring."""
    parts = ["# Theorems", "", "Every theorem that `account` asks, with what it needs and where it comes from.", ""]
    for theorem in THEOREMS:
        doc = inspect.getdoc(importlib.import_module(f"bursar.theorems.{theorem.id}")) or ""
        title, _, body = doc.partition("\n")
        parts += [f"## `{theorem.id}`: {title.rstrip('.')}", "", f"*{theorem.adaptivity.value}*", ""]
        for line in body.strip().splitlines():
            label = line.partition(":")[0]
            parts.append(f"\n**{label}**:{line.partition(':')[2]}" if label in LABELS else line.strip())
        parts.append("")
    return "\n".join(parts)


def mechanisms() -> str:
    """One section a mechanism and a promise."""
    parts = ["# Mechanisms and promises", ""]
    for heading, index in (("Mechanisms", CATALOGUE), ("Promises, for `declared(…)`", KINDS)):
        parts += [f"## {heading}", ""]
        for name, cls in index.items():
            signature = str(inspect.signature(cls)).replace("'", "").partition(" ->")[0]
            parts += [f"### `{name}`", "", f"`bursar.{cls.__name__}{signature}`", "", inspect.getdoc(cls) or "", ""]
    return "\n".join(parts)


def commands() -> str:
    """Every command with its options."""
    parts = ["# Command line", ""]
    group = get_command(app)
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        parts += [
            f"## `bursar {name}`",
            "",
            inspect.cleandoc(command.help or "").replace("[bold]", "**").replace("[/bold]", "**"),
            "",
        ]
        for parameter in command.params:
            flags = ", ".join(f"`{flag}`" for flag in parameter.opts)
            parts.append(f"- {flags}: {getattr(parameter, 'help', '')}")
        parts.append("")
    return "\n".join(parts)


PAGES = {"theorems.md": theorems, "mechanisms.md": mechanisms, "cli.md": commands}


def main() -> int:
    """Write the pages, or compare them."""
    stale = []
    for name, make in PAGES.items():
        text = make().rstrip() + "\n"
        page = HERE / name
        if "--check" in sys.argv:
            if not page.exists() or page.read_text(encoding="utf-8") != text:
                stale.append(name)
        else:
            page.write_text(text, encoding="utf-8")
    if stale:
        print(f"out of date: {', '.join(stale)}; run `make docs`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
