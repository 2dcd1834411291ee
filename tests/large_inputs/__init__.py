"""Inputs as large as the service takes them, for every operation and every tool, and what they cost the event loop."""
