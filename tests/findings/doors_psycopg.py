"""Without psycopg a PostgreSQL address ended in a traceback instead of a sentence."""

from __future__ import annotations

import subprocess
import sys

from shared import judged

HIDDEN = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "psycopg":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hidden())
from bursar.cli.main import main
sys.argv = ["bursar", *sys.argv[1:]]
main()
"""


def main() -> tuple[bool, str]:
    """On the command line, in a process that cannot import it."""
    found, clean = [], 0
    for words in (["ledger", "show"], ["serve"]):
        command = [sys.executable, "-c", HIDDEN, *words, "--ledger", "postgresql://nowhere/x"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        text = done.stderr.strip()
        lines = text.splitlines() or [""]
        sentence = done.returncode == 2 and "Traceback" not in text and "bursar[postgres]" in text
        clean += sentence
        found.append(f"{words[0]}: exit {done.returncode}, {len(lines)} lines, {lines[-1][:80]!r}")
    return clean == len(found), "; ".join(found)


if __name__ == "__main__":
    judged(main)
