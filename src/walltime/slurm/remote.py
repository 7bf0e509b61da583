"""The commands of a frozen controller's shell that Walltime answers: `advance`, `sacct`, `sacctmgr`.

`advance 2h` lets two hours pass, `advance @1d` goes to a time. A program of its own, run inside that shell as
`remote.py COMMAND ARGUMENTS...`; standard library only.
"""

import json
import os
import socket
import sys

USAGE = "usage: advance DURATION | @TIME    (seconds, 90s, 15m, 2h, 1d; @ counts from the trace's zero)"


def main() -> int:
    """Ask, print the answer; 2 for a request that was refused."""
    name, *arguments = sys.argv[1:]
    if name == "advance" and (len(arguments) != 1 or arguments[0] in ("-h", "--help")):
        print(USAGE)  # noqa: T201
        return 0 if len(arguments) == 1 else 2
    path = os.environ.get("WALLTIME_REQUESTS")
    if not path:
        print(f"Error: {name} works inside `walltime slurm shell`", file=sys.stderr)  # noqa: T201
        return 2
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(json.dumps([name, *arguments]).encode() + b"\n")
        pieces = iter(lambda: connection.recv(65536), b"")
        code, answer = json.loads(b"".join(pieces))
    print(answer, end="", file=sys.stderr if code else sys.stdout)
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
