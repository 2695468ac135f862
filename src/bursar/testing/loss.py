"""Laws of the privacy loss: a mechanism's promises agree with its law, the law with itself and with what it draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from bursar.guarantees import ProfileCurve, RenyiCurve
from bursar.jobs.account import account
from bursar.losses import Directions, Loss
from bursar.mechanisms import Declared, Mechanism
from bursar.mechanisms._base import known_losses
from bursar.numerics.balls import down, up, working

Problems = Iterator[str]
PLACES = (0.0, 0.05, 0.3, 1.0, 3.0)
STEPS = 400
DRAWN = 20_000
FAR = 40.0
"""e^{ε−l} is nothing beyond ε by this much."""
SIGMAS = 7.0


def promises_agree_with_the_loss(one: Mechanism) -> Problems:
    """What a mechanism attains is no more than what any of its promises allows."""
    losses = known_losses(one)
    if isinstance(losses, str) or not losses.attained:
        return
    for claim in one.stated():
        if isinstance(claim.guarantee, (RenyiCurve, ProfileCurve)):  # functions, which cannot be declared
            continue
        box = Declared(claim.guarantee, relation=one.relation)
        for epsilon in PLACES:
            allowed = account(box, epsilon=epsilon).delta.upper
            with working():
                needed = down(losses.profile(epsilon))
            if needed > allowed:
                yield f"it needs δ = {needed!r} at ε = {epsilon}, but {claim.guarantee} allows {allowed!r}"


def the_profile_is_that_of_the_tail(one: Mechanism) -> Problems:
    """δ(ε) = ∫ e^{ε−l} P(L > l) dl from ε on: sums above and below the integral enclose the profile."""
    for side, law in _sides(one):
        for epsilon in PLACES:
            least, most = _integral(law, epsilon)
            with working():
                profile = law.profile(epsilon)
            if up(profile) < least - 1e-9 or down(profile) > most + 1e-9:
                yield f"{side}: δ({epsilon}) is {float(profile)!r}, but its tail gives [{least!r}, {most!r}]"


def a_draw_is_like_the_law(one: Mechanism) -> Problems:
    """The share of drawn losses below a place is the law's."""
    rng = np.random.default_rng(1)
    for side, law in _sides(one):
        try:
            drawn = law.sample(rng, DRAWN)
        except NotImplementedError:
            continue
        for place in (-1.0, -0.25, 0.01, 0.25, 1.0):
            share = float(np.mean(drawn <= place))
            with working():
                true = float(law.cdf(place))
            if abs(share - true) > SIGMAS * math.sqrt(max(true * (1 - true), 1 / DRAWN) / DRAWN):
                yield f"{side}: {share:.4f} of the losses drawn are at most {place}, the law says {true:.4f}"


def _sides(one: Mechanism) -> list[tuple[str, Loss]]:
    losses: Directions | str = known_losses(one)
    if isinstance(losses, str):
        return []
    return [("removed", losses.remove)] if losses.same else [("removed", losses.remove), ("added", losses.add)]


def _integral(law: Loss, epsilon: float) -> tuple[float, float]:
    """Sums below and above ∫ e^{ε−l} P(L > l) dl: the tail falls, so each cell lies between its ends."""
    with working():
        top = float(law.support()[1])
        end = max(min(top, epsilon + FAR), epsilon)
        places = np.linspace(epsilon, end, STEPS + 1)
        tails = [law.tail(float(place)) for place in places]
        beyond = up(law.infinite_mass()) if end == top else up(law.tail(end))
    weights = -np.diff(np.exp(epsilon - places))  # ∫ e^{ε−l} over each cell
    rest = math.exp(epsilon - end)
    with working():
        certain = down(law.infinite_mass()) * rest
    least, most = [down(tail) for tail in tails[1:]], [up(tail) for tail in tails[:-1]]
    return float(np.dot(weights, least)) + certain, float(np.dot(weights, most)) + beyond * rest


LAWS: dict[str, Callable[[Mechanism], Problems]] = {
    law.__name__: law for law in (promises_agree_with_the_loss, the_profile_is_that_of_the_tail, a_draw_is_like_the_law)
}
