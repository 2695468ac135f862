"""How a budget burns down: one series, whoever draws it."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import bursar as b
from bursar import plot
from bursar.ledger.ledger import Ledger
from bursar.ledger.views.burn_down import burn_down, untouched
from bursar.ledger.views.looks import walk
from bursar.service.dashboard import book


def lived(ledger: Ledger) -> None:
    """A scope that gives up splits in the middle, and has a quota that is raised and others do not touch."""
    ledger.open("data", epsilon=1, delta="1e-6")
    ledger.open("data/team", parent="data", epsilon="1/2")
    ledger.spend("data", b.RandomizedResponse("0.01"))
    ledger.spend("data", b.Gaussian(sigma=50))
    held = ledger.reserve("data/team", "laplace(scale=100)*5", ttl=60)
    ledger.draw(held, "laplace(scale=100)")
    ledger.close(held)
    ledger.limit("data/team", epsilon=1, reason="more")


def test_what_is_left_for_pure_releases_falls_with_the_splits() -> None:
    """A Gaussian gives up the split that has all of ε: from then on the best of the others counts."""
    with Ledger("memory://", alert=None) as ledger:
        lived(ledger)
        points = burn_down("data", untouched(ledger.scope("data").currency.lines), ledger.entries("data"))
        assert points[0].left["pure"] == 1
        assert points[1].left["pure"] == Fraction(99, 100)
        assert {point.left["pure"] for point in points[2:]} == {Fraction(4, 5)}
        assert [point.left["gaussian"] for point in points] == sorted(
            (p.left["gaussian"] for p in points), reverse=True
        )


def test_the_last_point_is_what_a_statement_shows() -> None:
    """Of every scope and every line: what is left now is where its series ends."""
    with Ledger("memory://", alert=None) as ledger:
        lived(ledger)
        for scope in ledger.scopes():
            points = burn_down(scope.name, untouched(scope.currency.lines), ledger.entries(scope.row.root))
            shown = {line.name: Fraction(line.left, line.limit) for line in ledger.show(scope.name).lines}
            assert points[-1].left == shown


def test_plot_and_dashboard_draw_the_same_series() -> None:
    """The same shares at the same times, in the picture and on the page, which ends with now."""
    with Ledger("memory://", alert=None) as ledger:
        lived(ledger)
        for name in ("data", "data/team"):
            (axes,) = plot.burn_down_figure(ledger, name).axes
            drawn = next(list(line.get_ydata()) for line in axes.lines if line.get_label() == "left")
            found = ledger.show(name)
            walked = walk(ledger.office, name, 0, 100)
            taken = [walked.steps[seq] for seq in sorted(walked.steps)]
            chart = json.loads(book.chart(taken, found.left, ledger.office.clock(), None))
            page = chart["series"][0]["values"]
            assert [100 * share for share in page] == pytest.approx([*drawn, 100 * float(found.left)])
            assert chart["x"][:-1] == [step.entry.at / 1e6 for step in taken]


def test_a_late_start_knows_what_went_before() -> None:
    """From any entry on, with what was left before it, the series is the end of the whole one."""
    with Ledger("memory://", alert=None) as ledger:
        lived(ledger)
        whole = burn_down("data", untouched(ledger.scope("data").currency.lines), ledger.entries("data"))
        for place in range(1, len(whole)):
            before = whole[place - 1]
            assert burn_down("data", before.left, ledger.entries("data", after=before.seq)) == whole[place:]
