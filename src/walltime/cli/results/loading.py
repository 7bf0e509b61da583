"""Results that were named on the command line: folders, or folders of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from walltime.api import Result


def find_results(given: list[str]) -> list[Path]:
    """The result folders that the arguments stand for, in their order."""
    return [path for name in given for path in _expand(name)]


def load_results(paths: list[Path]) -> list[Result]:
    """The results; where two have the same policy, the names of their folders tell them apart better."""
    from walltime.api import load

    loaded = [load(path) for path in paths]
    if len({result.label for result in loaded}) < len(loaded):
        for parts in (1, 2):  # easy; or monday/easy, tuesday/easy
            names = ["/".join(path.resolve().parts[-parts:]) for path in paths]
            if len(set(names)) == len(names):
                for result, name in zip(loaded, names, strict=True):
                    result.label = name
                break
    return loaded


def _expand(given: str) -> list[Path]:
    """The result itself, or the results inside a folder that a run of several policies made, in that run's order."""
    from walltime.core.folder import is_result

    path = Path(given)
    if path.is_dir() and not (path / "summary.json").exists():
        inside = [entry for entry in path.iterdir() if not entry.name.startswith(".") and is_result(entry)]
        return sorted(inside, key=lambda entry: ((entry / "summary.json").stat().st_mtime_ns, entry.name)) or [path]
    return [path]
