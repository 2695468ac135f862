"""Write the reference pages from the code: `make docs`. With --check, only say whether they are up to date."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import textwrap
from pathlib import Path

import msgspec
from typer.main import get_command

from bursar.cli.main import app
from bursar.guarantees import KINDS
from bursar.lecture import counting
from bursar.ledger.budget.currencies import CURRENCIES, NOT_FILTERS
from bursar.mechanisms import CATALOGUE, RandomizedResponse
from bursar.plot import composing_figure, counting_figure
from bursar.problems import OTHERS, REFUSALS
from bursar.service.endpoints import ENDPOINTS
from bursar.service.permissions import MAY
from bursar.service.settings import Settings
from bursar.theorems import THEOREMS

HERE = Path(__file__).parent
LABELS = ("Statement", "Hypotheses", "Source", "Code/paper", "Rounding", "Checked")


def item(text: str) -> str:
    """An item of a list, in lines of up to 120 characters."""
    return textwrap.fill(f"- {text}", 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


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
    top = get_command(app).commands  # type: ignore[attr-defined]
    every = {}
    for name, command in top.items():
        below = getattr(command, "commands", None)
        every.update({name: command} if below is None else {f"{name} {part}": one for part, one in below.items()})
    for name, command in every.items():
        if command.hidden:  # an old name
            continue
        parts += [
            f"## `bursar {name}`",
            "",
            inspect.cleandoc(command.help or "").replace("[bold]", "**").replace("[/bold]", "**"),
            "",
        ]
        for parameter in command.params:
            flags = ", ".join(f"`{flag}`" for flag in parameter.opts)
            parts.append(item(f"{flags}: {getattr(parameter, 'help', '')}"))
        parts.append("")
    return "\n".join(parts)


def currencies() -> str:
    """One section a currency, from its module's docstring."""
    parts = ["# Currencies", "", "What a scope of the ledger may be measured in, and why that is sound.", ""]
    for name in CURRENCIES:
        doc = inspect.getdoc(importlib.import_module(f"bursar.ledger.budget.currencies.{name}")) or ""
        title, _, body = doc.partition("\n")
        parts += [f"## `{name}`: {title.rstrip('.')}", ""]
        for line in body.strip().splitlines():
            label = line.partition(":")[0]
            parts.append(f"\n**{label}**:{line.partition(':')[2]}" if label in LABELS else line.strip())
        parts.append("")
    parts += ["## What is not a currency", ""]
    reasons: dict[str, list[str]] = {}
    for name, reason in NOT_FILTERS.items():
        reasons.setdefault(reason, []).append(f"`{name}`")
    parts += [item(f"{', '.join(names)}: {reason}.") for reason, names in reasons.items()]
    return "\n".join([*parts, ""])


def http() -> str:
    """Every endpoint, problem and setting of the service."""
    parts = ["# The service: endpoints, problems, settings", "", "| | for | what |", "|---|---|---|"]
    now, old = ([one for one in ENDPOINTS if (one.old is None) is new] for new in (True, False))
    for one in now:
        roles = ", ".join(role for role, verbs in MAY.items() if one.verb.name in verbs) or "everybody"
        parts.append(f"| `{one.verb.method} {one.path}` | {roles} | {one.verb.summary} |")
    parts += [
        "",
        "Addresses of the version before go on working in this one; their answers carry a `Deprecation` header:",
    ]
    parts += ["", "| | now |", "|---|---|"]
    parts += [f"| `{one.verb.method} {one.path}` | `{one.verb.method} {one.verb.path}` |" for one in old]
    for one in now:
        if (body := one.verb.body) is not None:
            parts += ["", f"## `{one.verb.method} {one.path}`", "", inspect.getdoc(body) or "", ""]
            fields = msgspec.json.schema(body)["$defs"][body.__name__]
            for name in fields["properties"]:
                parts.append(f"- `{name}`{'' if name in fields.get('required', ()) else ' (may be left out)'}")
    parts += ["", "## Problems", "", "Bodies of RFC 9457 with a `code`:", "", "| code | status | |", "|---|---|---|"]
    parts += [f"| `{code}` | {status} | {title} |" for code, (status, title) in {**REFUSALS, **OTHERS}.items()]
    parts += ["", "## Settings", "", "| setting | if not given | |", "|---|---|---|"]
    source = inspect.getsource(Settings)
    for name, default in zip(Settings.__struct_fields__, Settings.__struct_defaults__, strict=True):
        found = re.search(rf'^    {name}: [^\n]*\n    """(.*?)"""', source, re.MULTILINE | re.DOTALL)
        parts.append(f"| `{name}` | `{default}` | {found[1] if found else ''} |")
    return "\n".join([*parts, ""])


def lecture() -> str:
    """The lecture's worked question, as its table; the picture is drawn by `make docs`."""
    table = counting([1, 2, 4, 8, 10, 12, 16, 24, 32, 64, 128, 256, 1024], epsilon=1, delta="1e-6")
    if "--check" not in sys.argv:
        counting_figure(table).savefig(HERE / "counting.svg", metadata={"Date": None})
        composing_figure(RandomizedResponse("0.1")).savefig(HERE / "composition.svg", metadata={"Date": None})
    return "\n".join(
        [
            "# How much noise do d counts need?",
            "",
            inspect.getdoc(inspect.getmodule(counting)) or "",
            "",
            "![Noise against the number of counts](counting.svg)",
            "",
            "```text",
            str(table),
            "```",
            "",
            "In Python: `bursar.lecture.counting([1, 10, 100], epsilon=1, delta=1e-6)`; the picture is "
            "`bursar.plot.counting_figure` of that.",
        ]
    )


PAGES = {
    "theorems.md": theorems,
    "mechanisms.md": mechanisms,
    "currencies.md": currencies,
    "cli.md": commands,
    "counting.md": lecture,
    "http.md": http,
}


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
