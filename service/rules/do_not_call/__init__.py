"""The do-not-call list: its cells, entries and files."""
