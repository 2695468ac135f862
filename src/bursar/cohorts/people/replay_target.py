"""Where a replay writes: beside its target, under a name of its own, until it is whole.

So nobody takes half of a replay for all of it, not even where its process was killed, and two replays with one target
do not take each other's files away.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bursar.errors import InputError, storage_trouble

PRIVATE, SHARED = 0o700, 0o777
"""For this user alone; or for workers of others too, as far as the user's own mask allows."""


@contextmanager
def written_beside(target: Path, mode: int) -> Iterator[Path]:
    """A new folder, which becomes the target if all goes well, and is gone if not."""
    if target.exists():
        raise _taken(target)
    beside = target.with_name(f".{uuid.uuid4().hex}.replay")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        beside.mkdir(mode=mode)
        yield beside
        if target.exists():  # another replay was quicker
            raise _taken(target)
        beside.rename(target)
    except OSError as problem:
        raise storage_trouble("the replay could not be written", problem) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _taken(target: Path) -> InputError:
    return InputError(f"target {os.fspath(target)} exists: a replay never overwrites", argument="target")
