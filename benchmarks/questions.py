"""Random questions over every family whose pair is known and attained: how narrow and how quick the answers are."""

from __future__ import annotations

from grid import NAMES, Shares, answers, shares

from support.grid import LIMIT, Outcome

FIRST, CASES = 50_000_010, 6_000  # no test asks these
WIDE, SLOW = 1e-3, 2.0  # answers wider or slower than this are listed


def questions() -> list[str]:
    """Parameters log-uniform over all that is accepted, counts to 1e9, δ from 1e-2 to 1e-300, two at a time."""
    outcomes = answers(range(FIRST, FIRST + CASES), jobs=2)
    rows = [
        f"Questions {FIRST} to {FIRST + CASES - 1} of `tests/support/questions.py`: parameters over all that is",
        "accepted, counts to 1e9, δ from 1e-2 to 1e-300, families of equal weight; shares in per cent, processor time.",
        "",
        "| family | questions | narrow to 1e-6 | to 1e-3 | no lower end in vain | under 0.2 s | under 2 s | longest |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        "| asked | | 99 | 99.9 | 100 | 99 | 99.9 | |",
        _row("all", shares(outcomes)),
        _row("all with everyday parameters", shares([one for one in outcomes if one.question.everyday])),
    ]
    for name in NAMES:
        rows.append(_row(name, shares([one for one in outcomes if one.question.family == name])))
    ended = sum(one.seconds < LIMIT for one in outcomes)
    rows += ["", f"{ended} of {len(outcomes)} ended within {LIMIT} s. Over {WIDE:g} wide or {SLOW:g} s:", ""]
    odd = [one for one in outcomes if one.width > WIDE or one.seconds > SLOW]
    return rows + [line for one in odd for line in _listed(one)]


def _row(name: str, found: Shares) -> str:
    cells = (found.millionth, found.thousandth, 1 - found.vain, found.fifth, found.two)
    return f"| {name} | {found.cases} | {' | '.join(f'{100 * share:.2f}' for share in cells)} | {found.longest:.2f} s |"


def _listed(one: Outcome) -> list[str]:
    """A question that is wide or slow, and what its report says about it."""
    ends = f"[{one.lower:.6g}, {one.upper:.6g}]"
    return [f"- `{one.question.text}` at δ = {one.question.delta}: {ends}, {one.seconds:.1f} s;", f"  {one.because}"]
