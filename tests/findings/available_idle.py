"""2 000 idle connections: everybody else got 503 for 10 s. Whoever asks something is to be served, from the same
address or from another, whether the idle ones come from one address or from many.
"""

from __future__ import annotations

import socket
import time
from contextlib import suppress

from shared import Service, judged, many_files, served

COUNT = 2000
ASKED = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def opened(service: Service, sources: list[str]) -> list[socket.socket]:
    """Connections that say nothing, from these addresses by turns."""
    made = []
    for number in range(COUNT):
        one = socket.socket()
        one.settimeout(20)
        one.bind((sources[number % len(sources)], 0))
        with suppress(OSError):
            one.connect(("127.0.0.1", service.port))
        made.append(one)
    return made


def answers(service: Service, source: str) -> list[str]:
    """What ten requests from an address are answered, over a second."""
    found = []
    for _ in range(10):
        try:
            found.append(service.raw(ASKED, source).split(b" ")[1].decode())
        except (OSError, IndexError):
            found.append("none")
        time.sleep(0.1)
    return found


def main() -> tuple[bool, str]:
    """All from one address, then all from a hundred."""
    many_files(3 * COUNT)
    said, bad = [], 0
    for name, sources in (("one address", ["127.0.0.1"]), ("100", [f"127.0.1.{n}" for n in range(1, 101)])):
        with served(host="0.0.0.0") as service:
            idle = opened(service, sources)
            time.sleep(0.5)
            for place, source in (("another", "127.0.0.2"), ("the same", sources[0])):
                found = answers(service, source)
                bad += sum(answer != "200" for answer in found)
                counts = ", ".join(f"{found.count(one)} × {one}" for one in dict.fromkeys(found))
                said.append(f"idle from {name}, asked from {place}: {counts}")
            for one in idle:
                one.close()
    return bad == 0, f"{COUNT} idle; {'; '.join(said)}"


if __name__ == "__main__":
    judged(main)
