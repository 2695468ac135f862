"""Names of scopes are offered by bash and zsh themselves, tried as somebody types them into a terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

import bursar as b
from support.patience import NET
from support.where import needs

SHELLS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
}
START = {"bash": "", "zsh": "autoload -Uz compinit; compinit -u -d $PWD/zcomp\n"}
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x07|\r")


class Terminal:
    """A shell in a pseudo-terminal: what is typed, and what comes back."""

    def __init__(self, shell: str, folder: Path) -> None:
        self._master, slave = pty.openpty()
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("BURSAR")},
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "PS1": "ready> ",
            "PROMPT": "ready> ",
            "TERM": "dumb",
            "HOME": str(folder),
        }
        self._process = subprocess.Popen(
            SHELLS[shell], stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=environment, start_new_session=True
        )
        os.close(slave)
        self.seen = ""

    def type(self, keys: str) -> None:
        """Some keys, all at once."""
        os.write(self._master, keys.encode())

    def wait(self, expression: str) -> str:
        """What comes back until it matches."""
        while (found := re.search(expression, self.seen)) is None:
            ready, _, _ = select.select([self._master], [], [], NET)
            assert ready, f"nothing more came after {self.seen!r}"
            self.seen += CONTROL.sub("", os.read(self._master, 4096).decode(errors="replace"))
        self.seen, shown = self.seen[found.end() :], self.seen[: found.end()]
        return shown

    def end(self) -> None:
        """Let go of it."""
        self._process.kill()
        self._process.wait()
        os.close(self._master)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a ledger, and with this very bursar on the way."""
    with b.Ledger(tmp_path / "budget.db", alert=None) as ledger:
        for name in ("census", "census/maps", "survey"):
            ledger.open(name, epsilon=1)
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "bursar"
    script.write_text(
        f"#!{sys.executable}\nimport sys\nfrom bursar.cli.main import main\nsys.argv[0] = 'bursar'\nmain()\n",
        encoding="utf-8",
    )
    script.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("shell", ["bash", pytest.param("zsh", marks=pytest.mark.ci)])
def test_a_scope_is_completed(shell: str, folder: Path) -> None:
    """`bursar ledger show su` and the tab key give survey; of two that begin alike the common part is written."""
    needs(shell)
    terminal = Terminal(shell, folder)
    try:
        terminal.wait("ready> ")
        terminal.type(START[shell] + 'eval "$(bursar --show-completion)"; echo set-${PWD:0:1}up\n')
        terminal.wait("set-/up")
        terminal.wait("ready> ")
        terminal.type("bursar ledger show su\t")
        assert "survey" in terminal.wait("survey")
        terminal.type("\x15bursar ledger show cen\t")
        terminal.wait("show census")
        terminal.type("\x15bursar ledger spend survey,cen\t")
        terminal.wait("survey,census")
    finally:
        terminal.end()
