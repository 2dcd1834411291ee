"""Starts the MCP server inside a bundle. The host's uv runs this file in the project beside it."""

import os

from callwright.server.main import main

for name, value in tuple(os.environ.items()):
    # Hosts hand over `${user_config.…}` as it stands where a person left a field empty.
    if name.startswith("CALLWRIGHT_") and value.startswith("${user_config."):
        del os.environ[name]

main()
