"""kill −9: at random moments and at every named point of a commit, no acknowledged charge is lost."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bursar.ledger.budget.amounts import PARTS
from bursar.ledger.ledger import Ledger
from support.patience import NET
from support.where import CLIENTS

POINTS = (
    "before the writes",
    "between two writes",
    "before the commit",
    "after the commit",
    "after the anchor",
    "before the answer",
)


def killed(url: str, name: str, point: str, wait: float) -> set[str]:
    """A process that spends until it is killed: the keys it had acknowledged."""
    process = subprocess.Popen(
        [sys.executable, str(CLIENTS), "endless", url, name, point], stdout=subprocess.PIPE, text=True
    )
    if point == "random":
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(wait)
        process.kill()
        return {first.strip(), *process.communicate()[0].split("\n")[:-1]}
    output, _ = process.communicate(timeout=NET)
    assert process.returncode == -9
    return set(output.split("\n")[:-1])


def check(url: str, told: set[str]) -> int:
    """Everything told is there, and all adds up."""
    with Ledger(url, alert=None) as ledger:
        found = ledger.verify()
        assert found, str(found)
        with ledger.store.reading() as reader:
            keys = {key for key, _, _ in reader.every_key()}
        assert told <= keys
        charge = -(-PARTS // 10**6)
        assert ledger.show("data").line("epsilon").spent * PARTS == (len(keys) - 1) * charge
        return len(told)


@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_named_point(point: str, tmp_path: Path, figures: Any) -> None:
    """The process dies inside its third commit; a retry of the key in doubt charges once."""
    url = f"sqlite:///{tmp_path}/budget.db"
    with Ledger(url, alert=None) as ledger:
        ledger.open("data", epsilon=1)
    told = killed(url, "a", point, 0)
    assert told
    check(url, told)
    again = killed(url, "a", point, 0)  # the same keys: replays of what was charged, then on
    check(url, told | again)
    figures("kill -9", point, 2, 0)


@pytest.mark.parametrize(("rounds", "longest"), [(6, 0.05), pytest.param(200, 0.2, marks=pytest.mark.soak)])
def test_killed_at_random(rounds: int, longest: float, tmp_path: Path, figures: Any) -> None:
    """Again and again, two processes at once, on one ledger."""
    url = f"sqlite:///{tmp_path}/budget.db"
    with Ledger(url, alert=None) as ledger:
        ledger.open("data", epsilon=1)
    rng, told = random.Random(rounds), set()
    for number in range(rounds):
        told |= killed(url, f"r{number}", "random", rng.uniform(0, longest))
    check(url, told)
    figures("kill -9", "at random moments", rounds, 0)
