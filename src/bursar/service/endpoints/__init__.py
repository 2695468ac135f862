"""Every endpoint, by what it is for."""

from bursar.service.endpoint import Endpoint
from bursar.service.endpoints import counting, looking, running, spending, stewarding

ENDPOINTS: tuple[Endpoint, ...] = (
    *counting.ENDPOINTS,
    *spending.ENDPOINTS,
    *stewarding.ENDPOINTS,
    *looking.ENDPOINTS,
    *running.ENDPOINTS,
)
