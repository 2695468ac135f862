"""Disks that can be watched and broken: SQLite file systems that record every write, or fail at the k-th call."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import apsw

SECTOR = 512


@dataclass
class Disk:
    """What was done to the files, in order: (file, kind, offset, data)."""

    log: list[tuple[str, str, int, bytes]] = field(default_factory=list)
    acknowledged: list[tuple[int, str]] = field(default_factory=list)
    """(length of the log, key) when a charge was acknowledged."""

    def acknowledge(self, key: str) -> None:
        """A client was told so now."""
        self.acknowledged.append((len(self.log), key))

    def images(self, rng: random.Random, each: int) -> Iterator[tuple[set[str], dict[str, bytes]]]:
        """Every place at which the power may fail, with several fates of what was not yet synced: the keys that were
        acknowledged before, and the files.
        """
        synced: dict[str, bytes] = {}
        pending: dict[str, list[tuple[str, int, bytes]]] = {}
        told = iter([*self.acknowledged, (len(self.log) + 1, "")])
        known: set[str] = set()
        following = next(told)
        for place, (file, kind, offset, data) in enumerate([*self.log, ("", "end", 0, b"")]):
            while following[0] <= place:
                known.add(following[1])
                following = next(told)
            for fate in range(each):
                yield set(known), {name: _survived(synced, pending, name, rng, fate) for name in {*synced, *pending}}
            if kind == "sync":
                synced[file] = _applied(synced.get(file, b""), pending.pop(file, []))
            elif kind == "delete":
                synced.pop(file, None)
                pending.pop(file, None)
            elif kind != "end":
                pending.setdefault(file, []).append((kind, offset, data))


def _survived(
    synced: dict[str, bytes], pending: dict[str, list[tuple[str, int, bytes]]], name: str, rng: random.Random, fate: int
) -> bytes:
    """What of the unsynced writes reached the platter: none, all, or any of them, the last one perhaps torn."""
    waiting = pending.get(name, [])
    if fate == 0:
        kept = []
    elif fate == 1:
        kept = waiting
    else:
        kept = [write for write in waiting if rng.random() < 0.5]
        if kept and kept[-1][0] == "write" and rng.random() < 0.5:
            kind, offset, data = kept[-1]
            kept = [*kept[:-1], (kind, offset, data[: SECTOR * rng.randint(0, len(data) // SECTOR)])]
    return _applied(synced.get(name, b""), kept)


def _applied(content: bytes, writes: list[tuple[str, int, bytes]]) -> bytes:
    made = bytearray(content)
    for kind, offset, data in writes:
        if kind == "truncate":
            del made[offset:]
            made.extend(b"\0" * (offset - len(made)))
        else:
            if len(made) < offset:
                made.extend(b"\0" * (offset - len(made)))
            made[offset : offset + len(data)] = data
    return bytes(made)


class RecordingFile(apsw.VFSFile):
    """Writes through, and writes it down."""

    def __init__(self, disk: Disk, name: object, flags: list[int]) -> None:
        super().__init__("", name, flags)  # type: ignore[arg-type]
        self.disk = disk
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        self.name = Path(path).name

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        """Record, then write."""
        self.disk.log.append((self.name, "write", offset, bytes(data)))
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        """Record, then sync."""
        self.disk.log.append((self.name, "sync", 0, b""))
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        """Record, then truncate."""
        self.disk.log.append((self.name, "truncate", size, b""))
        super().xTruncate(size)


class RecordingDisk(apsw.VFS):
    """A file system that remembers."""

    def __init__(self, name: str, disk: Disk) -> None:
        super().__init__(name, "")
        self.disk = disk

    def xOpen(self, name: object, flags: list[int]) -> apsw.VFSFile:  # type: ignore[override]  # noqa: N802
        """A recording file."""
        return RecordingFile(self.disk, name, flags)

    def xDelete(self, name: str, sync: bool) -> None:  # noqa: N802
        """Record, then delete."""
        self.disk.log.append((Path(name).name, "delete", 0, b""))
        super().xDelete(name, sync)


@dataclass
class Fault:
    """Fails at the k-th call of a kind, once."""

    at: int
    error: str
    calls: int = 0
    struck: bool = False

    def call(self) -> bool:
        """Whether this one fails."""
        self.calls += 1
        if self.calls == self.at and not self.struck:
            self.struck = True
            return True
        return False

    def fail(self) -> None:
        """As the operating system would."""
        if self.error == "read-only":
            raise apsw.ReadOnlyError("the file system is read-only")
        if self.error == "ENOSPC":
            raise apsw.FullError("no space left on device")
        raise apsw.IOError("input/output error")


class FailingFile(apsw.VFSFile):
    """Fails when its time has come; a short write leaves half of it behind."""

    def __init__(self, fault: Fault, name: object, flags: list[int]) -> None:
        super().__init__("", name, flags)  # type: ignore[arg-type]
        self.fault = fault

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        """Perhaps fail."""
        if self.fault.call():
            if self.fault.error == "short write":
                super().xWrite(bytes(data)[: len(data) // 2], offset)
            self.fault.fail()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        """Perhaps fail."""
        if self.fault.call():
            self.fault.fail()
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        """Perhaps fail."""
        if self.fault.call():
            self.fault.fail()
        super().xTruncate(size)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        """Perhaps fail, where reads are counted."""
        if self.fault.error == "EIO on read" and self.fault.call():
            self.fault.fail()
        return super().xRead(amount, offset)


class FailingDisk(apsw.VFS):
    """A file system with one fault."""

    def __init__(self, name: str, fault: Fault) -> None:
        super().__init__(name, "")
        self.fault = fault

    def xOpen(self, name: object, flags: list[int]) -> apsw.VFSFile:  # type: ignore[override]  # noqa: N802
        """A failing file."""
        return FailingFile(self.fault, name, flags)
