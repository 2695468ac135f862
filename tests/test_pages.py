"""The pages that people read: what they point at exists, and their prose wraps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
SRC = TOP / "src" / "bursar"
PAGES = [
    TOP / "README.md",
    TOP / "CONTRIBUTING.md",
    TOP / "RELIABILITY.md",
    *sorted((TOP / "docs").rglob("*.md")),
    *sorted((TOP / "proofs").glob("*.md")),
]
CONTRIBUTING = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
WIDEST = 130
WORDS = ("way", "line", "rung", "held", "dead", "head", "anchor", "turn", "door")
RECIPES = ("a mechanism", "a theorem", "a law of the loss", "a verb", "a currency", "a store", "a mutant")


def prose(text: str) -> list[str]:
    """The lines of a page that are neither code nor table nor a picture, without the addresses of their links."""
    plain = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in plain.splitlines() if not line.startswith(("|", "    ", "![")) and not _code(line)]
    return [re.sub(r"\]\([^)]*\)", "]", line) for line in lines]


def _code(line: str) -> bool:
    """Whether a line is nothing but a piece of code, which is not broken."""
    return bool(re.fullmatch(r"`[^`]+`", line))


def section(heading: str) -> str:
    """A section of CONTRIBUTING.md."""
    return CONTRIBUTING.split(f"\n## {heading}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_prose_wraps(page: Path) -> None:
    """No line of prose is much longer than 120 characters; tables, code and addresses are as long as they are."""
    assert [line for line in prose(page.read_text(encoding="utf-8")) if len(line) > WIDEST] == []


def test_the_rule_tells_prose_from_the_rest() -> None:
    """A long paragraph is seen; a table, a code block, an address and a lone piece of code are not."""
    long = "word " * 40
    assert any(len(line) > WIDEST for line in prose(f"{long}\n"))
    other = f"| {long} |\n\n    {long}\n\n```sh\n{long}\n```\n\n[here](https://{'x' * 200})\n\n`{long}`\n"
    assert all(len(line) <= WIDEST for line in prose(other))


def test_the_house_is_drawn_whole() -> None:
    """Every room and module of the top level stands in the picture of the floors, once."""
    drawn = re.findall(r"^    .*$", section("The house").split("Two floors have rooms")[0], re.MULTILINE)
    named = re.findall(r"\b([a-z]+)\b/?", " ".join(line[17:55] for line in drawn))
    there = {path.stem for path in SRC.iterdir() if (path.is_dir() or path.suffix == ".py") and path.stem[0] != "_"}
    assert sorted(named) == sorted(there)


def test_the_nine_files_exist() -> None:
    """The reading order is nine files, numbered, and each of them is there."""
    listed = re.findall(r"^(\d)\. `([^`]+)`: \S", section("Nine files to know the whole"), re.MULTILINE)
    assert [int(number) for number, _ in listed] == list(range(1, 10))
    assert [path for _, path in listed if not (TOP / path).is_file()] == []


def test_every_recipe_is_there() -> None:
    """How to add each kind of piece has a section, and every path that the page names exists."""
    for recipe in RECIPES:
        assert len(section(f"Adding {recipe}").split()) > 30
    paths = set(re.findall(r"`((?:[\w.]+/)+(?:[\w.]+)?)`", CONTRIBUTING)) | {
        path for row in re.findall(r"`(tests/[^`]+)`", CONTRIBUTING) for path in row.split()
    }
    assert len(paths) > 40
    missing = [path for path in sorted(paths) if not any((root / path).exists() for root in (TOP, SRC))]
    assert missing == []


def test_the_drawing_of_the_house_is_true() -> None:
    """Every folder that the drawing of floors and rooms names exists, and every package of the top is drawn."""
    drawn = set(re.findall(r"\b([a-z_]+)/(?= |$)", section("The house"), re.MULTILINE))
    folders = {path.parent.name for path in SRC.rglob("__init__.py")} - {"bursar"}
    assert drawn <= folders
    assert {path.parent.name for path in SRC.glob("*/__init__.py")} <= drawn | {"errors"}
    assert {path.parent.name for path in (SRC / "ledger").glob("*/__init__.py")} <= drawn


def test_every_word_is_explained() -> None:
    """The glossary says what each of the house's own words means."""
    explained = dict(re.findall(r"^\| ([\w, ]+?) \| (.+) \|$", section("Words"), re.MULTILINE))
    assert set(WORDS) <= explained.keys()
    assert all(len(meaning.split()) > 5 for word, meaning in explained.items() if word != "word")


def test_every_floor_has_its_tests() -> None:
    """Which tests to run is said of every package of the top level."""
    named = set(re.findall(r"`(\w+)(?:/\w*)*/?`", section("Which tests for which floor")))
    assert {path.parent.name for path in SRC.glob("*/__init__.py")} - {"errors"} <= named
