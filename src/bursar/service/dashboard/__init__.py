"""The dashboard: pages rendered here, a little htmx and uPlot from our own files, nothing from elsewhere."""

from bursar.service.dashboard.pages import lost as lost
from bursar.service.dashboard.pages import routes as routes
