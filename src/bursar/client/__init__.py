"""A client of the service, in two forms that ask the same things.

    with Client("https://bursar.example", token) as bursar:
        bursar.spend("census", "gaussian(sigma=50)", key="query-0001")

Whatever charges has a key; a request that got no answer is sent again with the same key, so that it is charged once.
"""

from bursar.extras import needs

with needs("client", "the client"):
    from bursar.client.asynchronous import AsyncClient as AsyncClient
    from bursar.client.calls import ServiceError as ServiceError
    from bursar.client.synchronous import Client as Client

__all__ = ["AsyncClient", "Client", "ServiceError"]
