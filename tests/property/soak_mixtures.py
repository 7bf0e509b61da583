"""Many random mixtures, other ones each day: `python tests/property/soak_mixtures.py [--first SEED] [--count N]`.

Prints each mixture that fails, with its seed, and how many ran; exit code 1 where one failed.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from test_mixtures import check_mixture  # noqa: E402 - found by the path above

DAILY = 1_000_000
"""Seeds from one day to the next."""


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=datetime.datetime.now(datetime.UTC).toordinal() * DAILY)
    parser.add_argument("--count", type=int, default=2000)
    given = parser.parse_args()
    ran, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.first, given.first + given.count):
            try:
                ran += check_mixture(seed, Path(folder))
            except Exception as error:
                failed += 1
                tell(f"mixture {seed}: {type(error).__name__}: {str(error)[:200]}")
    refused = given.count - ran - failed
    tell(f"{given.count:,} mixtures from {given.first}: {ran:,} ran, {refused:,} were refused, {failed:,} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
