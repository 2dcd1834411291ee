"""The reference pages, made from the contract, the examples and the constants of the service.

The running service does not import this; `scripts/generate` writes the pages.
"""

from callwright.service.rest.documentation.reference.pages import pages

__all__ = ["pages"]
