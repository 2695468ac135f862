"""Write the reference pages from the code: `make docs`. With --check, only say whether they are up to date; with names
of pages (`comparison.md`), only these.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import msgspec
from api import item, prose, rooms, top
from compared import comparison
from shown import PAIRS, SHOWN
from typer.main import get_command

import bursar as b
from bursar.cli.main import app
from bursar.cli.shared import EXIT_CODES
from bursar.guarantees import KINDS
from bursar.ledger.budget.currencies import CURRENCIES, NOT_FILTERS
from bursar.mechanisms import CATALOGUE, RandomizedResponse
from bursar.mechanisms._base import known_losses
from bursar.plot import composing_figure
from bursar.problems import OTHERS, REFUSALS
from bursar.references import entries
from bursar.service.endpoints import ENDPOINTS
from bursar.service.permissions import MAY
from bursar.service.settings import Settings
from bursar.theorems import THEOREMS

HERE = Path(__file__).parent
LABELS = ("Statement", "Hypotheses", "Source", "Concurrent", "Code/paper", "Rounding", "Checked")
RUNS = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n"
"""The head of a page with cells."""


def cell(code: str) -> list[str]:
    """A cell of which only the result is shown."""
    return ["```{code-cell}", ":tags: [remove-input]", code, "```", ""]


def theorems() -> str:
    """One section a theorem, from its module's docstring, with a picture that the book draws."""
    parts = [
        f"{RUNS}# Theorems",
        "",
        f"The {len(THEOREMS)} theorems that `account` asks, with what each needs and where it comes from. Questions",
        "may always depend on the answers before. *Adaptive parameters*: so may the noise of the next release. *Fixed",
        "parameters*: the noise of every release is said in advance ([why that matters](../concepts/adaptivity.md)).",
        "",
    ]
    for theorem in THEOREMS:
        doc = inspect.getdoc(importlib.import_module(f"bursar.theorems.{theorem.id}")) or ""
        title, _, body = doc.partition("\n")
        parts += [f"## `{theorem.id}`: {title.rstrip('.')}", "", f"*{theorem.adaptivity.value}*", ""]
        parts += [*labelled(body), "", "{cite:p}`" + ",".join(theorem.citations) + "`", ""]
        parts += cell(f'from pictures import theorem_figure\n\ntheorem_figure("{theorem.id}")')
    return "\n".join(parts)


def labelled(body: str) -> list[str]:
    """The lines of a docstring, each part headed by its label in bold."""
    lines = []
    for line in body.strip().splitlines():
        label = line.partition(":")[0]
        lines.append(f"\n**{label}**:{line.partition(':')[2]}" if label in LABELS else line.strip())
    return lines


def mechanisms() -> str:
    """One section a mechanism, with the law of its loss, and one a promise."""
    parts = [f"{RUNS}# Mechanisms and promises", "", "## Mechanisms", ""]
    for name, cls in CATALOGUE.items():
        parts += [*described(name, cls), *sources(name), *law(SHOWN[name])]
    parts += ["## Promises, for `declared(…)`", ""]
    for name, promise in KINDS.items():
        parts += described(name, promise)
    return "\n".join(parts)


def described(name: str, cls: type) -> list[str]:
    """A class by its name in written forms, its signature and its docstring."""
    signature = str(inspect.signature(cls)).replace("'", "").partition(" ->")[0]
    return [f"### `{name}`", "", f"`bursar.{cls.__name__}{signature}`", "", prose(inspect.getdoc(cls)), ""]


def sources(name: str) -> list[str]:
    """Who proved the pair, and who the promises of the release that is shown."""
    keys = PAIRS[name].split()
    said = [f"{{cite:p}}`{','.join(found)}`"] if (found := [key for key in keys if key in entries()]) else []
    said += [f"[our proof](../trust/proofs/{key}.md)" for key in keys if key not in entries()]
    claims = b.parse(SHOWN[name]).terms[0].mechanism.claims()
    proved = sorted({claim.citation for claim in claims} & entries().keys())
    parts = [f"the pair, {', '.join(said)}"] if said else []
    parts += [f"promises, {{cite:p}}`{','.join(proved)}`"] if proved else []
    return [f"**Sources**: {'; '.join(parts)}.", ""]


def law(text: str) -> list[str]:
    """What is known of the loss of one release, and its picture where one can be drawn."""
    losses = known_losses(b.parse(text).terms[0].mechanism)
    if isinstance(losses, str):
        return [f"**Loss**: no law is known. {losses}.", ""]
    kinds = [type(losses.remove)] if losses.same else [type(losses.remove), type(losses.add)]
    said = " ".join(dict.fromkeys(" ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split()) for kind in kinds))
    sides = "one law in both directions" if losses.same else "a law for each direction"
    tight = "attained, so lower ends hold too" if losses.attained else "dominates: an upper end"
    parts = [textwrap.fill(f"**Loss**: {sides}, {tight}. {prose(said)}", 120), ""]
    if not (losses.remove.drawable and losses.add.drawable):
        return [*parts, "It takes too long to draw.", ""]
    parts += [f"For `{text}`:", ""]
    return parts + cell(f"import bursar as b\nfrom bursar.plot import loss_figure\n\nloss_figure(b.parse({text!r}))")


def commands() -> str:
    """Every command with its options."""
    parts = [
        "# Command line",
        "",
        "What a script may tell apart by the exit code:",
        "",
        "| code | means |",
        "|---|---|",
    ]
    parts += [f"| {code} | {means} |" for code, means in EXIT_CODES.items()]
    parts += ["", "With `--json` every answer is JSON, and so is what went wrong; `-h` explains every command.", ""]
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
        parts += labelled(body)
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


def included(path: Path) -> Callable[[], str]:
    """The page of a proof, which lies outside of the book's folder."""
    return lambda: f"```{{include}} ../../../proofs/{path.name}\n```"


PAGES = {
    **{f"trust/proofs/{path.name}": included(path) for path in sorted((HERE.parent / "proofs").glob("*.md"))},
    "comparison.md": comparison,
    "reference/theorems.md": theorems,
    "reference/mechanisms.md": mechanisms,
    "reference/currencies.md": currencies,
    "reference/cli.md": commands,
    "reference/http.md": http,
    "reference/api.md": top,
    "reference/rooms.md": rooms,
}


def main(check: bool, names: list[str]) -> int:
    """Write the pages, or compare them."""
    stale = []
    for name in names or PAGES:
        text = PAGES[name]().rstrip() + "\n"
        page = HERE / name
        if not check:
            page.write_text(text, encoding="utf-8")
        elif not page.exists() or page.read_text(encoding="utf-8") != text:
            stale.append(name)
    if not check and not names:
        composing_figure(RandomizedResponse("0.1", relation="replace_one")).savefig(
            HERE / "composition.svg", metadata={"Date": None}
        )
    if stale:
        print(f"out of date: {', '.join(stale)}; run `make docs`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv, [word for word in sys.argv[1:] if word != "--check"]))
