"""The page of a block ledger: its worst blocks, and a map of what is spent over two dimensions."""

from __future__ import annotations

from fractions import Fraction

from starlette.requests import Request
from starlette.responses import Response

from bursar.cohorts.blocks.ledger import BlockLedger
from bursar.cohorts.blocks.views import Block, Heat
from bursar.ledger.budget import words
from bursar.service.dashboard.desk import Desk
from bursar.service.permissions import permit, within
from bursar.service.tokens import Token

_CELLS = 32  # of the map, each way
_WORST = 20


async def blocks_page(desk: Desk, request: Request, token: Token) -> Response:
    """Everything here follows from the texts of queries, so that whoever may see the scope may see it."""
    service, name = desk.service, request.query_params.get("name", "")
    permit(token, "show")
    await service.meet(token, [name])
    within(token, service.tree, [name])
    blocks = await service.look(token, lambda: BlockLedger(service.ledger, name))
    names = [dimension for dimension, _ in blocks.dimensions]
    across = request.query_params.get("across") or names[0]
    down = request.query_params.get("down") or next((one for one in names if one != across), across)
    worst = await service.look(token, lambda: blocks.worst(_WORST))
    heat = None
    if len(names) > 1:
        heat = await service.look(token, lambda: blocks.heat(across, down, cells=_CELLS))
    return desk.render(
        "blocks.html",
        token,
        name=name,
        dimensions=blocks.dimensions,
        worst=[_told(block) for block in worst],
        heat=None if heat is None else _drawn(heat),
    )


def _told(block: Block) -> dict[str, str]:
    place = ", ".join(f"{dimension} {at}" for dimension, at in block.place.items())
    return {"place": place, "used": words.taken(block.share)}


def _drawn(heat: Heat) -> dict[str, object]:
    """Cells as squares of an image, the darker the more is spent."""
    cells = [
        {"x": column, "y": row, "share": f"{share:.3f}"}
        for row, shares in enumerate(heat.shares)
        for column, share in enumerate(shares)
        if share > 0
    ]
    return {
        "across": heat.across,
        "down": heat.down,
        "cells": cells,
        "width": len(heat.shares[0]),
        "height": len(heat.shares),
        "most": words.taken(Fraction(max(max(shares) for shares in heat.shares))),
    }
