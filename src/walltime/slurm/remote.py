"""The command `advance` of a frozen controller's shell: `advance 2h` lets two hours pass, `advance @1d` goes to a time.

A program of its own, run inside that shell; standard library only.
"""

import os
import socket
import sys


def main() -> int:
    """Ask, print the answer; 2 for a request that was refused."""
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print("usage: advance DURATION | @TIME    (seconds, 90s, 15m, 2h, 1d; @ counts from the trace's zero)")  # noqa: T201
        return 0 if len(sys.argv) == 2 else 2
    path = os.environ.get("WALLTIME_REQUESTS")
    if not path:
        print("Error: advance works inside `walltime slurm shell`", file=sys.stderr)  # noqa: T201
        return 2
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(sys.argv[1].encode())
        answer = connection.recv(4096).decode()
    failed = answer.startswith("Error")
    print(answer, file=sys.stderr if failed else sys.stdout)
    return 2 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
