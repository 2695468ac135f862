"""Peers, plug-ins and heavy packages, each in an environment of its own: `make peers` writes PEERS.md one folder up.

A peer is one file in `peers/`: REQUIRES are the packages that it needs, TESTS the tests of ours that need them (with
OPTIONS of pytest's), and run as a script it prints rows (`said.py`). Nothing else knows it, and no test depends on it.
`run.py NAME …` renews the rows of some peers only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "PEERS.md"
sys.path.append(str(HERE.parent))

from homes import constants, installed, run  # noqa: E402

HEAD = """# Peers apart

Each in an environment of its own. `make peers` writes this page, `python benchmarks/apart/run.py NAME` the rows of one
peer. Times are processor time, ours with nothing known beforehand.

| peer | question | ours, certified | theirs | account | peer | ratio |
|---|---|---|---|---|---|---|
"""


def versions(python: Path, requires: list[str]) -> str:
    """Which version of the first package answered."""
    name = requires[0].split("[")[0].split("=")[0].split("<")[0].split(">")[0]
    asked = run([python, "-c", f"from importlib.metadata import version; print(version({name!r}))"])
    return f"{name} {asked.stdout.strip()}"


def lines(name: str) -> Iterator[str]:
    """A peer's rows, or the one that says why there are none."""
    file = HERE / "peers" / f"{name}.py"
    known = constants(file)
    requires = known["REQUIRES"]
    python, missing = installed(name, requires)
    if missing is not None:
        yield f"| {name} | did not install: {missing} | | | | | |"
        return
    peer = f"{name}: {versions(python, requires)}"
    asked = run([python, "-P", file])  # the file has the name of its package, which must not stand in its way
    for line in asked.stdout.splitlines():
        row = json.loads(line)
        times = f"{row['account']:.2f} s | "
        times += "| " if row["peer"] is None else f"{row['peer']:.2f} s | {row['peer'] / row['account']:.1f}× "
        yield f"| {peer} | {row['question']} | {row['ours']} | {row['theirs']} | {times}|"
    if asked.returncode:
        yield f"| {peer} | did not run: {asked.stderr.strip().splitlines()[-1][:140]} | | | | | |"
    for test in known.get("TESTS", []):
        tried = run([python, "-m", "pytest", "-p", "no:cacheprovider", *known.get("OPTIONS", []), test])
        said = tried.stdout.strip().splitlines()[-1] if tried.stdout.strip() else tried.stderr.strip()[-140:]
        yield f"| {peer} | `{test}` | | {said.strip('= ')} | | | |"


def main(asked: list[str]) -> None:
    """Renew the rows of these peers, or of all."""
    names = sorted(file.stem for file in (HERE / "peers").glob("*.py"))
    unknown = set(asked) - set(names)
    if unknown:
        sys.exit(f"no such peer: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    before = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else []
    page = []
    for name in names:
        if asked and name not in asked:
            page += [line for line in before if line.startswith((f"| {name}:", f"| {name} "))]
            continue
        for line in lines(name):
            print(line, flush=True)
            page.append(line)
    PAGE.write_text(HEAD + "\n".join(page) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
