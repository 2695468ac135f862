"""What anchors say against a store: an older copy in the ledger's place, or two copies that both went on.

Every line of an anchor file was true of the copy that wrote it, so each must be an entry of the chain. Two hashes for
one number are a fork, whatever the chain says. One thing alone settles lines that are in no chain: a restore, which
counts all that was left as spent. It settles those that stood in the file before its own line and have lower numbers;
a copy that goes on afterwards writes behind it, and is found.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from bursar.errors import LedgerHalted
from bursar.ledger.stores._base import Reader

END = " ;"  # no name has it


class Anchored(NamedTuple):
    """A known entry of a chain."""

    seq: int
    hash: str


class Known(dict[str, Anchored]):
    """The last anchor of each root, and every line they were read from."""

    def __init__(self) -> None:
        super().__init__()
        self.histories: list[dict[str, list[Anchored]]] = [{}]
        """For each file, for each root, the lines in the order in which they stand there."""

    def add(self, root: str, anchored: Anchored) -> None:
        """One more line of the file."""
        self.histories[0].setdefault(root, []).append(anchored)
        self._meet(root, anchored)

    def join(self, other: Known) -> None:
        """The lines of another file: both count."""
        self.histories += other.histories
        for root, anchored in other.items():
            self._meet(root, anchored)

    def _meet(self, root: str, anchored: Anchored) -> None:
        # processes may append in another order than they committed
        if root not in self or anchored.seq >= self[root].seq:
            self[root] = anchored


def parsed(text: str, path: str) -> Known:
    """The lines of an anchor file; one that a crash cut off is left out."""
    known = Known()
    for line in text.splitlines():
        if line and not line[0].isdigit():
            raise LedgerHalted(f"{path} is no anchor file: {line[:40]!r}")
        if line.endswith(END):
            seq, _, rest = line.removesuffix(END).partition(" ")
            hash, _, root = rest.partition(" ")
            if not (seq.isdecimal() and hash and root):
                raise LedgerHalted(f"{path} is no anchor file: {line[:40]!r}")
            known.add(root, Anchored(int(seq), hash))
    return known


def line_of(root: str, anchored: Anchored) -> str:
    """As a file has it. The line break comes first: it also ends whatever a crash has left of another line."""
    return f"\n{anchored.seq} {anchored.hash} {root}{END}"


def behind(reader: Reader, known: Known) -> dict[str, str]:
    """The roots whose chains do not agree with their anchors, and how so."""
    found: dict[str, str] = {}
    for history in known.histories:
        for root, lines in history.items():
            if root not in found and (strays := unsettled(reader, root, lines)):
                found[root] = _said(reader, root, lines, strays)
    return found


def unsettled(reader: Reader, root: str, lines: Iterable[Anchored]) -> list[Anchored]:
    """The lines that are in no chain, and that no restore has settled."""
    lines = list(lines)
    chain = reader.links(root, sorted({seq for seq, _ in lines}))
    strays: list[Anchored] = []
    for anchored in lines:
        hash, kind = chain.get(anchored.seq, ("", ""))
        if hash != anchored.hash:
            strays.append(anchored)
        elif kind == "restore" and strays:
            strays = [stray for stray in strays if stray.seq > anchored.seq]
    return strays


def _said(reader: Reader, root: str, lines: Iterable[Anchored], strays: list[Anchored]) -> str:
    head = reader.head(root)
    end = 0 if head is None else head.seq
    hashes: dict[int, set[str]] = {}
    for seq, hash in lines:
        hashes.setdefault(seq, set()).add(hash)
    for seq, _ in strays:
        if len(hashes[seq]) > 1:
            return (
                f"the anchor has two different entries {seq} of {root}: two copies of this ledger went on, and each "
                "has spent what the other does not know of"
            )
    last = max(strays)
    if last.seq > end:
        return f"{root} ends at entry {end}, its anchor knows entry {last.seq}: an older copy was put in its place"
    return f"{root} has another entry {last.seq} than its anchor: this is a different copy, or it was changed"


def check(reader: Reader, known: Known) -> None:
    """Halt a ledger that does not agree with its anchors."""
    problems = behind(reader, known)
    if problems:
        rest = (
            "What was spent since is not known here: find the right file, or accept the loss with `bursar ledger "
            "restore --assume-spent`, which counts all that was left as spent"
        )
        roots = "a root is" if len(problems) == 1 else f"{len(problems)} roots are"
        raise LedgerHalted(
            f"{'; '.join(problems.values())}. {rest}",
            public=f"{roots} behind the anchor: an older or a different copy was put in the ledger's place. {rest}",
        )
