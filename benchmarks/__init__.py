"""How fast Walltime is, in CPU time: `python -m benchmarks [NAME ...]`. What is measured: docs/background/speed.md."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # the engine's twin is there
