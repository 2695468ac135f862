"""A mechanism of one's own could not be registered under a name of its own, so that it be parsed, written, charged and
shown; nor was a catalogue's name kept from it. Without the plug-in a ledger is to be shown and verified all the same.
"""

from __future__ import annotations

import sys
from pathlib import Path

from shared import bursar, judged

MODULE = '''
from dataclasses import dataclass
import bursar as b
from bursar.guarantees import Claim
from bursar.numerics.real import Real, read

@dataclass(frozen=True, init=False, repr=False)
class TwiceLaplace(b.Mechanism):
    """Two Laplace releases in one."""
    name = "twice_laplace"
    scale: Real
    relation = "add_remove"
    def __init__(self, scale):
        self._set(scale=read(scale, "scale"))
    def claims(self):
        return (Claim(b.PureDP(self.scale.reciprocal().times(2)), "declared"),)
'''


def main() -> tuple[bool, str]:
    """A package with an entry point, as an installer leaves it; it also offers the name laplace."""
    folder = Path("site")
    info = folder / "fixture_twice-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "fixture_twice.py").write_text(MODULE, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fixture_twice\nVersion: 1.0\n", encoding="utf-8")
    rows = [f"{name} = fixture_twice:TwiceLaplace" for name in ("twice_laplace", "laplace")]
    (info / "entry_points.txt").write_text("\n".join(["[bursar.mechanisms]", *rows, ""]), encoding="utf-8")
    sys.path.insert(0, str(folder.resolve()))
    import bursar as b

    try:
        what = b.parse("twice_laplace(scale=4)*2")
    except b.SpecError as unknown:
        return False, f"the text of a registered mechanism is not read: {str(unknown)[:80]}"
    same = b.from_json(b.to_json(what)) == what and type(b.parse("laplace(scale=4)").terms[0].mechanism) is b.Laplace
    with b.Ledger("sqlite:///a.db", alert=None) as ledger:
        ledger.open("data", epsilon=1)
        ledger.spend("data", what)
        left = ledger.show("data").line("epsilon").left
        shown = ledger.show("data").released
        sound = bool(ledger.verify(reprice=True))
    mended = same and left == 0 and sound and shown == (("twice_laplace(scale=4)*2", 1),)
    asked = [["show", "data"], ["verify"], ["verify", "--reprice"], ["spend", "data", "twice_laplace(scale=4)"]]
    without = [bursar("ledger", *words, "--ledger", "a.db") for words in asked]  # there it is not installed
    codes = [done.returncode for done in without]
    named = all("twice_laplace" in done.stdout + done.stderr for done in without[2:])
    return mended and codes in ([0, 0, 2, 2], [0, 0, 4, 2]) and named, (
        f"read, written, charged ε = {1 - left}, shown as {shown[0][0]}, repriced; laplace stays the catalogue's; "
        f"without it show, verify, --reprice and spend end with {codes}"
    )


if __name__ == "__main__":
    judged(main)
