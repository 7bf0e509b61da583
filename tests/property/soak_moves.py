"""Many random cases of conservative backfilling, other ones each day:
`python tests/property/soak_moves.py [--first SEED] [--count N] [--scenarios]`.

Prints each case that fails, with its seed, and how many ran; exit code 1 where one failed.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from moves import check_scenario, check_twin  # noqa: E402 - found by the path above

DAILY = 1_000_000
"""Seeds from one day to the next."""


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=datetime.datetime.now(datetime.UTC).toordinal() * DAILY)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--scenarios", action="store_true", help="sites and mixtures, in both ways, without the twin")
    given = parser.parse_args()
    ran, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.first, given.first + given.count):
            try:
                if given.scenarios:
                    ran += check_scenario(seed, Path(folder))
                else:
                    check_twin(seed)
                    ran += 1
            except BaseException as error:  # the outcome of a test that fails is no Exception
                if isinstance(error, KeyboardInterrupt):
                    raise
                failed += 1
                tell(f"case {seed}: {type(error).__name__}: {str(error)[:300]}")
    tell(f"{given.count:,} cases from {given.first}: {ran:,} ran, {failed:,} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
