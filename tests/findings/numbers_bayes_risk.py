"""`Curve.bayes_risk` excludes the truth where the two directions differ: one direction was read for every prior."""

from __future__ import annotations

from shared import judged

import bursar as b

CASES = [  # the relation, the prior, and the least risk: Σ min(prior·p, (1−prior)·q), over both orders if replacing
    ("add_remove", "3/10", 0.30),
    ("replace_one", "3/10", 0.22),
    ("add_remove", "7/10", 0.22),
    ("replace_one", "7/10", 0.22),
]


def main() -> tuple[bool, str]:
    """(9/10, 1/10) against even odds."""
    found, wrong = [], 0
    for relation, prior, truth in CASES:
        risk = b.profile(b.Table(p=["9/10", "1/10"], q=["1/2", "1/2"], relation=relation)).bayes_risk(prior)
        inside = risk.lower <= truth + 1e-12 and risk.upper >= truth - 1e-12
        wrong += not inside
        found.append(f"{relation} at {prior}: [{risk.lower:.4g}, {risk.upper:.4g}], truth {truth:g}")
    return wrong == 0, f"{wrong} of 4 readings exclude the truth; {found[0]}; {found[1]}"


if __name__ == "__main__":
    judged(main)
