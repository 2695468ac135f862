"""What the service relies on of uvicorn beyond what uvicorn promises, all of it in `bursar.service.guard`.

A new uvicorn that changes it turns these tests red before it reaches anybody; the bound in pyproject.toml is raised
when they are green.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import tomllib
from collections import deque
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bursar.service.guard import Doors, Guarded, guarded
from bursar.service.settings import Settings

ROOT = Path(__file__).parents[2]
ASKED = b"GET /one HTTP/1.1\r\nHost: here\r\n\r\n"
HOOKS = {
    "connection_made": ["transport"],
    "connection_lost": ["exc"],
    "data_received": ["data"],
    "on_message_begin": [],
    "on_headers_complete": [],
    "on_message_complete": [],
    "on_response_complete": [],
    "pause_writing": [],
    "resume_writing": [],
}
"""The methods that are overridden, with their arguments."""


class Line(asyncio.Transport):
    """A connection to nowhere, which keeps what is written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("10.0.0.9", 4711), "sockname": ("127.0.0.1", 80)})
        self.said, self.closed, self.aborted = b"", False, False

    def write(self, data: Any) -> None:
        """Keep it."""
        self.said += bytes(data)

    def is_closing(self) -> bool:
        """Once it was closed, however."""
        return self.closed or self.aborted

    def close(self) -> None:
        """Note it."""
        self.closed = True

    def abort(self) -> None:
        """Note it."""
        self.aborted = True

    def pause_reading(self) -> None:
        """Nothing comes anyway."""

    def resume_reading(self) -> None:
        """Nothing comes anyway."""


def connection(app: Any) -> tuple[Guarded, Line]:
    """A guarded connection from 10.0.0.9 to an application, in a running loop."""
    config = uvicorn.Config(app, ws="none", lifespan="off", access_log=False, log_level="critical")
    config.load()
    state = uvicorn.Server(config).server_state
    made, line = guarded(Doors(Settings()))(config, state, {}), Line()
    made.connection_made(line)
    return made, line


def answering(until: asyncio.Event | None = None) -> Any:
    """An application that answers 204, perhaps not before it is let."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if until is not None:
            await until.wait()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return app


async def settled(done: Any) -> None:
    """Let the loop turn until something holds."""
    while not done():
        await asyncio.sleep(0)


@pytest.mark.parametrize("name", sorted(HOOKS))
def test_the_hooks_are_there(name: str) -> None:
    """Each method that the guard overrides is uvicorn's, or asyncio's, with the arguments it had."""
    theirs = getattr(HttpToolsProtocol, name)
    assert list(inspect.signature(theirs).parameters)[1:] == HOOKS[name]
    assert name in vars(Guarded)


def test_no_other_hook_is_relied_on() -> None:
    """What the guard overrides is named above, and nothing that begins with an underscore is touched."""
    overridden = {name for name in vars(Guarded) if hasattr(HttpToolsProtocol, name) and not name.startswith("_")}
    assert overridden == set(HOOKS)
    source = ast.parse(inspect.getsource(Guarded))
    used = {node.attr for node in ast.walk(source) if isinstance(node, ast.Attribute)}
    theirs = {name for name in used if name.startswith("_")}
    assert theirs == {"_size"}  # our own


def test_a_request_is_seen_from_its_head_to_its_answer() -> None:
    """A head is waited for, then nothing is; the connection is idle again once it is answered."""

    async def run() -> None:
        until = asyncio.Event()
        made, line = connection(answering(until))
        assert made.address == "10.0.0.9"
        assert (made.waits is not None, made.idle is not None) == (True, True)
        made.data_received(ASKED[:10])
        assert made.waits is not None
        made.data_received(ASKED[10:])
        assert (made.waits, made.idle) == (None, None)
        until.set()
        await settled(lambda: made.idle is not None)
        assert line.said.startswith(b"HTTP/1.1 204")
        made.connection_lost(None)
        assert made not in made.doors.open

    asyncio.run(run())


def test_requests_behind_each_other_wait_in_a_queue_that_can_be_dropped() -> None:
    """A connection with one that waits is not idle when the first is answered; dropped, nothing more is begun on it."""

    async def run() -> None:
        until = asyncio.Event()
        made, line = connection(answering(until))
        made.data_received(ASKED * 3)
        assert isinstance(made.pipeline, deque)
        assert len(made.pipeline) == 2
        assert made.cycle.disconnected is False
        made.drop()
        assert made.cycle.disconnected is True
        assert not made.pipeline
        assert line.aborted
        until.set()
        await settled(lambda: not made.tasks)
        assert made.idle is not None

    asyncio.run(run())


def test_a_head_that_does_not_end_is_refused_in_words() -> None:
    """With uvicorn's own answer to what is no request, after which the connection is closed."""

    async def run() -> None:
        made, line = connection(answering())
        made.data_received(ASKED[:-2])
        made.data_received(b"X: " + b"x" * 70_000)
        assert line.said.startswith(b"HTTP/1.1 400")
        assert b"too large" in line.said
        assert line.closed

    asyncio.run(run())


def test_a_client_that_does_not_read_is_noticed() -> None:
    """From when the transport is full until it is not."""

    async def run() -> None:
        made, _ = connection(answering())
        made.pause_writing()
        assert made.stuck is not None
        made.resume_writing()
        assert made.stuck is None

    asyncio.run(run())


def test_the_bound_names_the_version_that_was_tested() -> None:
    """uvicorn's, in every extra that has it: the minor version after the one that these tests ran with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = [
        text for extra in project["optional-dependencies"].values() for text in extra if text.startswith("uvicorn")
    ]
    major, minor, *_ = version("uvicorn").split(".")
    assert len(found) == 2
    assert all(text.endswith(f",<{major}.{int(minor) + 1}") for text in found)


def test_nothing_private_of_others_is_used_elsewhere() -> None:
    """No module of the doors takes a name with an underscore from a package that is not ours."""
    found = []
    for part in ("service", "client", "wire", "cli", "adapters", "plot"):
        for path in sorted((ROOT / "src" / "bursar" / part).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.level == 0:
                    package, names = (node.module or ""), [alias.name for alias in node.names]
                elif isinstance(node, ast.Import):
                    package, names = "", [alias.name for alias in node.names]
                else:
                    continue
                words = [*package.split("."), *(word for name in names for word in name.split("."))]
                if words[0] not in ("bursar", "__future__") and any(word.startswith("_") for word in words if word):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert found == []
