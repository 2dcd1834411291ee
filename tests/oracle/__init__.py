"""A second opinion on who may be called when, written from the page of rules and their sources alone."""
