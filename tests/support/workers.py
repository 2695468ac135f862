"""What workers of a cluster have: an interpreter without bursar, and the package as it is sent with a job."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from importlib.metadata import files
from pathlib import Path
from sysconfig import get_path

from support.where import TOP

NEEDED = ("msgspec", "numpy", "pyarrow", "python-flint")
"""Compiled packages: they cannot be sent as files of Python."""


def interpreter(folder: Path) -> Path:
    """One that has what is needed, by links to where this one has it, and nothing else."""
    venv.create(folder, symlinks=True)
    (there,) = folder.glob("lib/python*/site-packages")
    here = Path(get_path("platlib"))
    for name in NEEDED:
        for entry in {file.parts[0] for file in files(name) or ()} - {".."}:
            (there / entry).symlink_to(here / entry)
    return folder / "bin" / "python"


def package(folder: Path) -> Path:
    """The wheel under a name that Spark sends: it passes over files that end in .whl."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=TOP, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return Path(shutil.copy(wheel, folder / "bursar.zip"))
