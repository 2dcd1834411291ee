"""The page at `/docs`: every operation, event and object of the OpenAPI description, for people."""
