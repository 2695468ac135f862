"""A slower disk: SQLite's files as they are, with a sync that takes longer.

The disk under a benchmark may sync in a tenth of a millisecond, as those of virtual machines do; most disks take one to
ten. Run as ``python slow.py MILLISECONDS …`` it is `bursar …` on such a disk.
"""

from __future__ import annotations

import sys
import time

import apsw


class _File(apsw.VFSFile):
    def __init__(self, base: str, name: object, flags: list[int], seconds: float) -> None:
        super().__init__(base, name, flags)  # type: ignore[arg-type]
        self._seconds = seconds

    def xSync(self, flags: int) -> None:  # noqa: N802
        """As slow as asked, then as slow as it is."""
        time.sleep(self._seconds)
        super().xSync(flags)


class SlowDisk(apsw.VFS):
    """Adds ``milliseconds`` to every sync."""

    def __init__(self, name: str, milliseconds: float, *, everywhere: bool = False) -> None:
        self._base = apsw.vfs_names()[0]
        super().__init__(name, self._base, makedefault=everywhere)
        self._seconds = milliseconds / 1000

    def xOpen(self, name: object, flags: list[int]) -> apsw.VFSFile:  # type: ignore[override]  # noqa: N802
        """A file whose syncs are slow."""
        return _File(self._base, name, flags, self._seconds)


if __name__ == "__main__":
    disk = SlowDisk("slow", float(sys.argv.pop(1)), everywhere=True)
    from bursar.cli.main import main

    main()
