"""The reference leaves nothing out: names, commands, options, settings, endpoints, problems, theorems, mechanisms."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

from typer.main import get_command

import bursar as b
from bursar.cli.main import app
from bursar.guarantees import KINDS
from bursar.ledger.budget.currencies import CURRENCIES
from bursar.mechanisms import CATALOGUE
from bursar.problems import OTHERS, REFUSALS
from bursar.references import entries
from bursar.service.endpoints import ENDPOINTS
from bursar.service.settings import Settings
from bursar.theorems import THEOREMS

TOP = Path(__file__).parents[1]
REFERENCE = TOP / "docs" / "reference"
sys.path.insert(0, str(TOP / "docs"))

import api  # noqa: E402
import pictures  # noqa: E402


def page(name: str) -> str:
    """A page of the reference."""
    return (REFERENCE / f"{name}.md").read_text(encoding="utf-8")


def sections(text: str) -> dict[str, str]:
    """What stands under each heading that is a piece of code."""
    parts = re.split(r"^#{2,3} `([^`]+)`.*$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_public_name_is_there() -> None:
    """At the top level and in each room: a section with a signature and at least a sentence."""
    top, rooms = sections(page("api")), page("rooms")
    assert top.keys() == set(b.__all__) - set(api.GROUPS)
    for room in api.ROOMS:
        for name in api.members(room):
            assert f"### `{name}`" in rooms, f"{room}.{name}"
    told = {**top, **sections(rooms)}
    assert [name for name, text in told.items() if len(text.split()) < 4] == []


def test_every_command_and_option_is_there() -> None:
    """Each with its help; former names are hidden."""
    told = sections(page("cli"))
    top = get_command(app).commands  # type: ignore[attr-defined]
    for name, command in top.items():
        for full, one in {f"{name} {part}": one for part, one in getattr(command, "commands", {}).items()}.items() or {
            name: command
        }.items():
            if one.hidden:
                continue
            text = told[f"bursar {full}"]
            assert one.help.split(".")[0].split("\n")[0] in text
            for parameter in one.params:
                for flag in parameter.opts:
                    assert f"`{flag}`" in text, f"bursar {full} {flag}"


def test_every_endpoint_problem_and_setting_is_there() -> None:
    """Tables of the service's page."""
    told = page("http")
    for endpoint in ENDPOINTS:
        assert f"`{endpoint.verb.method} {endpoint.path}`" in told
    for code, (status, title) in {**REFUSALS, **OTHERS}.items():
        assert f"| `{code}` | {status} | {title} |" in told
    for setting in Settings.__struct_fields__:
        row = re.search(rf"^\| `{setting}` \| .+ \| (.+) \|$", told, re.MULTILINE)
        assert row, setting


def test_every_extra_is_there() -> None:
    """What may be installed beside the core stands on the page about installing."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = re.findall(
        r"^\| (`.+`) \| .+ \|$", (TOP / "docs/start/install.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    named = re.findall(r"`(\w+)`", " ".join(rows))
    assert sorted(named) == sorted(project["optional-dependencies"])


def test_every_theorem_has_its_parts_and_a_picture() -> None:
    """Statement, hypotheses, sources that resolve, and a family along which it is drawn."""
    told = sections(page("theorems"))
    assert list(told) == [theorem.id for theorem in THEOREMS] == list(pictures.FAMILIES)
    for theorem in THEOREMS:
        text = told[theorem.id]
        assert f'theorem_figure("{theorem.id}")' in text
        for part in ("Statement", "Hypotheses", "Source", "Rounding", "Checked"):
            assert f"**{part}**" in text
        assert set(re.search(r"\{cite:p\}`(.+?)`", text)[1].split(",")) <= set(entries())  # type: ignore[index]


def test_every_mechanism_has_the_law_of_its_loss() -> None:
    """Or the reason why none is known; and every promise and currency has a section."""
    told = sections(page("mechanisms"))
    assert list(told) == [*CATALOGUE, *KINDS]
    for name in CATALOGUE:
        assert "**Loss**: " in told[name]
        start = "promises" if "no law is known" in told[name] else "the pair"
        cited = re.search(rf"^\*\*Sources\*\*: ({start}, .+)$", told[name], re.MULTILINE)
        assert cited, name
        assert {key for keys in re.findall(r"`(.+?)`", cited[1]) for key in keys.split(",")} <= set(entries())
        assert any(said in told[name] for said in ("loss_figure(", "no law is known", "takes too long to draw"))
    assert sections(page("currencies")).keys() == set(CURRENCIES)
