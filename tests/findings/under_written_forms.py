"""Writing a class of one's own and reading it back gives the catalogue's mechanism of that name, without a word:
`from_json(to_json(c))`, and a charge of `str(c)` in the journal, lost the class and with it the cost.
"""

from __future__ import annotations

from shared import judged

import bursar as b
from bursar.guarantees import Claim


class Twice(b.Laplace):
    """Claims 2/scale."""

    def claims(self) -> tuple[Claim, ...]:
        """As it is."""
        return (Claim(b.PureDP(self.scale.reciprocal().times(2)), "declared"),)

    def losses(self) -> object:
        """Not known."""
        raise b.LossUnknown("two at once")


def written(what: b.Mechanism) -> str:
    """What became of it in JSON."""
    try:
        back = b.from_json(b.to_json(what))
    except b.SpecError:
        return "refused"
    return type(back.terms[0].mechanism).__name__


def main() -> tuple[bool, str]:
    """Alone, wrapped and composed: each is refused when written; text and account go on working."""
    own = Twice(scale=1)
    forms = [own, b.Group(own, size=2), b.PoissonSampled(own, rate=0.5), own * 3 + b.Gaussian(sigma=2)]
    found = [written(what) for what in forms]
    cost = b.account(own, delta=0).epsilon.upper
    shown = f"{own}"
    mended = set(found) == {"refused"} and cost >= 2 and shown.startswith("laplace")
    return mended, f"four JSON forms of a class that claims ε = {cost:g} came back as: {', '.join(found)}"


if __name__ == "__main__":
    judged(main)
