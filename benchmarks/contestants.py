"""Who answers in the comparison: bursar, and the accountants that live beside it in one environment."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from contest import NotOffered, Step, Work

Answer = Callable[[Work], Any]


def ours(work: Work) -> Any:
    """bursar: both ends."""
    import bursar as b

    relation = "replace_one" if work.replaced else "add_remove"

    def made(step: Step, multiplier: float) -> b.Composition:
        size = multiplier / (2 if work.replaced else 1)
        if step.noise == "response":
            one: b.Mechanism = b.RandomizedResponse(multiplier, relation=relation)
        else:
            one = (b.Gaussian if step.noise == "gaussian" else b.Laplace)(size, relation=relation)
        if step.of > 1:
            one = b.Allocated(one, steps=step.of)
        return (one if step.rate == 1 else b.PoissonSampled(one, rate=step.rate)) * step.count

    if work.target is not None:
        (step,) = work.steps
        if work.wanted == "σ":
            return b.plan(lambda sigma: made(step, sigma), epsilon=work.target, delta=work.delta).value
        return b.plan(lambda n: made(step, step.multiplier) * n, epsilon=work.target, delta=work.delta).value
    composed = sum((made(s, s.multiplier) for s in work.steps), b.Composition())
    if work.curve:
        found = b.profile(composed, work.curve)
        return {"low": list(found.lower), "high": list(found.upper)}
    bound = b.account(composed, delta=work.delta).epsilon
    return [bound.lower, bound.upper]


def google(accountant: str, interval: float = 1e-4) -> Answer:
    """dp_accounting's accountants."""

    def asked(work: Work) -> Any:
        import dp_accounting as dp
        from dp_accounting.pld import PLDAccountant
        from dp_accounting.rdp import RdpAccountant

        relations = dp.NeighboringRelation
        relation = relations.REPLACE_ONE if work.replaced else relations.ADD_OR_REMOVE_ONE

        def fresh() -> Any:
            if accountant == "rdp":
                return RdpAccountant(neighboring_relation=relation)
            return PLDAccountant(relation, value_discretization_interval=interval)

        # its Rényi accountant reads a replaced record's multiplier as noise ÷ sensitivity, which is twice the norm
        unit = 0.5 if accountant == "rdp" and work.replaced else 1.0
        if any(step.of > 1 for step in work.steps):
            raise NotOffered
        if work.target is not None:
            (step,) = work.steps
            if work.wanted == "σ":
                return dp.calibrate_dp_mechanism(
                    fresh, lambda sigma: event(step, sigma * unit, step.count), work.target, work.delta
                )
            between = dp.LowerEndpointAndGuess(1, 1000)
            return dp.calibrate_dp_mechanism(
                fresh, lambda n: event(step, step.multiplier, int(n)), work.target, work.delta, between, discrete=True
            )
        account = fresh()
        for step in work.steps:
            account.compose(event(step, step.multiplier * (1 if step.noise == "response" else unit), step.count))
        if work.curve:
            return {"high": [float(account.get_delta(epsilon)) for epsilon in work.curve]}
        return account.get_epsilon(work.delta)

    def event(step: Step, multiplier: float, count: int) -> Any:
        import dp_accounting as dp

        if step.noise == "response":
            one: Any = dp.RandomizedResponseDpEvent(2 / (1 + math.exp(multiplier)), 2)
        else:
            one = (dp.GaussianDpEvent if step.noise == "gaussian" else dp.LaplaceDpEvent)(multiplier)
        one = one if step.rate == 1 else dp.PoissonSampledDpEvent(step.rate, one)
        return dp.SelfComposedDpEvent(one, count)

    return asked


def prv(work: Work) -> Any:
    """prv_accountant: lower end, estimate, upper end, at eps_error 0.01."""
    from prv_accountant import PRVAccountant
    from prv_accountant.privacy_random_variables import (
        LaplaceMechanism,
        PoissonSubsampledGaussianMechanism,
        PureDPMechanism,
    )

    responses = all(s.noise == "response" for s in work.steps)
    if (work.replaced and not responses) or work.target is not None or any(s.of > 1 for s in work.steps):
        raise NotOffered

    def made(s: Step) -> Any:
        if s.noise == "gaussian":
            return PoissonSubsampledGaussianMechanism(noise_multiplier=s.multiplier, sampling_probability=s.rate)
        return PureDPMechanism(s.multiplier) if s.noise == "response" else LaplaceMechanism(mu=1 / s.multiplier)

    counts = [s.count for s in work.steps]
    accountant = PRVAccountant(
        prvs=[made(s) for s in work.steps],
        max_self_compositions=counts,
        eps_error=0.01,
        delta_error=work.delta / 1000,
    )
    if work.curve:
        ends = [accountant.compute_delta(epsilon=e, num_self_compositions=counts) for e in work.curve]
        return {"low": [float(end[0]) for end in ends], "high": [float(end[2]) for end in ends]}
    low, _, high = accountant.compute_epsilon(delta=work.delta, num_self_compositions=counts)
    return [low, high]


def opacus(kind: str) -> Answer:
    """Opacus' accountants, of Poisson-sampled Gaussians under add or remove one."""

    def asked(work: Work) -> Any:
        from opacus.accountants import create_accountant
        from opacus.accountants.utils import get_noise_multiplier

        if not work.plain or work.curve or work.wanted != "σ" or (kind == "gdp" and len(work.steps) > 1):
            raise NotOffered
        if work.target is not None:
            (step,) = work.steps
            terms = {"target_epsilon": work.target, "target_delta": work.delta, "sample_rate": step.rate}
            return get_noise_multiplier(**terms, steps=step.count, accountant=kind)
        accountant = create_accountant(kind)
        accountant.history = [(step.multiplier, step.rate, step.count) for step in work.steps]
        return float(accountant.get_epsilon(work.delta))

    return asked


def _outside(name: str) -> Answer:
    def asked(work: Work) -> Any:
        import outsiders

        return getattr(outsiders, name)(work)

    return asked


APART = {
    "jax-privacy PLD": "jax_privacy",
    "jax-privacy RDP": "jax_privacy",
    "autodp RDP": "autodp",
    "autodp characteristic functions": "autodp",
    "gdpnum": "gdpnum",
    "gdpnum, by its μ": "gdpnum",
    "PLD-accounting": "pld_accounting",
    "diffprivlib": "diffprivlib",
}
"""Whose environment a peer needs; `make peers` makes them, and `make bench` those that are missing."""
PEERS: dict[str, Answer] = {
    "bursar": ours,
    "dp_accounting PLD, default": google("pld"),
    "dp_accounting PLD, 1e-3": google("pld", 1e-3),
    "dp_accounting RDP": google("rdp"),
    "prv_accountant": prv,
    "opacus RDP": opacus("rdp"),
    "opacus GDP": opacus("gdp"),
    "opacus PRV": opacus("prv"),
    "jax-privacy PLD": _outside("jax_pld"),
    "jax-privacy RDP": _outside("jax_rdp"),
    "autodp RDP": _outside("autodp_renyi"),
    "autodp characteristic functions": _outside("autodp_characteristic"),
    "gdpnum": _outside("gdpnum_dots"),
    "gdpnum, by its μ": _outside("gdpnum_mu"),
    "PLD-accounting": _outside("allocation"),
}
