"""What a user can see of bursar, written down as data, so that a change of it cannot go unnoticed.

    python tests/kept/referee.py                  writes every part anew
    python tests/kept/referee.py prices plans     writes these parts
    python tests/kept/referee.py --compare        says what differs now, in all parts

A part is a function that gives pairs of a key and an answer, both in the terms of JSON. A change that moves an answer
on purpose writes the part anew, and the difference is read in its review. Parts of words are plain JSON; the bounds of
the many small questions are compressed, and `--compare` shows their differences.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent)]

import numbers_kept  # noqa: E402
import words_kept  # noqa: E402

Answers = Iterator[tuple[str, Any]]
PARTS: dict[str, Callable[..., Answers]] = {
    "names": words_kept.names,
    "forms": words_kept.forms,
    "commands": words_kept.commands,
    "service": words_kept.service,
    "prices": numbers_kept.prices,
    "plans": numbers_kept.plans,
    "curves": numbers_kept.curves,
    "bounds": numbers_kept.bounds,
}
COMPRESSED = ("bounds",)
LOOSE = numbers_kept.PROCESSOR_DEPENDENT
WIDER = 1e-6
"""An interval may be wider than before by this share of its upper end."""
ROUNDING = Fraction(1, 2**40)
"""What a price may move by, of itself: its certificate is searched in floats that depend on the processor."""
SEARCHED = Fraction(1, 10**6)
"""The same of the unknown of a plan, which lies within 2e-7 of the best one."""


def place(part: str) -> Path:
    """Where a part is kept."""
    return HERE / (f"{part}.jsonl.xz" if part in COMPRESSED else f"{part}.json")


def write(part: str) -> int:
    """Write a part anew; says how many answers it has."""
    pairs = [*PARTS[part]()]
    answers = dict(pairs)
    assert len(answers) == len(pairs), "two answers have one key"
    if part in COMPRESSED:
        lines = "".join(f"{json.dumps([key, answer], ensure_ascii=False)}\n" for key, answer in answers.items())
        place(part).write_bytes(lzma.compress(lines.encode(), preset=9 | lzma.PRESET_EXTREME))
    else:
        place(part).write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return len(answers)


def kept(part: str) -> dict[str, Any]:
    """The answers as they are kept."""
    if part in COMPRESSED:
        return dict(json.loads(line) for line in lzma.decompress(place(part).read_bytes()).decode().splitlines())
    found: dict[str, Any] = json.loads(place(part).read_text(encoding="utf-8"))
    return found


def differences(part: str, chosen: Iterable[int] | None = None) -> list[str]:
    """What a user sees differently now, a line each; of these numbers of answers only, where some are chosen."""
    before = kept(part)
    keys = list(before)
    numbers = None if chosen is None else list(chosen)
    wanted = keys if numbers is None else [keys[number] for number in numbers]
    now = dict(PARTS[part]() if numbers is None else PARTS[part](numbers))
    lines = [f"{part}: {key}\n  is gone" for key in wanted if key not in now]
    lines += [f"{part}: {key}\n  is new: {json.dumps(now[key])}" for key in now if key not in before]
    for key in wanted:
        if key in now:
            said = differs(part, before[key], json.loads(json.dumps(now[key])))
            lines += [] if said is None else [f"{part}: {key}\n  {said}"]
    return lines


def differs(part: str, was: Any, now: Any) -> str | None:
    """How an answer differs from the one that is kept; None where it is the same to a user."""
    same = {"bounds": _same_bounds, "curves": _same_curve, "plans": _same_plan, "prices": _same_price}.get(part)
    if json.dumps(was) == json.dumps(now) or (same is not None and same(was, now)):
        return None
    return "\n  ".join(_changed(was, now))


def _changed(was: Any, now: Any, path: str = "") -> Iterator[str]:
    """The parts that differ, each with its place."""
    if isinstance(was, dict) and isinstance(now, dict):
        for name in dict.fromkeys([*was, *now]):
            if name not in was or name not in now:
                yield f"{path}.{name} {'is new' if name in now else 'is gone'}: {json.dumps({**was, **now}[name])}"
            elif json.dumps(was[name]) != json.dumps(now[name]):
                yield from _changed(was[name], now[name], f"{path}.{name}")
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for number, (one, other) in enumerate(zip(was, now, strict=True)):
            if json.dumps(one) != json.dumps(other):
                yield from _changed(one, other, f"{path}[{number}]")
    else:
        yield f"{path}: {json.dumps(was, ensure_ascii=False)} -> {json.dumps(now, ensure_ascii=False)}"


def _same_bounds(was: dict[str, Any], now: dict[str, Any]) -> bool:
    """Ends in hexadecimal are the same; intervals of theorems that depend on the processor meet and are no wider."""
    if was.keys() != now.keys():
        return False
    return all(_meets(was[one], now[one]) if one in LOOSE else was[one] == now[one] for one in was)


def _meets(was: Any, now: Any) -> bool:
    """Whether an interval meets the one before and is not wider by more than a millionth of its upper end."""
    if isinstance(was, str) or isinstance(now, str):
        return bool(was == now)
    (low, high), (lower, upper) = (tuple(map(float, ends)) for ends in (was, now))
    if not 0 <= lower <= upper:
        return False
    if upper == high == float("inf"):
        return lower >= low * (1 - WIDER)
    return lower <= high and low <= upper and upper - lower <= high - low + WIDER * high


def _same_curve(was: Any, now: Any) -> bool:
    return was.keys() == now.keys() and all(
        len(was[name]) == len(now[name]) and all(map(_meets, was[name], now[name])) for name in was
    )


def _near(was: str, now: str, least: Fraction = ROUNDING) -> bool:
    """Two numbers as text, as close as this, relative to the first."""
    if "inf" in (was, now):
        return was == now
    one, other = (Fraction(number) for number in (was, now))
    return abs(one - other) <= least * abs(one)


def _same_plan(was: dict[str, Any], now: dict[str, Any]) -> bool:
    if was.keys() != now.keys() or "refused" in was:
        return False
    return _near(was["value"], now["value"], SEARCHED) and _meets(was["epsilon"], now["epsilon"])


def _same_price(was: dict[str, str], now: dict[str, str]) -> bool:
    return was.keys() == now.keys() and "refused" not in was and all(_near(was[line], now[line]) for line in was)


def main(arguments: list[str]) -> int:
    """Write parts, or compare them."""
    comparing = "--compare" in arguments
    parts = [argument for argument in arguments if argument != "--compare"] or list(PARTS)
    if unknown := set(parts) - PARTS.keys():
        print(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
        return 2
    found = 0
    for part in parts:
        if comparing:
            lines = differences(part)
            found += len(lines)
            print(*lines, f"{part}: {len(lines)} differences", sep="\n", flush=True)
        else:
            print(f"{part}: {write(part)} answers", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
