"""Spark's daemon of Python workers, for `spark.python.daemon.module`, that waits for them in the end: Spark's own lets
the system forget them, and what they took would be nobody's.
"""

from __future__ import annotations

import os
import signal

from pyspark import daemon


def main() -> None:
    """Run the daemon; whoever started it waits for it, and so for all of its workers."""
    daemon.SIGCHLD = signal.SIGURG  # the daemon ignores this one: ended workers stay until somebody asks for them
    own = os.getpid()
    try:
        daemon.manager()
    finally:
        while os.getpid() == own:
            try:
                os.wait()
            except ChildProcessError:
                break


if __name__ == "__main__":
    main()
