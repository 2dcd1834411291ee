"""The leases of the tables whose rows processes lease."""

from callwright.service.platform.lease import Lease
from callwright.service.tables.schema.campaigns import deployments
from callwright.service.tables.schema.events import endpoint_queues
from callwright.service.tables.schema.imports import imports
from callwright.service.tables.schema.legs import legs

DEPLOYMENTS = Lease(deployments, deployments.c.id, by_database=True)
IMPORTS = Lease(imports, imports.c.id, by_database=True)
LEGS = Lease(legs, legs.c.call_id, by_database=True)
ENDPOINT_QUEUES = Lease(endpoint_queues, endpoint_queues.c.webhook_id, by_database=False)
"""A sender compares the end of its lease with the service's clock before each attempt."""
