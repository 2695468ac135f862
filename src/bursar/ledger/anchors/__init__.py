"""The ends of the chains, kept outside the database: how a copy that is behind, or beside, is found out."""

from bursar.moved import names_of

__getattr__ = names_of(__name__)  # of the module that this room was
