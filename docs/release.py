"""Build the sdist and, from it, the wheel; try it in an empty environment of every Python there is: `make release`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

TOP = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SMOKE = """
import bursar as b
assert b.account(b.Laplace(scale=10) * 10, delta=0).epsilon.upper == 1
assert b.plan("gaussian(sigma=20)*?", epsilon=1, delta="1e-6").value == 22
with b.Ledger("sqlite:///smoke.db", alert=None) as ledger:
    ledger.open("all", epsilon="1", delta="1e-6")
    ledger.spend("all", "laplace(scale=10)", key="one")
    assert ledger.verify()
"""


def built(folder: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from what is in it."""
    _run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder), cwd=TOP)
    (sdist,) = folder.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(sdist) as archive:
            archive.extractall(place, filter="data")
        (source,) = Path(place).iterdir()
        _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=source)
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


def tried(wheel: Path, python: str) -> str:
    """What became of the wheel in an empty environment of this Python."""
    if shutil.which(python) is None:
        return "not there"
    with tempfile.TemporaryDirectory() as place:
        _run(python, "-m", "venv", place, cwd=TOP)
        inside = Path(place) / "bin"
        _run(str(inside / "pip"), "install", "--quiet", str(wheel), cwd=Path(place))
        _run(str(inside / "python"), "-c", SMOKE, cwd=Path(place))
        _run(str(inside / "bursar"), "account", "laplace(scale=10)*10", "--delta", "1e-6", cwd=Path(place))
    return "works"


def _run(*command: str, cwd: Path) -> None:
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Build into dist/, try, and say what happened."""
    target = TOP / "dist"
    shutil.rmtree(target, ignore_errors=True)
    sdist, wheel = built(target)
    print(f"{sdist.name}: {sdist.stat().st_size:,} bytes; {wheel.name}: {wheel.stat().st_size:,} bytes")
    for version in PYTHONS:
        print(f"python{version}: {tried(wheel, f'python{version}')}", flush=True)


if __name__ == "__main__":
    main()
