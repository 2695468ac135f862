"""Floor 1, promises: what can be promised about privacy, one file a language, and the arrows between them.

P and Q are the laws of the output on two neighbouring data sets, in either order, and S is any event:

    PureDP         P(S) ≤ e^ε Q(S)
    ApproxDP       P(S) ≤ e^ε Q(S) + δ
    BoundedRange   the loss fits into an interval of length η
    Renyi          D_α ≤ γ(α)
    ZCDP           D_α ≤ ρα at every order (perhaps after setting mass δ aside)
    TCDP           D_α ≤ ρα at orders below ω
    GDP            no easier to tell apart than N(0, 1) and N(μ, 1)
    Profile        (εᵢ, δᵢ) for many i at once
"""

from bursar.guarantees._base import Claim, Guarantee, Tightness
from bursar.guarantees.approx import ApproxDP
from bursar.guarantees.bounded_range import BoundedRange
from bursar.guarantees.convert import convert
from bursar.guarantees.gdp import GDP
from bursar.guarantees.probabilistic import ProbabilisticDP, probabilistic
from bursar.guarantees.profile import Profile, ProfileCurve
from bursar.guarantees.pure import PureDP
from bursar.guarantees.renyi import Renyi, RenyiCurve
from bursar.guarantees.tcdp import TCDP
from bursar.guarantees.zcdp import ZCDP

KINDS: dict[str, type[Guarantee]] = {
    kind.name: kind for kind in (PureDP, ApproxDP, BoundedRange, Renyi, ZCDP, TCDP, GDP, Profile)
}

__all__ = [
    "GDP",
    "KINDS",
    "TCDP",
    "ZCDP",
    "ApproxDP",
    "BoundedRange",
    "Claim",
    "Guarantee",
    "ProbabilisticDP",
    "Profile",
    "ProfileCurve",
    "PureDP",
    "Renyi",
    "RenyiCurve",
    "Tightness",
    "convert",
    "probabilistic",
]
