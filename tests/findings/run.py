"""Tries every finding and writes the table RESULTS.md: what was measured before the mends, and now.

    python tests/findings/run.py                        on the present source; what was measured before is kept
    python tests/findings/run.py --before REVISION      on that revision too (or a folder of source)
    python tests/findings/run.py NAME …                 some of them

They are evidence rather than tests: they start services and servers, attack them, and take many minutes. One at a time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from trying import ROOT, SECTIONS, TABLE, Outcome, finding, scripts, tried

HEAD = """# Findings

Written by `python tests/findings/run.py --before REVISION`. Each row is a finding, shown by the script of that name on
the source as it was before it was mended, and on the present one. A script prints what it measured, and its exit code
says whether the finding is there. Times are of a busy machine with two cores.
"""
COLUMNS = "| script | finding | before | now |\n|---|---|---|---|\n"


@contextmanager
def source_of(before: str) -> Iterator[Path]:
    """The source in a folder, or that of a revision, in a worktree that is gone afterwards."""
    folder = Path(before)
    if folder.is_dir():
        yield (folder if (folder / "bursar").is_dir() else folder / "src").resolve()
        return
    with tempfile.TemporaryDirectory(prefix="before-") as place:
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", f"{place}/tree", before], check=True)
        try:
            yield Path(place).resolve() / "tree" / "src"
        finally:
            subprocess.run([*git, "remove", "--force", f"{place}/tree"], check=True)


def cells() -> dict[str, list[str]]:
    """The rows of the table as it stands, by script."""
    lines = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| [")]
    return {row[0].partition("]")[0].strip("[`"): row for row in rows}


def written(rows: dict[str, list[str]]) -> None:
    """The table, section by section."""
    text = [HEAD]
    for section, title in SECTIONS.items():
        mine = [rows[script.stem] for script in scripts() if script.stem in rows and script.name.startswith(section)]
        text += [f"\n## {title}\n\n", COLUMNS, *(f"| {' | '.join(row)} |\n" for row in mine)]
    TABLE.write_text("".join(text), encoding="utf-8")


def cell(outcome: Outcome) -> str:
    """For a table."""
    return str(outcome).replace("|", "\\|")


def main() -> int:
    """Try them, write the table after each, and say which are not mended."""
    asked = argparse.ArgumentParser(description="Tries every finding, and writes the table.")
    asked.add_argument("--before", help="a revision, or a folder of source, from before the mends")
    asked.add_argument("names", nargs="*")
    given = asked.parse_args()
    chosen = [script for script in scripts() if not given.names or script.stem in given.names]
    rows, wrong = cells(), 0
    with ExitStack() as stack:
        source = stack.enter_context(source_of(given.before)) if given.before else None
        for script in chosen:
            before = rows[script.stem][2] if script.stem in rows else ""
            if source is not None:
                before = cell(outcome := tried(script, source))
                print(f"before {script.stem}: {outcome}", flush=True)
            outcome = tried(script, ROOT / "src")
            wrong += outcome.status != "mended"
            print(f"now    {script.stem}: {outcome}{'' if outcome.measured else outcome.output}", flush=True)
            link = f"[`{script.stem}`]({script.name})"
            rows[script.stem] = [link, finding(script).replace("|", "\\|"), before, cell(outcome)]
            written(rows)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
