"""Checks an exported journal: the chain of hashes, the balances, the limits. Needs nothing but Python.

    python check_journal.py journal.jsonl

With a keyed chain, set BURSAR_CHAIN_KEY. Exit code 0 means that everything agrees, 1 that something does not, 2 that
there is no journal to check.
"""

import hashlib
import hmac
import json
import os
import sys
from collections.abc import Iterable

START = '{"hash":"'
MIDDLE = '","entry":'


def digest(text: str, key: bytes) -> str:
    """The hash of an entry's text."""
    if key:
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    return hashlib.sha256(text.encode()).hexdigest()


class Twice(ValueError):
    """A member that is given twice: readers disagree about which one counts."""


def single(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object in which every member is named once."""
    if len(dict(pairs)) != len(pairs):
        raise Twice("a member is given twice")
    return dict(pairs)


def check(given: Iterable[str], key: bytes) -> tuple[list[str], int]:
    """Everything that is wrong, and how many entries were read."""
    lines = iter(given)
    head = json.loads(next(lines), object_pairs_hook=single)
    problems: list[str] = []
    ends: dict[str, tuple[int, int, str]] = {}
    balances: dict[tuple[str, str], object] = {}
    count = 0
    for number, raw in enumerate(lines, start=2):
        line = raw.rstrip("\n")
        stored, text = line[len(START) : len(START) + 64], line[len(START) + 64 + len(MIDDLE) : -1]
        if (
            not line.startswith(START)
            or line[len(START) + 64 :][: len(MIDDLE)] != MIDDLE
            or digest(text, key) != stored
        ):
            problems.append(f"line {number}: the hash does not match")
            break
        try:
            root, seq, at, kind, _, _, body, prev = json.loads(text, object_pairs_hook=single)
        except Twice as twice:
            problems.append(f"line {number}: {twice}")
            break
        last, last_at, last_hash = ends.get(root, (0, 0, "0" * 64))
        if prev != last_hash or at < last_at or (seq != last + 1 and not (kind == "restore" and seq > last)):
            problems.append(f"line {number}: entry {seq} of {root} does not follow entry {last}")
            break
        ends[root] = (seq, at, stored)
        count += 1
        for row in body["effect"]:
            scope, name, before, after = row
            limit, spent, held, splits = after
            if balances.get((scope, name), [0, 0, 0, None]) != before:
                problems.append(f"line {number}: {scope}.{name} does not start from what it was")
            each = [] if splits is None else splits[3]
            if min(spent, held, limit - spent - held, *(left for split in each for left in split)) < 0:
                problems.append(f"line {number}: {scope}.{name} exceeds its limit")
            earlier = before[3][3] if before[3] else each
            if any(was[3] == 0 and split[3] for was, split in zip(earlier, each, strict=True)):
                problems.append(f"line {number}: a split of {scope} that was given up comes back")
            balances[scope, name] = after
    for root, (seq, stored) in head["heads"].items():
        if ends.get(root, (0, 0, ""))[::2] != (seq, stored):
            problems.append(f"{root} does not end at entry {seq}")
    return problems, count


def main(arguments: list[str]) -> int:
    """Check the file that is named, and give the exit code."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            problems, count = check(file, os.environ.get("BURSAR_CHAIN_KEY", "").encode())
    except (OSError, ValueError, KeyError, TypeError, StopIteration) as trouble:
        print(f"this is no exported journal: {trouble!r}", file=sys.stderr)
        return 2
    for problem in problems:
        print(problem)
    print(f"{count} entries: " + ("something is wrong" if problems else "the chain and the balances agree"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
