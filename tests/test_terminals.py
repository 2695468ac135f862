"""What pages show of a terminal: commands run, services start and answer, and what is installed or made exists."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from bursar.service.settings import Settings
from support.cells import FENCE, pages
from support.patience import NET
from support.where import TOP, needs

EXTRAS = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
ELSEWHERE = ("python -m venv ", "workers/bin/", "PYSPARK_PYTHON=", "spark-submit ")
"""The packing of workers for a cluster, which only a cluster can try."""


def commands(text: str) -> list[str]:
    """The commands of a page's terminals, each on one line and without what is said about it."""
    blocks = [match["body"] for match in FENCE.finditer(text) if match["kind"].strip() == "sh"]
    joined = "".join(blocks).replace("\\\n", " ")
    return [command for line in joined.splitlines() if (command := re.sub(r"\s+#\s.*$", "", line).strip())]


TERMINALS = [page for page in pages() if commands(page.read_text(encoding="utf-8"))]


class Terminal:
    """A shell in an empty folder, with at most one service beside it, on a port of its own."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.folder = folder
        self.settings = {**os.environ, "PATH": path, "BURSAR_PORT": str(self.port), "COLUMNS": "200", "NO_COLOR": "1"}
        self.service: subprocess.Popen[str] | None = None

    def run(self, command: str) -> None:
        """One command, as a reader would type it."""
        if command.startswith(("pip install ", "pip wheel ")):
            named = {extra for listed in re.findall(r"\[([\w,]+)\]", command) for extra in listed.split(",")}
            assert named <= set(EXTRAS), command
        elif command.startswith("make "):
            subprocess.run(["make", "-n", *command.split()[1:]], cwd=TOP, check=True, capture_output=True)
        elif command.startswith("bursar serve"):
            self.serve(command)
        elif command.startswith(("bursar ", "curl ")):
            self.ask(command)
        else:
            assert command == "source .venv/bin/activate" or command.startswith(ELSEWHERE), f"nobody tries: {command}"

    def serve(self, command: str) -> None:
        """A service, once it says where it is."""
        self.stop()
        words = [sys.executable, "-m", "bursar", *command.split()[1:]]
        self.service = subprocess.Popen(words, cwd=self.folder, env=self.settings, stdout=subprocess.PIPE, text=True)
        assert self.service.stdout is not None
        assert str(self.port) in self.service.stdout.readline()

    def ask(self, command: str) -> None:
        """A command that ends, and ends well."""
        if command.startswith("curl "):
            needs("curl")
        here = command.replace(":8765", f":{self.port}").replace("curl ", "curl --fail-with-body --silent ")
        where = {"cwd": self.folder, "env": self.settings, "timeout": NET}
        done = subprocess.run(here, shell=True, capture_output=True, text=True, check=False, **where)
        assert done.returncode == 0, f"{command}: {done.stdout} {done.stderr}"
        if command.startswith("bursar token add") and (secret := re.search(r"\b[\w-]{40,}\b", done.stdout)):
            self.settings["TOKEN"] = secret[0]

    def stop(self) -> None:
        """End the service, if there is one."""
        if self.service is not None:
            self.service.terminate()
            self.service.communicate()
            self.service = None


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal that leaves nothing running."""
    made = Terminal(tmp_path)
    yield made
    made.stop()


@pytest.mark.parametrize("page", TERMINALS, ids=lambda page: str(page.relative_to(TOP)))
def test_what_is_typed_works(page: Path, terminal: Terminal) -> None:
    """From the first line of a page to its last, in an empty folder."""
    for command in commands(page.read_text(encoding="utf-8")):
        terminal.run(command)


def test_a_file_of_settings_is_one() -> None:
    """The settings that a page shows as a file exist, and are read."""
    text = (TOP / "docs" / "howto" / "service.md").read_text(encoding="utf-8")
    (shown,) = [match["body"] for match in FENCE.finditer(text) if match["kind"].strip() == "toml"]
    assert set(tomllib.loads(shown)) <= set(Settings.__struct_fields__)


@pytest.mark.parametrize(
    "typed",
    ["bursar ledger show nobody", "bursar acount x", "make coffee", "pip install 'bursar[coffee]'", "rm -rf /nowhere"],
)
def test_what_does_not_work_is_seen(typed: str, terminal: Terminal) -> None:
    """A command that fails, a target or an extra that is not there, and a command that nobody tries."""
    with pytest.raises((AssertionError, subprocess.CalledProcessError)):
        terminal.run(typed)
