"""Facts from a file are read in one pass, whatever the file says."""

from __future__ import annotations

from pathlib import Path

import pytest

import bursar as b
from bursar.cli.facts import read_facts
from support.patience import within


@pytest.mark.parametrize(
    "text",
    [
        "curators: [" + "a , " * 5000 + "a",
        "curators: [" + "a , " * 5000 + "]",
        "curators: [" + "'a' , " * 5000 + "'a",
        "curators: [a" + " " * 50_000 + "b" + " " * 50_000 + "{",
        "note: |" + " " * 50_000 + "x #",
        "note: '" + "''" * 20_000,
        'note: "' + "\\\\" * 20_000,
    ],
)
def test_hostile_lines_are_refused_at_once(tmp_path: Path, text: str) -> None:
    """Lists and texts that never end: no place is looked at again and again."""
    file = tmp_path / "about.yaml"
    file.write_text(text + "\n", encoding="utf-8")
    with within(5.0), pytest.raises(b.InputError, match="line 1"):
        read_facts(file)


def test_lists_in_brackets(tmp_path: Path) -> None:
    """With spaces, quotes, commas in quotes and comments."""
    file = tmp_path / "about.yaml"
    for text, items in (
        ("[a]", ["a"]),
        ("[ a b ,c , 'd, e' , \"f]\" ] # all", ["a b", "c", "d, e", "f]"]),
        ("['it''s',x]#", ["it's", "x"]),
    ):
        file.write_text(f"curators: {text}\n", encoding="utf-8")
        assert read_facts(file) == {"curators": items}
    for text in ("[", "[]", "[a", "[a,]", "[,a]", "[a] b", "[a b c}]", "[a 'b']", "['a' b]", "[[a]]"):
        file.write_text(f"curators: {text}\n", encoding="utf-8")
        with pytest.raises(b.InputError, match="a list in brackets"):
            read_facts(file)
