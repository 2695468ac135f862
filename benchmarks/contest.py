"""One question to one accountant, in a process of its own: ``python benchmarks/contest.py PEER WORK`` prints JSON.

Parameters are those that are printed. A noise multiplier is noise divided by the norm of one record, as peers have it;
under replace-one bursar's σ is half of that, since the sum moves twice as far.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

REPLACE = "replace-one"


@dataclass(frozen=True)
class Step:
    """So many releases of one kind: Gaussian or Laplace noise, perhaps on Poisson samples."""

    noise: str
    multiplier: float
    rate: float = 1.0
    count: int = 1

    def __str__(self) -> str:
        plain = f"{self.noise} {self.multiplier!r}"
        return f"{self.count} × ({plain if self.rate == 1 else f'{plain}, rate {self.rate!r}'})"


@dataclass(frozen=True)
class Work:
    """What is asked."""

    steps: tuple[Step, ...]
    delta: float = 1e-6
    relation: str = "add or remove one"
    said: str = ""
    target: float | None = None
    """The ε of a calibration: the multiplier of its one step is wanted."""

    def __str__(self) -> str:
        what = self.said or " + ".join(map(str, self.steps))
        asked = f"δ = {self.delta!r}" + (f", σ for ε = {self.target!r}" if self.target else "")
        return f"{what}; {asked}" + ("" if self.relation != REPLACE else f"; {REPLACE}")


TRAINING = (Step("gaussian", 1.0, 0.01, 10_000),)
MIXED = tuple(Step("gaussian", float(s)) for s in range(10, 60)) + tuple(
    Step("laplace", float(s)) for s in range(20, 70)
)
WORKS = {
    "training": Work(TRAINING),
    "training, replaced": Work(TRAINING, relation=REPLACE),
    "laplaces": Work((Step("laplace", 100.0, count=500),)),
    "mixed": Work(MIXED, said="one Gaussian each of σ = 10, 11, …, 59, one Laplace each of scale 20, 21, …, 69"),
    "tiny delta": Work((Step("gaussian", 4.0, 0.00033, 10_000),), delta=1.13e-18),
    "large epsilon": Work((Step("gaussian", 0.8, 0.125, 1000),)),
    "calibration": Work(TRAINING, target=1.0),
    "gaussians": Work((Step("gaussian", 20.0, count=1000),)),
    "mnist": Work((Step("gaussian", 1.1, 256 / 60000, 14_040),)),
}


def ours(work: Work) -> Any:
    """bursar: both ends."""
    import bursar as b

    relation = "replace_one" if work.relation == REPLACE else "add_remove"

    def made(step: Step, multiplier: float) -> b.Composition:
        size = multiplier / (2 if work.relation == REPLACE else 1)
        noise = (b.Gaussian if step.noise == "gaussian" else b.Laplace)(size, relation=relation)
        return (noise if step.rate == 1 else b.PoissonSampled(noise, rate=step.rate)) * step.count

    if work.target is not None:
        (step,) = work.steps
        return b.plan(lambda sigma: made(step, sigma), epsilon=work.target, delta=work.delta).value
    bound = b.account(sum((made(s, s.multiplier) for s in work.steps), b.Composition()), delta=work.delta).epsilon
    return [bound.lower, bound.upper]


def google(accountant: str, interval: float = 1e-4) -> Callable[[Work], Any]:
    """dp_accounting's accountants."""

    def asked(work: Work) -> Any:
        import dp_accounting as dp
        from dp_accounting.pld import PLDAccountant
        from dp_accounting.rdp import RdpAccountant

        relation = (
            dp.NeighboringRelation.REPLACE_ONE if work.relation == REPLACE else dp.NeighboringRelation.ADD_OR_REMOVE_ONE
        )

        def fresh() -> Any:
            if accountant == "rdp":
                return RdpAccountant(neighboring_relation=relation)
            return PLDAccountant(relation, value_discretization_interval=interval)

        def event(step: Step, multiplier: float) -> Any:
            one = (dp.GaussianDpEvent if step.noise == "gaussian" else dp.LaplaceDpEvent)(multiplier)
            one = one if step.rate == 1 else dp.PoissonSampledDpEvent(step.rate, one)
            return dp.SelfComposedDpEvent(one, step.count)

        if work.target is not None:
            (step,) = work.steps
            return dp.calibrate_dp_mechanism(fresh, lambda sigma: event(step, sigma), work.target, work.delta)
        account = fresh()
        for step in work.steps:
            account.compose(event(step, step.multiplier))
        return account.get_epsilon(work.delta)

    return asked


def prv(work: Work) -> Any:
    """prv_accountant: lower end, estimate, upper end, at eps_error 0.01."""
    from prv_accountant import PRVAccountant
    from prv_accountant.privacy_random_variables import LaplaceMechanism, PoissonSubsampledGaussianMechanism

    if work.relation == REPLACE or work.target is not None:
        raise NotImplementedError("not offered")
    prvs = [
        PoissonSubsampledGaussianMechanism(noise_multiplier=s.multiplier, sampling_probability=s.rate)
        if s.noise == "gaussian"
        else LaplaceMechanism(mu=1 / s.multiplier)
        for s in work.steps
    ]
    counts = [s.count for s in work.steps]
    accountant = PRVAccountant(prvs=prvs, max_self_compositions=counts, eps_error=0.01, delta_error=work.delta / 1000)
    low, _, high = accountant.compute_epsilon(delta=work.delta, num_self_compositions=counts)
    return [low, high]


def opacus(kind: str) -> Callable[[Work], Any]:
    """Opacus' accountants, of Poisson-sampled Gaussians under add or remove one."""

    def asked(work: Work) -> Any:
        from opacus.accountants import create_accountant
        from opacus.accountants.utils import get_noise_multiplier

        if work.relation == REPLACE or any(s.noise != "gaussian" for s in work.steps):
            raise NotImplementedError("not offered")
        (step,) = work.steps
        if work.target is not None:
            terms = {"target_epsilon": work.target, "target_delta": work.delta, "sample_rate": step.rate}
            return get_noise_multiplier(**terms, steps=step.count, accountant=kind)
        accountant = create_accountant(kind)
        accountant.history = [(step.multiplier, step.rate, step.count)]
        return float(accountant.get_epsilon(work.delta))

    return asked


PEERS: dict[str, Callable[[Work], Any]] = {
    "bursar": ours,
    "dp_accounting PLD, default": google("pld"),
    "dp_accounting PLD, 1e-3": google("pld", 1e-3),
    "dp_accounting RDP": google("rdp"),
    "prv_accountant": prv,
    "opacus RDP": opacus("rdp"),
    "opacus GDP": opacus("gdp"),
    "opacus PRV": opacus("prv"),
}


def main() -> None:
    """Ask twice, since the first time loads what is needed; the second is timed, by the processor's clock."""
    peer, work = PEERS[sys.argv[1]], WORKS[sys.argv[2]]
    try:
        peer(work)
        start = time.process_time()
        value = peer(work)
        took = time.process_time() - start
        answer: dict[str, Any] = {"value": value, "seconds": took}
    except ModuleNotFoundError as missing:
        answer = {"failed": f"did not install: {missing.name}"}
    except NotImplementedError:
        answer = {"failed": "not offered"}
    except Exception as problem:
        answer = {"failed": type(problem).__name__}
    answer["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
