"""The command `callwright`.

With `mcp`, or without arguments where no person types, it is the MCP server over stdio, started as fast as it goes.
Without arguments at a terminal it says what it is.
"""

import gc
import os
import sys

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it."""


def main() -> None:
    """Runs the command line. Ctrl-C ends it without a word, with status 130."""
    try:
        _run(sys.argv[1:])
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


def _run(arguments: list[str]) -> None:
    os.umask(0o077)  # files are readable only by their owner: numbers, transcripts, keys
    if not arguments and sys.stdin.isatty():
        from callwright.server.commands.welcome import welcome

        print(welcome())  # noqa: T201  # the command's answer
        return
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
