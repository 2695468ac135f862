"""What six hostile tokens cost everybody else: ordinary charges beside endless questions, in one run."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from contextlib import suppress

import httpx

from service import _cpu, running

_TOKENS, _EACH = 6, 2
_RESPONSES = " + ".join(f"randomized_response(epsilon=0.{1000 + number})" for number in range(399))
_SAMPLED = " + ".join(f"poisson(laplace(scale=1.{100 + number}), rate=0.1)" for number in range(29))
_DENSITIES = "densities(p='1+sin(1000000*x)/2', q='1', low=0, high=1)"
_ENDLESS = (_RESPONSES, _SAMPLED, _DENSITIES, "laplace(scale=1e30)*1000000000000")


async def _post(stream: tuple[asyncio.StreamReader, asyncio.StreamWriter], secret: str, path: str, body: str) -> int:
    reader, writer = stream
    writer.write(
        f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {secret}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
    )
    head = await reader.readuntil(b"\r\n\r\n")
    await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
    return int(head.split()[1])


async def _attack(port: int, secret: str, number: int) -> None:
    """Endless questions, each different from all before."""
    stream = await asyncio.open_connection("127.0.0.1", port)
    for turn in itertools.count():
        what = f"{_ENDLESS[(number + turn) % len(_ENDLESS)]} + laplace(scale={10**9 + number * 10**6 + turn})"
        await _post(stream, secret, "/v1/quote", json.dumps({"scopes": ["main"], "what": what}))


async def _ordinary(port: int, secret: str, tag: str, charges: int) -> list[float]:
    """Charges one after another, each tenth one at a price that is new; how long each took."""
    stream, times = await asyncio.open_connection("127.0.0.1", port), []
    for number in range(charges):
        # a new price takes a worker some ten milliseconds
        scale = 5000 + 1000 * len(tag) + number if number % 10 == 0 else 9000
        body = f'{{"scopes":["main"],"what":"laplace(scale={scale})","key":"{tag}-{number}"}}'
        start = time.perf_counter()
        status = await _post(stream, secret, "/v1/spend", body)
        times.append(time.perf_counter() - start)
        assert status == 200, status
    stream[1].close()
    return sorted(times)


async def _beside(port: int, secret: str, hostile: list[str], charges: int) -> list[float]:
    attacks = [asyncio.create_task(_attack(port, one, number)) for number, one in enumerate(hostile * _EACH)]
    await asyncio.sleep(2.0)
    try:
        return await _ordinary(port, secret, "beside", charges)
    finally:
        for one in attacks:
            one.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*attacks, return_exceptions=True)


def hostile() -> list[str]:
    """The table: quiet, then beside six tokens that never stop asking."""
    rows = ["| | charges | served | median | p99 | CPU of the service for each |", "|---|---|---|---|---|---|"]
    charges, found = 300, []
    with running() as (process, port, secret):
        owner = httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {secret}"})
        owner.post("/v1/open", json={"scope": "main", "epsilon": "1", "delta": "1e-6", "key": "m"}).raise_for_status()
        names = [{"name": f"hostile {number}", "role": "analyst"} for number in range(_TOKENS)]
        secrets = [owner.post("/v1/token_add", json=name).json()["secret"] for name in names]
        asyncio.run(_ordinary(port, secret, "warm", 50))
        for name, run in (
            ("quiet", lambda: _ordinary(port, secret, "quiet", charges)),
            (f"beside {_TOKENS} hostile tokens", lambda: _beside(port, secret, secrets, charges)),
        ):
            before = _cpu(process)
            times = asyncio.run(run())
            cpu = (_cpu(process) - before) / charges
            middle, late = times[len(times) // 2], times[len(times) * 99 // 100]
            found.append((late, cpu))
            took = f"{1e3 * middle:.1f} ms | {1e3 * late:.1f} ms | {1e6 * cpu:.0f} µs"
            rows.append(f"| {name} | {charges} | {len(times)} | {took} |")
    (quiet, cheap), (beside, dear) = found
    return [*rows, "", f"p99 beside them, times quiet: {beside / quiet:.1f}; CPU: {dear / cheap:.2f}."]


if __name__ == "__main__":
    print(*hostile(), sep="\n")
