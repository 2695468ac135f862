"""What answers each verb, by what it is for."""

from bursar.service.endpoint import Endpoint
from bursar.service.endpoints import counting, looking, running, spending, stewarding

_NOW: tuple[Endpoint, ...] = (
    *counting.ENDPOINTS,
    *spending.ENDPOINTS,
    *stewarding.ENDPOINTS,
    *looking.ENDPOINTS,
    *running.ENDPOINTS,
)
_EVERY = [one for now in _NOW for one in now.everywhere()]
ENDPOINTS: tuple[Endpoint, ...] = tuple(sorted(_EVERY, key=lambda one: one.old is not None))
"""Every address: those of now, then those of the version before."""
