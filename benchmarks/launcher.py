"""Run the command in the arguments, its output thrown away, and print its CPU seconds and peak memory as JSON.

A script of its own, started without anything imported: the peak that Linux reports for a process is at least the memory
of the process that started it.
"""

import json
import os
import sys

UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


def main() -> None:
    """Exit with 1 where the command failed."""
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=nowhere)
    _, status, used = os.wait4(child, 0)
    if status != 0:
        sys.exit(f"{' '.join(sys.argv[1:])}: exit code {os.waitstatus_to_exitcode(status)}")
    print(json.dumps({"cpu": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss * UNIT}))


if __name__ == "__main__":
    main()
