"""Two engines that answer for any composition, and how they meet."""

from bursar.moved import names_of

__getattr__ = names_of(__name__)  # of the module that this room was
