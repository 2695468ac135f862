"""Floor 6, a door: pictures, as matplotlib figures. Each is titled with the question that it answers."""

from bursar.plot.counting import counting_figure

__all__ = ["counting_figure"]
