"""The refusal that names blocks."""

from __future__ import annotations

from bursar.errors import BudgetExceeded


class BlocksExhausted(BudgetExceeded):
    """Some blocks have not enough left for a charge; the numbers are those of the worst of them."""

    def __init__(self, refusal: BudgetExceeded, blocks: list[dict[str, int]], count: int) -> None:
        """``blocks`` are the first of them, ``count`` says how many there are."""
        numbers = {name: getattr(refusal, name) for name in ("asked", "spent", "held", "limit", "left")}
        some = "; ".join(", ".join(f"{name} {at}" for name, at in block.items()) for block in blocks)
        more = "" if count == len(blocks) else f" and {count - len(blocks)} more"
        super().__init__(
            f"{refusal}. Blocks with too little left: {some}{more}",
            scope=refusal.scope,
            line=refusal.line,
            numbers=numbers,
            replayed=refusal.replayed,
        )
        self.blocks, self.count = blocks, count
