"""What an answer from a shell costs beside what importing numpy costs, in processor time."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

COMMAND = ("account", "gaussian(sigma=20)*100", "--delta", "1e-6")


def processor_time(*words: str) -> float:
    """The user and system time of a fresh interpreter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def startup() -> list[str]:
    """The command, and numpy alone, in turn; the medians of eleven."""
    ours, numpys = [], []
    for _ in range(11):
        ours.append(processor_time("-m", "bursar", *COMMAND))
        numpys.append(processor_time("-c", "import numpy"))
    mine, theirs = statistics.median(ours), statistics.median(numpys)
    return [
        "| `bursar account 'gaussian(sigma=20)*100' --delta 1e-6` | `python -c 'import numpy'` | times as long |",
        "|---|---|---|",
        f"| {1e3 * mine:.0f} ms | {1e3 * theirs:.0f} ms | {mine / theirs:.1f} |",
    ]
