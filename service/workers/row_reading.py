"""A process that reads rows for an import, so that numbers are read on all cores.

It takes requests on standard input and answers on standard output, each as four bytes with the length of what follows
and so many bytes of pickle. The first request is the rules, each further one a piece; the answer to it is a packed
piece. Both ends are the same program, and nobody else has the pipes. The end of standard input ends the process, so it
never outlives its parent. It gives way to processes that people wait for.
"""

import os
import pickle
import sys
from typing import BinaryIO

from callwright.service.rules.list_pieces import Piece, read_piece
from callwright.service.rules.rows import RowRules
from callwright.service.workers.read_pieces import packed

NICENESS = 10


def framed(content: bytes) -> bytes:
    """Content with its length before it."""
    return len(content).to_bytes(4, "little") + content


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answers requests until there are no more."""
    rules: RowRules | None = None
    while len(head := requests.read(4)) == 4:
        asked = pickle.loads(requests.read(int.from_bytes(head, "little")))
        if isinstance(asked, RowRules):
            rules = asked
            continue
        assert isinstance(asked, Piece)
        assert rules is not None
        answers.write(framed(pickle.dumps(packed(read_piece(asked, rules)), pickle.HIGHEST_PROTOCOL)))
        answers.flush()


def main() -> None:
    """Serves the process's own standard streams. What is printed goes to standard error."""
    if hasattr(os, "nice"):  # not on Windows
        os.nice(NICENESS)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        serve(sys.stdin.buffer, answers)
    except BrokenPipeError:  # the parent is gone
        os._exit(0)


if __name__ == "__main__":
    main()
