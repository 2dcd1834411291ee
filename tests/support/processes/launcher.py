"""Passes its streams, environment and arguments to `forked_commands`, and ends as the command there ends.

It is run by itself, without the packages of the environment, so that it starts within milliseconds.
"""

import json
import os
import signal
import socket
import sys


def main(address: str, arguments: list[str]) -> int:
    """Returns the status of the command; one that a signal ended has that number and 128."""
    wanted = json.dumps([["callwright", *arguments], dict(os.environ), os.getcwd()]).encode()
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(address)
        socket.send_fds(asked, [len(wanted).to_bytes(4, "big")], [0, 1, 2])
        asked.sendall(wanted)
        with asked.makefile() as told:
            process_id = int(told.readline())
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda number, _: os.kill(process_id, number))
            for stream in (0, 1, 2):  # the command has them: who reads from it sees its end
                os.close(stream)
            status = int(told.readline())
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
