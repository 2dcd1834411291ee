"""The reference pages, made from the contract, the examples and the constants of the service.

Nothing of the running service imports this; `scripts/generate` writes what it makes.
"""

from .pages import pages

__all__ = ["pages"]
