"""A thousand heads of `POST /sign-in` without their bodies, from five addresses and without any token, took every
connection: everybody else was reset until the service's patience with bodies was over, and then it could begin again.
"""

from __future__ import annotations

import socket
from contextlib import suppress

from shared import judged, many_files, served

HEAD = (
    b"POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 100\r\n\r\nt"
)
ASK = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def main() -> tuple[bool, str]:
    """How many of twenty questions of somebody else are answered meanwhile."""
    many_files(6000)
    with served(host="0.0.0.0") as service:
        half = []
        for number in range(1000):
            one = socket.socket()
            one.settimeout(10)
            one.bind((f"127.0.1.{1 + number % 5}", 0))
            with suppress(OSError):
                one.connect(("127.0.0.1", service.port))
                one.sendall(HEAD)
            half.append(one)
        answered = 0
        for _ in range(20):
            with suppress(OSError, IndexError):
                answered += service.raw(ASK, "127.0.0.9", 5).split(b" ")[1] == b"200"
        for one in half:
            one.close()
    return answered == 20, f"{answered} of 20 questions of somebody else were answered beside 1 000 half requests"


if __name__ == "__main__":
    judged(main)
