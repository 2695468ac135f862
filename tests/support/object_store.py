"""A store of objects in this process, with a real store's manners: a put is whole or not there, and it can fail."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any, ClassVar

from fsspec import AbstractFileSystem


class Outage(Exception):
    """No kind of OSError, as the errors of real stores are not; it quotes what nobody should read."""


class ObjectStore(AbstractFileSystem):  # type: ignore[misc]
    """Objects by their names. Listings are kept, as s3fs keeps them, until somebody asks for new ones."""

    protocol = "s3"
    cachable = False
    objects: ClassVar[dict[str, bytes]] = {}
    marks: ClassVar[dict[str, int]] = {}
    """How often each object was put."""
    listings: ClassVar[dict[str, list[str]]] = {}
    down: ClassVar[set[str]] = set()
    """What fails: put, get, list."""

    @classmethod
    def cleared(cls) -> type[ObjectStore]:
        """The store, empty and in good health."""
        for kept in (cls.objects, cls.marks, cls.listings, cls.down):
            kept.clear()
        return cls

    def _up(self, what: str) -> None:
        if what in self.down:
            raise Outage("503 for secretperson7")

    def put_whole(self, path: str, content: bytes) -> None:
        """What closing an upload does."""
        self._up("put")
        self.objects[path] = content
        self.marks[path] = self.marks.get(path, 0) + 1

    def invalidate_cache(self, path: str | None = None) -> None:
        """Ask the store again."""
        self.listings.clear()

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """Names directly below a place."""
        self._up("list")
        lead = self._strip_protocol(path).rstrip("/") + "/"
        if lead not in self.listings:
            below = {name[len(lead) :].partition("/")[0] for name in self.objects if name.startswith(lead)}
            self.listings[lead] = sorted(lead + name for name in below)
        if not self.listings[lead]:
            raise FileNotFoundError(path)
        return [self.info(name) for name in self.listings[lead]] if detail else list(self.listings[lead])

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Size and mark of an object; a place with objects below it is a folder."""
        name = self._strip_protocol(path)
        if name in self.objects:
            return {"name": name, "size": len(self.objects[name]), "type": "file", "ETag": self.marks[name]}
        if any(other.startswith(f"{name}/") for other in self.objects):
            return {"name": name, "size": 0, "type": "directory"}
        raise FileNotFoundError(path)

    def modified(self, path: str) -> datetime:
        """When an object was put, as far as a counter can tell."""
        return datetime.fromtimestamp(self.marks[self._strip_protocol(path)], tz=UTC)

    def _open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        name = self._strip_protocol(path)
        if mode == "rb":
            self._up("get")
            return io.BytesIO(self.objects[name])
        return Upload(self, name)

    def rm_file(self, path: str) -> None:
        """Remove an object."""
        self._up("put")
        del self.objects[self._strip_protocol(path)]


class Upload(io.BytesIO):
    """Bytes that become an object when they are closed."""

    def __init__(self, store: Any, name: str) -> None:
        super().__init__()
        self._store, self._name = store, name

    def close(self) -> None:
        """Put all of it."""
        if not self.closed:
            content = self.getvalue()
            super().close()
            self._store.put_whole(self._name, content)
