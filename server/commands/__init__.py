"""The commands of the terminal beside `mcp`."""
