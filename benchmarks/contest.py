"""Questions to one accountant, each in its own process: ``python benchmarks/contest.py PEER [WORK …]`` prints JSON.

Parameters are those that are printed. A noise multiplier is noise divided by the norm of one record, as peers have it;
under replace-one bursar's σ is half of that, since the sum moves twice as far. Who answers is in `contestants.py`, and
in `outsiders.py` those whose packages need environments of their own.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

REPLACE = "replace-one"
LONGEST = int(os.environ.get("CONTEST_SECONDS", "30"))
"""Seconds of the processor that a question may take, every time together."""
LONG = 10
"""Seconds after which nobody asks a second time."""
ENOUGH, MOST = 0.1, 10_000
"""Seconds, and answers, over which a short time is measured: the processor's clock has a grain of its own, up to ten
milliseconds.
"""


@dataclass(frozen=True)
class Step:
    """So many releases of one kind: Gaussian or Laplace noise, perhaps on samples, or randomized responses."""

    noise: str
    multiplier: float
    """Of a response: its ε."""
    rate: float = 1.0
    count: int = 1
    of: int = 1
    """In how many steps a record takes part in one, drawn at random: each of ``count`` epochs draws again."""

    def __str__(self) -> str:
        plain = f"{self.noise} {self.multiplier!r}"
        if self.of > 1:
            plain += f" in one of {self.of} steps, drawn at random"
        return f"{self.count} × ({plain if self.rate == 1 else f'{plain}, rate {self.rate!r}'})"


@dataclass(frozen=True)
class Work:
    """What is asked: ε at δ, or one of the other questions below."""

    steps: tuple[Step, ...]
    delta: float = 1e-6
    relation: str = "add or remove one"
    said: str = ""
    target: float | None = None
    """The ε of a plan: the multiplier of its one step is wanted, or its count."""
    wanted: str = "σ"
    curve: tuple[float, ...] = ()
    """δ is wanted at each of these ε's."""

    def __str__(self) -> str:
        what = self.said or " + ".join(map(str, self.steps))
        if self.curve:
            asked = f"δ at {len(self.curve)} ε's, {self.curve[0]!r}, {self.curve[1]!r}, …, {self.curve[-1]!r}"
        else:
            plan = f", {self.wanted} for ε = {self.target!r}" if self.target else ""
            asked = f"δ = {self.delta!r}{plan}"
        return f"{what}; {asked}" + ("" if self.relation != REPLACE else f"; {REPLACE}")

    @property
    def replaced(self) -> bool:
        """Whether one record is replaced by another."""
        return self.relation == REPLACE

    @property
    def plain(self) -> bool:
        """Whether this is ε of Gaussians under add or remove one, which is what training accountants know."""
        return not self.replaced and all(s.noise == "gaussian" and s.of == 1 for s in self.steps)


TRAINING = (Step("gaussian", 1.0, 0.01, 10_000),)
PHASES = (Step("gaussian", 1.0, 0.01, 2000), Step("gaussian", 1.25, 0.02, 1000), Step("gaussian", 2.0, 0.005, 5000))
MIXED = tuple(Step("gaussian", float(s)) for s in range(10, 60)) + tuple(
    Step("laplace", float(s)) for s in range(20, 70)
)
SAID = "one Gaussian each of σ = 10, 11, …, 59, one Laplace each of scale 20, 21, …, 69"
WORKS = {
    "training": Work(TRAINING),
    "training, replaced": Work(TRAINING, relation=REPLACE),
    "training in three phases": Work(PHASES),
    "training, the whole curve": Work(TRAINING, curve=tuple(n / 5 for n in range(51))),
    "training, the size of MNIST": Work((Step("gaussian", 1.1, 256 / 60000, 14_040),)),
    "tiny delta": Work((Step("gaussian", 4.0, 0.00033, 10_000),), delta=1.13e-18),
    "large epsilon": Work((Step("gaussian", 0.8, 0.125, 1000),)),
    "random allocation": Work((Step("gaussian", 1.0, of=100),)),
    "random allocation, ten epochs": Work((Step("gaussian", 1.0, count=10, of=100),)),
    "gaussians": Work((Step("gaussian", 20.0, count=1000),)),
    "laplaces": Work((Step("laplace", 100.0, count=500),)),
    "responses": Work((Step("response", 0.1, count=100),), relation=REPLACE),
    "mixed": Work(MIXED, said=SAID),
    "mixed, replaced": Work(MIXED, said=SAID, relation=REPLACE),
    "mixed, the whole curve": Work(MIXED, said=SAID, curve=tuple(n / 20 for n in range(51))),
    "noise for a target": Work(TRAINING, target=1.0),
    "noise for a target, replaced": Work(TRAINING, target=1.0, relation=REPLACE),
    "steps for a target": Work((Step("gaussian", 1.0, 0.01),), target=4.0, wanted="how many steps"),
}
FIRST = Work((Step("gaussian", 10.0),))


class NotOffered(Exception):
    """This accountant has no such question."""


def answered(peer: Callable[[Work], Any], work: Work) -> dict[str, Any]:
    """An answer and its time, once everything is loaded: the mean of as many as the clock needs to tell them apart."""
    try:
        first = time.process_time()
        value = peer(work)
        took = time.process_time() - first
        if took < LONG:
            begun, times = time.process_time(), 0
            while (total := time.process_time() - begun) < ENOUGH and times < MOST:
                value, times = peer(work), times + 1
            took = total / times
        answer: dict[str, Any] = {"value": value, "seconds": took}
    except NotOffered:
        return {"failed": "not offered"}
    except Exception as problem:
        answer = {"failed": type(problem).__name__}
    return {**answer, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}


def alone(peer: Callable[[Work], Any], work: Work) -> None:
    """One answer in a child of this process, which has loaded the packages; it has so much of the processor's time."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
        print(json.dumps(answered(peer, work), default=float), flush=True)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        print(json.dumps({"failed": f"no answer within {LONGEST} s"}), flush=True)


def main() -> None:
    """Every question to one accountant, a line of JSON each."""
    from contestants import PEERS

    peer = PEERS[sys.argv[1]]
    try:
        peer(FIRST)  # loads what it needs
    except ModuleNotFoundError as missing:
        sys.exit(f"did not install: {missing.name}")
    except Exception:
        pass  # whether it can answer is asked below
    for name in sys.argv[2:] or WORKS:
        alone(peer, WORKS[name])


if __name__ == "__main__":
    sys.modules["contest"] = sys.modules[__name__]  # the contestants know this file by its name
    main()
