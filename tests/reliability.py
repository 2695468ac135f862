"""What the tests did to ledgers, from the JUnit report of a run: `python tests/reliability.py build/soak.xml`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from xml.etree import ElementTree

HEADS = {False: ("what was done", "losses"), True: ("negative control", "losses caught")}


def tables(report: str) -> str:
    """A row for each thing that was done, and one for each ledger that was broken on purpose."""
    tried: dict[bool, Counter[tuple[str, str]]] = {False: Counter(), True: Counter()}
    lost: Counter[tuple[str, str]] = Counter()
    for found in ElementTree.parse(report).iterfind(".//property[@name='figure']"):
        what, how, count, losses, control = json.loads(found.attrib["value"])
        tried[control][what, how] += count
        lost[what, how] += losses
    lines = []
    for control, (what, losses) in HEADS.items():
        lines += [f"| {what} | how | tried | {losses} |", "|---|---|---:|---:|"]
        lines += [f"| {' | '.join(row)} | {count:,} | {lost[row]:,} |" for row, count in sorted(tried[control].items())]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    printed = tables(sys.argv[1])
    print(printed)
    sys.exit("the report has no figures" if printed.count("\n") < 10 else 0)
