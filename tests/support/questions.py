"""Random questions over every family whose pair is known and attained: what the grid of widths and times is made of.

Families have equal weight. Parameters are log-uniform, for half of the questions over what people use and for the other
half over all that is accepted; counts are log-uniform from 1 to 1e9, δ from 1e-2 to 1e-300. A question is a text form,
so that anybody can ask it again.

Not here, because their lower end is 0 by nature: declared zCDP, tCDP, Rényi and bounded range (no single pair is the
worst), the exponential mechanism, disjoint blocks, fixed-size samples. Nor are two kinds that have rows of their own in
the benchmark: random allocation, and mixtures of Gaussians, which take seconds where σ is far below the shifts.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import NamedTuple


class Question(NamedTuple):
    """What is released, by which family, and the δ at which ε is asked."""

    family: str
    text: str
    delta: str
    everyday: bool
    """Whether its parameters are those that people use."""


class Draw:
    """Random parameters in the text form: four digits, exact decimals."""

    def __init__(self, rng: random.Random, *, everyday: bool) -> None:
        self.rng, self.everyday = rng, everyday

    def spread(self, low: float, high: float) -> str:
        """A number, log-uniform."""
        return f"{math.exp(self.rng.uniform(math.log(low), math.log(high))):.4g}"

    def whole(self, low: int, high: int) -> int:
        """A whole number, log-uniform."""
        return min(max(round(math.exp(self.rng.uniform(math.log(low), math.log(high)))), low), high)

    def noise(self) -> str:
        """A σ, a scale or a promise that divides."""
        return self.spread(1e-2, 1e3) if self.everyday else self.spread(1e-30, 1e30)

    def epsilon(self) -> str:
        """The ε of a response."""
        return self.spread(1e-3, 1e1) if self.everyday else self.spread(1e-30, 1e30)

    def rate(self) -> str:
        """A sampling rate."""
        return self.spread(1e-6, 1.0) if self.everyday else self.spread(1e-30, 1.0)

    def leak(self) -> str:
        """A δ of a mechanism."""
        return self.spread(1e-30, 1e-2) if self.everyday else self.spread(1e-300, 1.0)

    def law(self, outcomes: int) -> str:
        """Probabilities as fractions of a whole, none of them 0."""
        parts = [self.whole(1, 10**4 if self.everyday else 10**9) for _ in range(outcomes)]
        return "[" + ", ".join(f"{part}/{sum(parts)}" for part in parts) + "]"


def _table(draw: Draw) -> str:
    outcomes = draw.whole(2, 30)
    return f"table(p={draw.law(outcomes)}, q={draw.law(outcomes)})"


def _holes(draw: Draw) -> str:
    """A table with an outcome that only one of the two can produce, on either side."""
    inner = draw.whole(1, 8)
    p, q = draw.law(inner + 1)[1:-1], draw.law(inner + 1)[1:-1]
    first, _, rest = q.partition(", ")
    return f"table(p=[{p}, 0], q=[{first}, 0, {rest}])"


def _profile(draw: Draw) -> str:
    """A convex falling curve: corners on e^{-ε}-like steps, ending in a leak or in 0."""
    steps = draw.whole(1, 5)
    top, unit = float(draw.spread(1e-6, 0.5)), float(draw.spread(1e-2, 2))
    points = [(f"{unit * (i + 1):.4g}", f"{top * math.exp(-2.5 * unit * (i + 1)):.4g}") for i in range(steps)]
    last = (f"{unit * (steps + 3):.4g}", "0" if draw.rng.random() < 0.5 else f"{top * math.exp(-9 * unit * steps):.4g}")
    return "declared(profile(points=[" + ", ".join(f"[{e}, {d}]" for e, d in [*points, last]) + "]))"


def _densities(draw: Draw) -> str:
    """Shapes that people write down: a tilted line, two normal curves, an exponential one."""
    width = draw.spread(1, 8)
    shapes = (
        (f"1 + x*{draw.spread(0.01, 0.99)}", "1", "-1", "1"),
        ("exp(-x*x/2)", f"exp(-(x-{draw.spread(0.05, 2)})*(x-{draw.spread(0.05, 2)})/2)", f"-{width}", width),
        (f"exp(x*{draw.spread(0.01, 3)})", "1", "0", "1"),
    )
    p, q, low, high = draw.rng.choice(shapes)
    return f'densities("{p}", "{q}", low={low}, high={high})'


def _sensitivity(draw: Draw) -> int:
    return draw.whole(1, 100) if draw.everyday else draw.whole(1, 10**12)


SIMPLE: dict[str, Callable[[Draw], str]] = {
    "gaussian": lambda d: f"gaussian(sigma={d.noise()})",
    "laplace": lambda d: f"laplace(scale={d.noise()})",
    "randomized_response": lambda d: f"randomized_response(epsilon={d.epsilon()})",
    "kary_randomized_response": lambda d: (
        f"kary_randomized_response(epsilon={d.epsilon()}, categories={d.whole(2, 10**6)})"
    ),
    "leaky_randomized_response": lambda d: f"leaky_randomized_response(epsilon={d.epsilon()}, delta={d.leak()})",
    "name_and_shame": lambda d: f"name_and_shame(delta={d.leak()})",
    "discrete_gaussian": lambda d: f"discrete_gaussian(sigma={d.noise()}, sensitivity={_sensitivity(d)})",
    "discrete_laplace": lambda d: f"discrete_laplace(scale={d.noise()}, sensitivity={_sensitivity(d)})",
    "table": _table,
    "table with holes": _holes,
    "declared pure_dp": lambda d: f"declared(pure_dp(epsilon={d.epsilon()}))",
    "declared approx_dp": lambda d: f"declared(approx_dp(epsilon={d.epsilon()}, delta={d.leak()}))",
    "declared gdp": lambda d: f"declared(gdp(mu={d.epsilon()}))",
    "declared profile": _profile,
}
SAMPLED = ("gaussian", "laplace", "discrete_gaussian", "discrete_laplace", "table", "leaky_randomized_response")
FAMILIES: dict[str, Callable[[Draw], str]] = {
    **SIMPLE,
    **{
        f"poisson {name}": lambda d, name=name: f"poisson({SIMPLE[name](d)}, rate={d.rate()})"  # type: ignore[misc]
        for name in SAMPLED
    },
    "poisson gaussian replaced": lambda d: (
        f"poisson(gaussian(sigma={d.noise()}, relation=replace_one), rate={d.rate()})"
    ),
    "poisson poisson gaussian": lambda d: (
        f"poisson(poisson(gaussian(sigma={d.noise()}), rate={d.rate()}), rate={d.rate()})"
    ),
    "group laplace": lambda d: f"group(laplace(scale={d.noise()}), size={d.whole(2, 1000)})",
    "group discrete_gaussian": lambda d: f"group(discrete_gaussian(sigma={d.noise()}), size={d.whole(2, 100)})",
    "densities": _densities,
}
ATOMIC = (
    "laplace",
    "randomized_response",
    "kary_randomized_response",
    "discrete_laplace",
    "table",
    "discrete_gaussian",
)
MIXED: dict[str, tuple[str, ...]] = {
    "mixture of atomic kinds": ATOMIC,
    "mixture with gaussians": ("gaussian", *ATOMIC),
    "mixture of sampled kinds": ("poisson gaussian", "poisson laplace", "gaussian", "laplace"),
    "mixture of sampled gaussians": ("poisson gaussian",),
    "mixture of everything": tuple(name for name in FAMILIES if "replaced" not in name and name != "densities"),
}
NAMES = (*FAMILIES, *MIXED)


def question(seed: int) -> Question:
    """The question of this number: families in turn, so that each has its share."""
    rng = random.Random(f"questions {seed}")
    name = NAMES[seed % len(NAMES)]
    draw = Draw(rng, everyday=rng.random() < 0.5)
    if name in FAMILIES:
        text = f"{FAMILIES[name](draw)}*{draw.whole(1, 10**9)}"
    else:
        kinds = [rng.choice(MIXED[name]) for _ in range(draw.whole(2, 6))]
        text = " + ".join(f"{FAMILIES[kind](draw)}*{draw.whole(1, 10**6)}" for kind in kinds)
    return Question(name, text, f"{10 ** -rng.uniform(2, 300):.3e}", draw.everyday)
