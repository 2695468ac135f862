"""Random small questions over nearly the whole catalogue: few releases, usual parameters, answered in milliseconds."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from support.questions import ATOMIC, SIMPLE, Draw

NUMBER_OF_QUESTIONS = 20_000
DECLARED: dict[str, Callable[[Draw], str]] = {
    "exponential": lambda d: f"exponential(epsilon={d.spread(0.01, 2)})",
    "bounded_range": lambda d: f"declared(bounded_range(eta={d.spread(0.01, 2)}))",
    "zcdp": lambda d: f"declared(zcdp(rho={d.spread(1e-4, 0.5)}))",
    "tcdp": lambda d: f"declared(tcdp(rho={d.spread(1e-4, 0.5)}, omega={d.whole(2, 99)}))",
    "renyi": lambda d: f"declared(renyi(orders=[2, 8], values=[{d.spread(0.01, 0.1)}, {d.spread(0.1, 0.5)}]))",
}
ATOMS = {**SIMPLE, **DECLARED}
FAMILIES: dict[str, Callable[[Draw], str]] = {
    **ATOMS,
    "poisson": lambda d: f"poisson(gaussian(sigma={d.spread(0.5, 50)}), rate={d.spread(1e-3, 0.9)})",
    "sampled response": lambda d: f"poisson(randomized_response(epsilon={d.spread(0.1, 3)}), rate={d.rate()})",
    "group": lambda d: f"group(laplace(scale={d.spread(0.5, 50)}), size={d.whole(2, 5)})",
    "disjoint": lambda d: f"disjoint({', '.join(ATOMS[name](d) for name in d.rng.sample(ATOMIC[:3], 2))})",
    "replaced": lambda d: f"gaussian(sigma={d.spread(0.5, 50)}, relation=replace_one)",
}
NAMES = (*FAMILIES, "two kinds", "three kinds")


def small_question(number: int) -> tuple[str, dict[str, Any]]:
    """The question of this number: what is released, and the δ or ε that is asked about."""
    rng = random.Random(f"small question {number}")
    d, name = Draw(rng, everyday=True), NAMES[number % len(NAMES)]
    kinds = [name] if name in FAMILIES else rng.sample(list(ATOMS), 2 if name == "two kinds" else 3)
    text = " + ".join(f"{FAMILIES[kind](d)}*{d.whole(1, 60)}" for kind in kinds)
    asked = {"delta": d.spread(1e-12, 1e-2)} if rng.random() < 0.7 else {"epsilon": d.spread(0.01, 8)}
    return text, asked
