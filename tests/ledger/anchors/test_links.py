"""Links to a SQLite ledger: one file has one anchor, by whatever name it is opened."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bursar as b
from bursar.ledger.ledger import Ledger
from support.copies import PARTS, Spender, made, put
from support.hands import TENTH


def test_a_link_that_is_pointed_elsewhere(tmp_path: Path) -> None:
    """A process that opened a link stops when the link leads to another file."""
    path, link = tmp_path / "budget.db", tmp_path / "link.db"
    copy = made(path)
    link.symlink_to(path)
    with Ledger(link, alert=None) as ledger:
        ledger.spend("data", TENTH)
        link.unlink()
        link.symlink_to(copy)
        with pytest.raises(b.errors.LedgerHalted, match="replaced"):
            ledger.spend("data", TENTH)


@pytest.mark.parametrize("name", ["link.db", "folder/budget.db"])
@pytest.mark.parametrize("through_the_link", ["before", "after"])
def test_a_stale_copy_through_a_link(
    name: str, through_the_link: str, tmp_path: Path, spender: Callable[..., Spender], figures: Any
) -> None:
    """The anchor belongs to the file, by whatever name it is opened."""
    (tmp_path / "real").mkdir()
    path, link = tmp_path / "real" / "budget.db", tmp_path / name
    copy = made(path)
    if name == "link.db":
        link.symlink_to(path)
    else:
        link.parent.symlink_to(path.parent)
    ways = (link, path) if through_the_link == "before" else (path, link)
    admitted = spender(ways[0]).spend(95)[0]
    assert admitted == 95
    put(copy, path, "moved, without the log")
    count, said = spender(ways[1]).spend(95)
    admitted += count
    assert said == "ledger_halted"
    assert admitted <= PARTS
    figures("stale copy, opened or spent through a link", name, admitted, max(0, admitted - PARTS))


def test_anchors_beside_a_link_count_too(tmp_path: Path) -> None:
    """Also the ones that were made beside the link in the past, and where a link takes the place of the file."""
    path, link = tmp_path / "budget.db", tmp_path / "link.db"
    copy = made(path)
    with Ledger(path, anchor=f"{link}-anchor", alert=None) as ledger:  # as it was when anchors stood beside the name
        ledger.spend("data", TENTH)
    link.symlink_to(path)
    with Ledger(link, alert=None) as ledger:
        ledger.spend("data", TENTH)
        assert ledger.verify()
    for anchor in (tmp_path / "link.db-anchor", tmp_path / "budget.db-anchor"):
        assert anchor.read_text().splitlines()[-1].startswith("3 ")
    (tmp_path / "budget.db-anchor").unlink()
    put(copy, path, "copied, without the log")
    with Ledger(link, alert=None) as ledger:
        assert "older copy" in str(ledger.halted)
        ledger.restore(assume_spent=True, reason="the disk died")
        assert ledger.verify()
    with Ledger(link, alert=None) as ledger:
        assert ledger.halted is None


def test_a_link_in_the_place_of_the_file(tmp_path: Path) -> None:
    """The file's name becomes a link to an older copy: the anchor that stands beside the name still counts."""
    path = tmp_path / "budget.db"
    copy = made(path)
    with Ledger(path, alert=None) as ledger:
        ledger.spend("data", TENTH)
    path.rename(tmp_path / "old.db")
    path.symlink_to(copy)
    with Ledger(path, alert=None) as ledger:
        assert "older copy" in str(ledger.halted)


def test_a_second_name_is_refused(tmp_path: Path) -> None:
    """A hard link would have a log and an anchor of its own."""
    path = tmp_path / "budget.db"
    made(path)
    os.link(path, tmp_path / "second.db")
    for name in ("budget.db", "second.db"):
        with pytest.raises(b.InputError, match="2 names"):
            Ledger(tmp_path / name, alert=None)
    (tmp_path / "second.db").unlink()
    with Ledger(path, alert=None) as ledger:
        ledger.spend("data", TENTH)
