"""The command `callwright`. Without arguments, or with `mcp`, the MCP server over stdio, started as fast as it goes."""

import gc
import os
import sys


def main() -> None:
    """Runs the command line."""
    arguments = sys.argv[1:]
    os.umask(0o077)  # files are readable only by their owner: numbers, transcripts, keys
    gc.disable()  # until everything is built; `tune_garbage_collector` enables it again. A start is a tenth faster
    if not arguments or arguments[0] == "mcp":
        from callwright.server.commands.mcp import run

        raise SystemExit(run(arguments[1:]))
    from callwright.server.commands.line import app

    if arguments[0] != "serve":  # the other commands build no more, or next to nothing
        gc.enable()
    app(prog_name="callwright")


if __name__ == "__main__":
    main()
