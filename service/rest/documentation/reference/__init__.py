"""The reference pages, made from the contract, the examples and the constants of the service.

Nothing of the running service imports this; `scripts/generate` writes what it makes.
"""

from callwright.service.rest.documentation.reference.pages import pages

__all__ = ["pages"]
