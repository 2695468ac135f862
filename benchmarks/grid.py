"""Asks many random questions and says how narrow and how quick the answers are.

    python benchmarks/grid.py --first 0 --cases 5000 --jobs 2 [--family NAME] [--everyday] [--wide] [--slow]

It prints a row for each family and one for all. With ``--wide`` and ``--slow`` it lists the questions whose answer is
wider than a millionth, or took more than 0.2 s of processor time, with what the report says about it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import bursar as b
from support.grid import Outcome, asked
from support.questions import NAMES, question


def answers(numbers: Iterable[int], jobs: int) -> list[Outcome]:
    """All answers, by so many processes; each of them loads the library before it is timed."""
    if jobs == 1:
        return [asked(number) for number in numbers]
    with get_context("spawn").Pool(jobs, initializer=_warm) as pool:
        return list(pool.imap_unordered(asked, numbers, chunksize=4))


def _warm() -> None:
    """Load what is loaded lazily, which is not part of an answer's time."""
    for text in (
        "poisson(gaussian(sigma=1), rate=0.01)*100 + laplace(scale=9)*10",
        "table(p=[1/2, 1/2], q=[1/3, 2/3])*9",
    ):
        b.account(b.parse(text), delta=1e-6)


class Shares(NamedTuple):
    """Shares of some answers: narrow to a millionth and to a thousandth, lower end 0 in vain, quick."""

    cases: int
    millionth: float
    thousandth: float
    vain: float
    fifth: float
    """Within 0.2 s of processor time."""
    two: float
    """Within 2 s."""
    longest: float


def shares(outcomes: list[Outcome]) -> Shares:
    """How many of them are narrow, and quick."""
    n = max(len(outcomes), 1)

    def share(held: Iterable[bool]) -> float:
        return sum(held) / n

    return Shares(
        len(outcomes),
        share(one.width <= 1e-6 for one in outcomes),
        share(one.width <= 1e-3 for one in outcomes),
        share(one.lower == 0 < one.upper for one in outcomes),
        share(one.seconds <= 0.2 for one in outcomes),
        share(one.seconds <= 2 for one in outcomes),
        max((one.seconds for one in outcomes), default=0.0),
    )


def _row(name: str, found: Shares) -> str:
    cells = (f"{100 * value:6.2f}" for value in found[1:6])
    return f"{name:36} {found.cases:5d} {' '.join(cells)} {found.longest:8.2f}"


def main() -> None:
    """Ask, and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, default=290)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--family", choices=NAMES)
    parser.add_argument("--everyday", action="store_true")
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--slow", action="store_true")
    given = parser.parse_args()
    numbers = list(range(given.first, given.first + given.cases))
    if given.family:
        at = NAMES.index(given.family)
        numbers = [given.first // len(NAMES) * len(NAMES) + at + len(NAMES) * i for i in range(given.cases)]
    if given.everyday:
        numbers = [number for number in numbers if question(number).everyday]
    outcomes = answers(numbers, given.jobs)
    print(f"{'family':36} {'cases':>5} {'1e-6':>6} {'1e-3':>6} {'low=0':>6} {'0.2 s':>6} {'2 s':>6} {'longest':>8}")
    for name in NAMES:
        mine = [one for one in outcomes if one.question.family == name]
        if mine:
            print(_row(name, shares(mine)))
    print(_row("all with everyday parameters", shares([one for one in outcomes if one.question.everyday])))
    print(_row("all", shares(outcomes)))
    for one in sorted(outcomes, key=lambda one: one.question.family):
        if (given.wide and one.width > 1e-6) or (given.slow and one.seconds > 0.2):
            print(
                f"\n{one.question.text}  δ={one.question.delta}\n  [{one.lower!r}, {one.upper!r}] {one.seconds:.2f} s"
            )
            print(f"  {one.because}")


if __name__ == "__main__":
    main()
