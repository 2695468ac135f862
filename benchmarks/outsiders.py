"""Who answers in the comparison from an environment of their own (`apart/`): each function imports what it needs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from contest import NotOffered, Step, Work


def jax_pld(work: Work) -> Any:
    """jax-privacy's training accountant, by dp_accounting's PLD at its own settings."""
    from jax_privacy.accounting.accountants import PldAccountantConfig

    return _jax(work, PldAccountantConfig())


def jax_rdp(work: Work) -> Any:
    """The same by Rényi divergences."""
    from jax_privacy.accounting.accountants import RdpAccountantConfig

    return _jax(work, RdpAccountantConfig())


def _jax(work: Work, config: Any) -> Any:
    from jax_privacy.accounting import analysis, calibrate

    if not work.plain or work.curve:
        raise NotOffered
    (step, *others) = work.steps
    sizes = [Fraction(s.rate).limit_denominator(10**6) for s in work.steps]
    samples = math.lcm(*(size.denominator for size in sizes))
    batches = [int(size * samples) for size in sizes]
    assert [batch / samples for batch in batches] == [s.rate for s in work.steps], "another rate than the one printed"
    accountant = analysis.DpsgdTrainingAccountant(config)
    if work.target is not None and work.wanted == "σ":
        return calibrate.calibrate_noise_multiplier(
            target_epsilon=work.target,
            accountant=accountant,
            batch_sizes=batches[0],
            num_updates=step.count,
            num_samples=samples,
            target_delta=work.delta,
        )
    if work.target is not None:
        return calibrate.calibrate_num_updates(
            target_epsilon=work.target,
            accountant=accountant,
            noise_multipliers=step.multiplier,
            batch_sizes=batches[0],
            num_samples=samples,
            target_delta=work.delta,
        )
    starts = [sum(s.count for s in work.steps[:k]) for k in range(len(work.steps))]
    noise = [(start, s.multiplier) for start, s in zip(starts, work.steps, strict=True)] if others else step.multiplier
    scales = {start: batches[k + 1] / batches[k] for k, start in enumerate(starts[1:])}
    params = analysis.DpParams(
        noise_multipliers=noise,
        num_samples=samples,
        delta=work.delta,
        batch_size=batches[0],
        batch_size_scale_schedule=scales or None,
    )
    return accountant.compute_epsilon(sum(s.count for s in work.steps), params)


def autodp_renyi(work: Work) -> Any:
    """autodp: Rényi divergences, with a search over the orders."""
    from autodp.calibrator_zoo import generalized_eps_delta_calibrator
    from autodp.mechanism_zoo import (
        GaussianMechanism,
        LaplaceMechanism,
        RandresponseMechanism,
        SubsampleGaussianMechanism,
    )
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    _known_to_autodp(work)
    if work.target is not None:
        (step,) = work.steps
        found = generalized_eps_delta_calibrator()(
            SubsampleGaussianMechanism,
            work.target,
            work.delta,
            [0.1, 100],
            params={"prob": step.rate, "sigma": None, "coeff": step.count},
            para_name="sigma",
        )
        return float(found.params["sigma"])

    def made(step: Step) -> Any:
        if step.noise == "response":
            return RandresponseMechanism(p=1 / (1 + math.exp(-step.multiplier)))
        if step.noise == "laplace":
            return LaplaceMechanism(b=step.multiplier)
        one = GaussianMechanism(sigma=step.multiplier)
        sample = AmplificationBySampling(PoissonSampling=True)
        return one if step.rate == 1 else sample(one, step.rate, improved_bound_flag=True)

    composed = Composition()([made(s) for s in work.steps], [s.count for s in work.steps])
    if work.curve:
        return {"high": [float(composed.get_approx_delta(epsilon)) for epsilon in work.curve]}
    return float(composed.get_approxDP(work.delta))


def autodp_characteristic(work: Work) -> Any:
    """autodp: characteristic functions of the loss, inverted by quadrature; the worse of adding and removing."""
    from autodp.mechanism_zoo import GaussianMechanism, LaplaceMechanism, RandresponseMechanism
    from autodp.transformer_zoo import AmplificationBySampling_pld, ComposeAFA

    _known_to_autodp(work)
    if work.target is not None:
        raise NotOffered

    def made(step: Step, side: str) -> Any:
        if step.noise == "response":
            return RandresponseMechanism(p=1 / (1 + math.exp(-step.multiplier)), RDP_off=True, phi_off=False)
        if step.noise == "laplace":
            return LaplaceMechanism(b=step.multiplier, RDP_off=True, phi_off=False)
        one = GaussianMechanism(sigma=step.multiplier, RDP_off=True, approxDP_off=True, phi_off=False)
        sample = AmplificationBySampling_pld(PoissonSampling=True, neighboring=side)
        return one if step.rate == 1 else sample(one, step.rate)

    found = []
    for side in ("add_only", "remove_only"):
        composed = ComposeAFA()([made(s, side) for s in work.steps], [s.count for s in work.steps])
        if work.curve:
            found.append([float(composed.get_approx_delta(epsilon)) for epsilon in work.curve])
        else:
            found.append(float(composed.get_approxDP(work.delta)))
    return {"high": [max(pair) for pair in zip(*found, strict=True)]} if work.curve else max(found)


def _known_to_autodp(work: Work) -> None:
    responses = all(s.noise == "response" for s in work.steps)
    if (work.replaced and not responses) or work.wanted != "σ" or any(s.of > 1 for s in work.steps):
        raise NotOffered


def gdpnum_dots(work: Work) -> Any:
    """gdpnum's accountant: dp_accounting's grid under an interface like Opacus'."""
    accountant = _gdpnum(work)
    if work.curve:
        return {"high": [float(d) for d in accountant.get_pld().get_delta_for_epsilon(list(work.curve))]}
    return float(accountant.get_epsilon(delta=work.delta))


def gdpnum_mu(work: Work) -> Any:
    """What gdpnum is for: the least μ whose Gaussian covers the run; here the ε and δ that this μ alone promises."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    mu, _ = _gdpnum(work).get_mu_and_regret()

    def delta(epsilon: float) -> float:
        return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu)))

    if work.curve:
        return {"high": [delta(epsilon) for epsilon in work.curve]}
    return float(brentq(lambda epsilon: delta(epsilon) - work.delta, 0, 1000, xtol=1e-12))


def _gdpnum(work: Work) -> Any:
    from gdpnum import CTDAccountant

    if not work.plain or work.target is not None:
        raise NotOffered
    accountant = CTDAccountant()
    accountant.history = [(s.multiplier, s.rate, s.count) for s in work.steps]
    return accountant


def allocation(work: Work) -> Any:
    """PLD-accounting: random allocation of Gaussians, both ends, as narrow as it likes them."""
    from PLD_accounting import gaussian_allocation_epsilon_range

    (step, *others) = work.steps
    if others or step.of == 1 or step.noise != "gaussian" or work.replaced or work.curve or work.target is not None:
        raise NotOffered
    upper, lower = gaussian_allocation_epsilon_range(
        delta=work.delta, sigma=step.multiplier, num_steps=step.of, num_epochs=step.count
    )
    return [float(lower), float(upper)]
