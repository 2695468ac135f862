"""Thousands of absurd inputs: each is refused in bursar's own words, and nothing is lost."""

from __future__ import annotations

import random
import string
from fractions import Fraction
from typing import Any

import bursar as b
from bursar.ledger.ledger import Ledger

PIECES = [
    "laplace(scale=",
    "gaussian(sigma=",
    "declared(pure_dp(epsilon=",
    "poisson(",
    "rate=",
    ")",
    "(",
    "*",
    "+",
    "1/0",
    "1e999999",
    "1e-999999",
    "nan",
    "inf",
    "-1",
    "0",
    "10",
    "0.1",
    "9" * 400,
    "/",
    ",",
    "=",
    " ",
    "\n",
    "\x00",
    "é",
    "🦉",
    "'",
    '"',
    ";",
    "--",
    "*1000000000000",
    "*-1",
    "*0",
    "__import__('os')",
    "${x}",
    "<b>",
    "renyi(orders=[2], values=[",
    "]",
    "[",
]
VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    10**400,
    float("nan"),
    float("inf"),
    -0.0,
    1e-320,
    b"bytes",
    [],
    {},
    (),
    object(),
    "",
    " ",
    "1e",
    "0x1",
    "1_0",
    "١",
    Fraction(1, 10**3000),
    "1/3/5",
    "+-1",
    "1e+9999999999999999999",
    "∞",
]


def texts(rng: random.Random) -> str:
    """Pieces of the grammar in disorder, or plain noise."""
    if rng.random() < 0.3:
        return "".join(rng.choice(string.printable) for _ in range(rng.randint(0, 60)))
    return "".join(rng.choice(PIECES) for _ in range(rng.randint(1, 12)))


def refused(call: Any) -> bool:
    """Whether it was refused in bursar's words; anything else that is raised is a failure of this test."""
    try:
        call()
    except b.BursarError:
        return True
    return False


def storm(ledger: Ledger, seed: int, count: int) -> int:
    """How many of these were refused."""
    rng = random.Random(seed)
    total = 0
    for _ in range(count):
        text, value = texts(rng), rng.choice(VALUES)
        total += rng.choice(
            [
                lambda t=text: refused(lambda: ledger.spend("data", t)),
                lambda v=value: refused(lambda: ledger.spend("data", v)),
                lambda t=text: refused(lambda: ledger.spend(t, "laplace(scale=1e9)")),
                lambda v=value: refused(lambda: ledger.spend(v, "laplace(scale=1e9)")),
                lambda v=value: refused(
                    lambda: ledger.open("x" + str(rng.random()), epsilon=v, delta=rng.choice(VALUES))
                ),
                lambda t=text: refused(lambda: ledger.spend("data", "laplace(scale=1e9)", key=t)),
                lambda v=value: refused(lambda: ledger.spend("data", "gaussian(sigma=1e6)", delta=v)),
                lambda v=value: refused(lambda: ledger.reserve("data", "laplace(scale=1e9)", ttl=v)),
                lambda v=value: refused(lambda: ledger.draw(v)),
                lambda t=text: refused(lambda: ledger.bring_in("data", "what\n" + t)),
                lambda v=value: refused(lambda: ledger.limit("data", epsilon=v, reason="x")),
            ]
        )()
    return total


def test_absurd_input_is_refused(embedded: Ledger, figures: Any) -> None:
    """Two thousand requests of noise: refused or harmless, and the journal still adds up."""
    embedded.open("data", epsilon=1)
    rejected = storm(embedded, 9, 2000)
    assert rejected > 1200
    found = embedded.verify(reprice=True)
    assert found, str(found)
    figures("absurd input", "texts, names, keys, numbers of every kind", 2000, 0)
