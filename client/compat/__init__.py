"""What exists only to talk to another service of the specification: its paths, its answers, its addresses."""
