"""Benchmarks of the service: one client against sixty-four, over loopback, every charge durable."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from bursar.service.tokens import Tokens

_WHAT = "laplace(scale=1000000000)"
_TICK = os.sysconf("SC_CLK_TCK")


@contextmanager
def running(extra: float = 0.0) -> Iterator[tuple[int, int, str]]:
    """`bursar serve` on a disk that is slower by so many milliseconds: its process, its port, an owner's token."""
    with tempfile.TemporaryDirectory() as place:
        tokens = Tokens(f"{place}/tokens.db")
        _, secret = tokens.add("bench", "owner")
        tokens.close()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        settings = {
            "BURSAR_LEDGER": f"sqlite:///{place}/budget.db",
            "BURSAR_TOKENS": f"{place}/tokens.db",
            "BURSAR_PORT": str(port),
            "BURSAR_RATE": "1e9",
        }
        program = ["-m", "bursar"] if extra == 0 else [str(Path(__file__).with_name("slow.py")), str(extra)]
        process = subprocess.Popen(
            [sys.executable, *program, "serve"], env={**os.environ, **settings}, stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            process.stdout.readline()
            httpx.post(
                f"http://127.0.0.1:{port}/v1/open",
                json={"scope": "data", "epsilon": "1", "key": "open"},
                headers={"Authorization": f"Bearer {secret}"},
            ).raise_for_status()
            yield process.pid, port, secret
        finally:
            process.terminate()
            process.wait(30)


async def _spender(port: int, secret: str, name: str, end: float) -> int:
    """One connection that spends until the time is over; a client this thin leaves the processor to the service."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    count = 0
    while time.perf_counter() < end:
        body = f'{{"scopes":["data"],"what":"{_WHAT}","key":"{name}-{count}"}}'
        writer.write(
            f"POST /v1/spend HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {secret}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        count += 1
    writer.close()
    return count


async def _rate(port: int, secret: str, clients: int, seconds: float, tag: str) -> float:
    end = time.perf_counter() + seconds
    counts = await asyncio.gather(*(_spender(port, secret, f"{tag}-{number}", end) for number in range(clients)))
    return sum(counts) / seconds


def _cpu(process: int) -> float:
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


@contextmanager
def _empty() -> Iterator[tuple[int, int, str]]:
    """The same server with a handler that does nothing, for comparison."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, __file__, str(port)])
    try:
        while True:
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield process.pid, port, "none"
    finally:
        process.terminate()
        process.wait(30)


async def _nothing(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    if scope["type"] == "http":
        headers = [(b"content-type", b"application/json"), (b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"{}"})


def service() -> list[str]:
    """The table: on this disk, on slower ones, and the server alone."""
    rows = ["| | clients | answers a second | CPU of the service for each |", "|---|---|---|---|"]
    ratios = []
    for name, server in (
        ("charges, this disk", running()),
        ("charges, a sync of 0.25 ms more", running(0.25)),
        ("charges, a sync of 2 ms more", running(2.0)),
        ("an empty handler", _empty()),
    ):
        rates = []
        with server as (process, port, secret):
            for clients in (1, 64):
                asyncio.run(_rate(port, secret, clients, 1.0, f"warm{clients}"))
                before, seconds = _cpu(process), 5.0
                rate = asyncio.run(_rate(port, secret, clients, seconds, f"run{clients}"))
                spent = (_cpu(process) - before) / (rate * seconds)
                rates.append(rate)
                rows.append(f"| {name} | {clients} | {rate:,.0f} | {1e6 * spent:.0f} µs |")
        ratios.append(f"{rates[1] / rates[0]:.1f} ({name})")
    return [*rows, "", f"Sixty-four together, times one: {', '.join(ratios)}."]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        import uvicorn

        uvicorn.run(_nothing, port=int(sys.argv[1]), log_level="warning", access_log=False, lifespan="off")
    else:
        print(*service(), sep="\n")
