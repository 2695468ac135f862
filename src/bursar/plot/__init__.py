"""Floor 6, a door: pictures, as matplotlib figures. Each is titled with the question that it answers."""

from bursar.plot.burn_down import burn_down_figure
from bursar.plot.composing import composing_figure
from bursar.plot.counting import counting_figure
from bursar.plot.curves import epsilon_figure, profile_figure
from bursar.plot.losses import loss_figure

__all__ = [
    "burn_down_figure",
    "composing_figure",
    "counting_figure",
    "epsilon_figure",
    "loss_figure",
    "profile_figure",
]
