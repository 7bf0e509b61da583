"""The guarded scenarios are drawn by the generators of the property tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "property"))
