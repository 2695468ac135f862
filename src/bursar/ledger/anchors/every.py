"""All anchor files of a ledger: the one it writes, and older ones that stand beside other names of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from bursar.ledger.anchors.evidence import Known
from bursar.ledger.anchors.file import AnchorFile
from bursar.ledger.journal.rows import Head
from bursar.ledger.stores._base import Reader


class Anchors:
    """All of them count, and all are kept up to date."""

    def __init__(self, path: str, also: Sequence[str] = ()) -> None:
        mine = os.path.realpath(path)
        others = dict.fromkeys(os.path.realpath(other) for other in also if os.path.exists(other))
        self._files = [AnchorFile(one) for one in dict.fromkeys([mine, *others])]

    @property
    def long(self) -> bool:
        """Whether one of them is to be written anew."""
        return any(file.long for file in self._files)

    def read(self) -> Known:
        """What every line of every file says."""
        return _joined([file.read() for file in self._files])

    def learn(self) -> Known:
        """Every line, for whoever asks the chain for it now."""
        return _joined([file.learn() for file in self._files])

    def ready(self) -> None:
        """Have every file open, before a commit."""
        for file in self._files:
            file.ready()

    def compare(self, reader: Reader) -> None:
        """In the transaction: what others wrote before it began is in the chain, and long files become short."""
        for file in self._files:
            file.compare(reader)
            if file.long:
                file.shorten(reader)

    def renewed(self) -> bool:
        """Whether one of them may have forgotten something since this was asked."""
        found = any(file.renewed for file in self._files)
        for file in self._files:
            file.renewed = False
        return found

    def lack(self, heads: Mapping[str, Head]) -> dict[str, Head]:
        """Those of these ends of chains that some file does not know yet."""
        return {root: head for file in self._files for root, head in file.lacks(heads).items()}

    def append(self, heads: Mapping[str, Head]) -> None:
        """Write the new ends of chains into every file, after a commit."""
        for file in self._files:
            file.append(heads)

    def close(self) -> None:
        """Let go of the files."""
        for file in self._files:
            file.close()


def _joined(every: Sequence[Known]) -> Known:
    known = every[0]
    for other in every[1:]:
        known.join(other)
    return known
