"""A service for the clients to ask."""

from support.services import memory, one_nursery

__all__ = ["memory", "one_nursery"]
