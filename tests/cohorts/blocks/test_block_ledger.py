"""Block ledgers: all or nothing on every block, in every store, as a dictionary of whole numbers decides it."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
import pytest

import bursar as b
from bursar.cohorts import BlockLedger, BlocksExhausted
from bursar.cohorts.blocks import views
from bursar.errors import (
    BursarError,
    CurrencyMismatch,
    InputError,
    KeyReused,
    ScopeFrozen,
    ScopeUnknown,
)
from bursar.ledger.budget.amounts import PARTS
from bursar.ledger.budget.release import release_of
from bursar.ledger.journal import blocks as geometry
from bursar.ledger.ledger import Ledger
from support.cohorts import Blocks


@pytest.fixture
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of up to 12 blocks, so that small grids have many."""
    monkeypatch.setattr(geometry, "TILE", 12)


def some_range(chance: random.Random, size: int) -> tuple[int, int]:
    """A range that is not empty."""
    first = chance.randrange(size)
    return first, chance.randrange(first + 1, size + 1)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize(
    ("sizes", "terms"),
    [
        ((30,), {"rho": "1/50"}),
        ((7, 11), {"epsilon": 1}),
        ((5, 1, 9), {"epsilon": 1, "delta": "1e-5"}),
        ((4, 3, 3, 2), {"mu": "1/8"}),
    ],
)
def test_random_charges_are_decided_as_by_the_dictionary(ledger: Ledger, sizes: tuple[int, ...], terms: Any) -> None:
    """Charges and refusals, the blocks that a refusal names, what is left, the worst: identical to the last unit."""
    chance = random.Random(len(sizes))
    names = ["day", "segment", "slice", "place"][: len(sizes)]
    made = BlockLedger.create(ledger, "ads", dict(zip(names, sizes, strict=True)), **terms)
    lines = made.scope.currency.lines
    oracle = Blocks(sizes, dict.fromkeys(lines, PARTS))
    refused = 0
    for number in range(60):
        ranges = [some_range(chance, size) for size in sizes]
        what = chance.choice((b.Gaussian(sigma=30), b.Gaussian(sigma=11))) if "epsilon" not in lines else None
        what = what or chance.choice((b.Laplace(scale=4), b.Laplace(scale=9), b.Laplace(scale=20)))
        amounts = made.scope.currency.price(release_of(what), {}).amounts
        short = oracle.charge(ranges, amounts)
        asked = dict(zip(names, ranges, strict=True))
        if short:
            refused += 1
            with pytest.raises(BlocksExhausted) as caught:
                made.spend(what, key=f"q-{number}", **asked)
            assert caught.value.count == len(short)
            named = [tuple(block.values()) for block in caught.value.blocks]
            assert set(named) <= set(short)
            assert len(named) == min(10, len(short))
        else:
            made.spend(what, key=f"q-{number}", **asked)
        for line in lines:
            left = made.left(**asked).lines[line]
            assert left == (PARTS - oracle.most(line, ranges)) * lines[line].unit
    assert refused > 3
    every = sorted(oracle.spent.items(), key=lambda one: (-max(one[1].values()), one[0]))
    shares = [Fraction(max(spent.values()), PARTS) for _, spent in every]
    assert [block.share for block in made.worst(15)] == shares[:15]
    statement = ledger.show("ads")
    assert [line.spent for line in statement.lines] == [oracle.most(line) * lines[line].unit for line in lines]
    assert statement.odometer is statement.hindsight is None


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize(("across", "down"), [("day", "place"), ("place", "day"), ("segment", "place")])
@pytest.mark.parametrize("cells", [1, 3, 64])
def test_a_map_has_the_worst_of_each_cell(embedded: Ledger, across: str, down: str, cells: int) -> None:
    """Every cell shows the largest share of its blocks, whatever the tiles, and no less than that."""
    sizes = {"day": 7, "segment": 5, "place": 11}
    chance, names = random.Random(cells), list(sizes)
    made = BlockLedger.create(embedded, "ads", sizes, rho=1)
    oracle = Blocks([*sizes.values()], {"rho": PARTS})
    for _ in range(12):
        ranges = [some_range(chance, size) for size in sizes.values()]
        what = b.Declared(b.ZCDP(rho=Fraction(chance.randrange(1, 80), 1000)))
        oracle.charge(ranges, made.scope.currency.price(release_of(what), {}).amounts)
        made.spend(what, **dict(zip(names, ranges, strict=True)))
    row, column = names.index(down), names.index(across)
    rows, columns = min(cells, sizes[down]), min(cells, sizes[across])
    expected = [[Fraction(0)] * columns for _ in range(rows)]
    for block, spent in oracle.spent.items():
        y, x = block[row] * rows // sizes[down], block[column] * columns // sizes[across]
        expected[y][x] = max(expected[y][x], Fraction(spent["rho"], PARTS))
    shares = made.heat(across, down, cells=cells).shares
    for found, exact in zip(chain(*shares), chain(*expected), strict=True):
        assert exact <= Fraction(found) <= exact * (1 + Fraction(1, 2**48))


@pytest.mark.usefixtures("small_tiles")
def test_the_worst_of_many_alike_are_not_all_read(embedded: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every tile is as bad as another, the first few tell the worst ten: whoever looks keeps nobody waiting."""
    made = BlockLedger.create(embedded, "ads", {"day": 40, "segment": 300}, rho=1)
    made.spend(b.Declared(b.ZCDP(rho="1/3")))
    read, whole = list[int](), views.counters_in
    monkeypatch.setattr(views, "counters_in", lambda *given: read.append(1) or whole(*given))
    assert [block.share for block in made.worst(10)] == [made.worst(1)[0].share] * 10
    assert len(read) < 10


def test_whole_numbers_of_other_libraries_are_whole_numbers(embedded: Ledger) -> None:
    """A range read from an array is a range; a place of it is a place."""
    made = BlockLedger.create(embedded, "ads", {"day": np.int64(9)}, rho=1)
    made.spend(b.Declared(b.ZCDP(rho="1/3")), day=(np.int32(2), np.uint8(4)))
    made.spend(b.Declared(b.ZCDP(rho="1/3")), day=np.int64(3))
    assert [made.left(day=day).share for day in range(1, 5)] == [1, Fraction(2, 3), Fraction(1, 3), 1]


def test_a_limit_is_exhausted_exactly(ledger: Ledger) -> None:
    """Eleven charges of an eleventh fit, the twelfth does not, and blocks beside them are untouched."""
    made = BlockLedger.create(ledger, "ads", {"day": 3}, rho=1)
    what = b.Declared(b.ZCDP(rho="1/11"))
    for number in range(11):
        made.spend(what, day=1, key=f"q-{number}")
    with pytest.raises(BlocksExhausted) as caught:
        made.spend(what, day=(0, 3), key="q-11")
    assert caught.value.blocks == [{"day": 1}]
    assert (caught.value.asked, caught.value.left, caught.value.limit) == (Fraction(1, 11), 0, 1)
    assert "day 1" in str(caught.value)
    assert "Nothing was charged" in str(caught.value)
    assert [made.left(day=day).share for day in range(3)] == [1, 0, 1]


def test_a_key_answers_once(ledger: Ledger) -> None:
    """A repeated key charges nothing and repeats the outcome, refusals included; another request with it is refused."""
    made = BlockLedger.create(ledger, "ads", {"day": 4}, rho="1/50", key="new")
    again = BlockLedger.create(ledger, "ads", {"day": 4}, rho="1/50", key="new")
    assert again.dimensions == made.dimensions
    first = made.spend(b.Gaussian(sigma=5), day=(0, 2), key="q")
    assert not first.replayed
    assert made.spend(b.Gaussian(sigma=5), day=(0, 2), key="q").replayed
    with pytest.raises(KeyReused):
        made.spend(b.Gaussian(sigma=5), day=(0, 3), key="q")
    for repeated in (False, True):
        with pytest.raises(BlocksExhausted) as caught:
            made.spend(b.Gaussian(sigma=5), day=1, key="r")
        assert caught.value.replayed is repeated
    assert made.left(day=3).share == 1


def test_the_ledgers_verbs(ledger: Ledger) -> None:
    """Freeze, limit and show work on the root; a limit is never lowered below what the worst block has spent."""
    made = BlockLedger.create(ledger, "ads", {"day": 4}, rho="1/50")
    made.spend(b.Gaussian(sigma=10), day=2)
    ledger.freeze("ads", reason="a question")
    with pytest.raises(ScopeFrozen):
        made.spend(b.Gaussian(sigma=10), day=3)
    ledger.thaw("ads", reason="answered")
    with pytest.raises(InputError, match="150 % of that limit"):
        ledger.limit("ads", rho="1/300", reason="less")
    with pytest.raises(InputError, match="used 50 times that limit"):
        ledger.limit("ads", rho="1/10000", reason="less")
    ledger.limit("ads", rho="1/40", reason="more")
    assert made.left(day=2).lines["rho"] == Fraction(1, 40) - Fraction(1, 200)
    assert ledger.scope("ads").kind == "cohort"


def test_a_cohort_is_not_charged_as_a_whole(ledger: Ledger) -> None:
    """Spend, quote, reserve, correct, import and scopes below it are refused by name."""
    made = BlockLedger.create(ledger, "ads", {"day": 4}, rho="1/50")
    receipt = made.spend(b.Gaussian(sigma=10), day=2)
    what = b.Gaussian(sigma=100)
    for refused in (
        lambda: ledger.spend("ads", what),
        lambda: ledger.quote("ads", what),
        lambda: ledger.reserve("ads", what, ttl=60),
        lambda: ledger.correct(receipt, what, reason="too little"),
        lambda: ledger.bring_in("ads", "what\ngaussian(sigma=100)\n"),
        lambda: ledger.open("ads/quota", rho="1/100"),
        lambda: ledger.open("part", parent="ads", kind="block"),
    ):
        with pytest.raises(CurrencyMismatch, match="ads is a cohort"):
            refused()
    assert made.left(day=2).lines["rho"] == Fraction(1, 50) - Fraction(1, 200)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"dimensions": {}, "rho": 1}, "dimensions"),
        ({"dimensions": {"day": 0}, "rho": 1}, "size of day"),
        ({"dimensions": {"Day": 3}, "rho": 1}, "'Day'"),
        ({"dimensions": {"key": 3}, "rho": 1}, "'key'"),
        ({"dimensions": {"day": True}, "rho": 1}, "True"),
        ({"dimensions": {"day": 10**6, "segment": 10**6}, "rho": 1}, "more than"),
        ({"dimensions": {"day": 3}, "epsilon": 1, "delta": "1e-6", "currency": "residue"}, "residue"),
        ({"dimensions": {"day": 3}, "rho": 0}, "rho"),
        ({"dimensions": {"day": 3}}, "epsilon"),
    ],
)
def test_bad_dimensions_and_currencies(embedded: Ledger, arguments: Any, said: str) -> None:
    """Each is refused by name, and nothing is opened."""
    with pytest.raises(BursarError, match=said):
        BlockLedger.create(embedded, "ads", **arguments)
    assert embedded.scopes() == []


@pytest.mark.parametrize(
    "ranges", [{"day": (2, 2)}, {"day": (-1, 2)}, {"day": 4}, {"day": "1"}, {"day": (0, 1, 2)}, {"hour": 1}]
)
def test_bad_ranges(embedded: Ledger, ranges: Any) -> None:
    """Each is refused by name, and nothing is charged."""
    made = BlockLedger.create(embedded, "ads", {"day": 4}, rho=1)
    with pytest.raises(InputError) as caught:
        made.spend(b.Gaussian(sigma=10), **ranges)
    assert caught.value.argument in ranges
    assert made.left().share == 1


def test_ranges_are_rounded_outward(embedded: Ledger) -> None:
    """A query from half past the first day to half past the third reads three days."""
    made = BlockLedger.create(embedded, "ads", {"day": 4}, rho=1)
    made.spend(b.Gaussian(sigma=10), day=(Fraction(1, 2), 2.5))
    assert [made.left(day=day).share < 1 for day in range(4)] == [True, True, True, False]


def test_other_scopes_keep_no_blocks(embedded: Ledger) -> None:
    """A root of the ledger is not a block ledger, and an unknown one is unknown."""
    embedded.open("census", epsilon=1)
    with pytest.raises(InputError, match="census does not keep blocks"):
        BlockLedger(embedded, "census")
    with pytest.raises(ScopeUnknown):
        BlockLedger(embedded, "nowhere")
