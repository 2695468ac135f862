"""A store of objects that several processes see: a put is whole or not there, and the store can fail, or lie."""

from __future__ import annotations

import io
import os
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from fsspec import AbstractFileSystem

from support.object_store import Outage, Upload


class SharedStore(AbstractFileSystem):  # type: ignore[misc]
    """Objects by their names, each a file of a flat folder; there are no folders among objects, as in a real store."""

    protocol = "s3"
    cachable = False

    def __init__(self, root: str, **options: Any) -> None:
        super().__init__(root=root, **options)
        self.root = Path(root)

    def manners(self, *names: str) -> None:
        """How the store behaves from now on, in every process: ``down`` refuses puts, ``torn`` keeps half of one."""
        (self.root / ".manners").write_text(" ".join(names), encoding="utf-8")

    def names(self) -> list[str]:
        """All objects."""
        return sorted(unquote(file.name) for file in self.root.iterdir() if not file.name.startswith("."))

    def file(self, name: str) -> Path:
        """Where an object is kept."""
        return self.root / quote(self._strip_protocol(name), safe="")

    def put_whole(self, name: str, content: bytes) -> None:
        """What closing an upload does."""
        manners = self.root / ".manners"
        how = manners.read_text(encoding="utf-8") if manners.exists() else ""
        if "down" in how:
            raise Outage("503 for secretperson7")
        fresh = self.root / f".{uuid.uuid4().hex}"
        fresh.write_bytes(content[: len(content) // 2] if "torn" in how else content)
        os.replace(fresh, self.file(name))

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """Names directly below a place."""
        lead = self._strip_protocol(path).rstrip("/") + "/"
        found = sorted({lead + name[len(lead) :].partition("/")[0] for name in self.names() if name.startswith(lead)})
        if not found:
            raise FileNotFoundError(path)
        return [self.info(name) for name in found] if detail else found

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Size and mark of an object; a place with objects below it is a folder."""
        name = self._strip_protocol(path)
        if self.file(name).exists():
            found = self.file(name).stat()
            return {"name": name, "size": found.st_size, "type": "file", "ETag": (found.st_ino, found.st_ctime_ns)}
        if any(other.startswith(f"{name}/") for other in self.names()):
            return {"name": name, "size": 0, "type": "directory"}
        raise FileNotFoundError(path)

    def modified(self, path: str) -> datetime:
        """When an object was put."""
        return datetime.fromtimestamp(self.file(path).stat().st_mtime, tz=UTC)

    def _open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        if mode == "rb":
            return io.BytesIO(self.file(path).read_bytes())
        return Upload(self, path)

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:
        """A copy that the store makes."""
        self.put_whole(path2, self.file(path1).read_bytes())

    def rm_file(self, path: str) -> None:
        """Remove an object."""
        self.file(path).unlink()
