"""Object stores: a person filter over s3fs, against a server that speaks S3."""

from __future__ import annotations

import os
from collections.abc import Iterator

from said import Row, ran, say

import bursar as b

REQUIRES = ["s3fs", "moto[server]", "duckdb", "pyarrow"]
PORT = 5577


def admitted() -> str:
    """Charged, compacted and verified there; an object that is replaced is seen, and so is a store that is gone."""
    import pyarrow as pa
    import s3fs
    from moto.server import ThreadedMotoServer

    from bursar.cohorts import PersonFilter
    from bursar.errors import StorageFailed

    names = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1"}
    os.environ.update(names, AWS_ENDPOINT_URL=f"http://127.0.0.1:{PORT}")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=PORT, verbose=False)
    server.start()
    store = s3fs.S3FileSystem()
    store.mkdir("lake")
    table, what = pa.table({"user": [f"p{number}" for number in range(3000)]}), b.Gaussian(sigma=10)
    with b.Ledger("memory://", alert=None) as ledger:
        terms = {"person": "user", "rho": "1/100", "secret": bytes(32)}
        people = PersonFilter.create(ledger, "visits", folder="s3://lake/visits", **terms)
        found = [people.admit(table, what, key=f"q-{number}").num_rows for number in range(3)]
        people.compact()
        assert people.verify() == ((), 0)
        store.invalidate_cache()
        name = store.find("lake/visits")[0]
        whole = store.cat(name)
        store.pipe(name, whole[:-5] + b"12345")
        assert len(people.verify().problems) == 1
        store.pipe(name, whole)
        assert people.verify().ok
        server.stop()
        try:
            people.admit(table, what, key="q-3")
        except StorageFailed:
            assert ledger.last("visits") == 5  # nothing was charged
        else:
            raise AssertionError("somebody was admitted without a store")
    return f"people admitted by turns {', '.join(map(str, found))}"


def rows() -> Iterator[Row]:
    """One filter of two queries' budget, asked three times."""
    yield ran("a person filter with its files at s3://", "2 × ρ = 1/200 of 1/100", admitted)


if __name__ == "__main__":
    say(rows())
