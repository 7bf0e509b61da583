"""When two runs are the same: a digest over everything that a run's result depends on.

That is the scenario, the contents of every file that it names (not their paths), own code that it names, the sources
of those of our packages that make results, the versions of the libraries that compute them, the release of Slurm where
it decides, what is kept, and the seed. The same digest is the same result, so such a run is not run twice.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from walltime.core.errors import InputError
from walltime.core.files import checksum
from walltime.policy.registry import registry
from walltime.scenario import Scenario
from walltime.scenario.reading.files import find_files

FORM = "walltime run 1"
"""Changes whenever the same run would get another digest."""
LIBRARIES = ("numpy", "polars")
"""They compute what a result says: draws, sums, quantiles."""
SOURCES = (
    *("analysis", "cluster", "core", "engine", "execution", "kernel", "policies", "policy", "programs", "rules"),
    *("scenario", "site", "slurm", "workload", "pipeline.py", "api.py"),
    *("experiments/execution.py", "experiments/phases.py"),
)
"""Of our own package what a result depends on; not how it is drawn, shown or stored."""
NOT_SOURCES = ("analysis/charts/", "analysis/plots/", "analysis/report/")
_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def digest_specification(specification: dict[str, Any], scenario: Scenario) -> str:
    """The digest of what all seeds of a cell share; `specification` holds the scenario as a mapping.

    Raises InputError for a file that is not there.
    """
    contents = {os.path.abspath(path): digest_file(path) for path in files_of(scenario)}
    state = {
        "form": FORM,
        "specification": _with_contents(specification, contents),
        "beside": sorted(digest_file(path) for path in _files_beside(scenario)),
        "code": digest_code(_modules_of(scenario, specification)),
        "build": digest_build(),
        "libraries": library_versions(),
        "slurm": _slurm_release(scenario),
    }
    return hashlib.sha256(json.dumps(state, sort_keys=True, default=str).encode()).hexdigest()


def digest_run(specification: str, seed: int) -> str:
    """The digest of one run: a specification's, and the seed."""
    return hashlib.sha256(f"{specification}\n{seed}".encode()).hexdigest()


def files_of(scenario: Scenario) -> list[str]:
    """The files that the scenario names, each once; raises InputError, with the key, for one that is not there."""
    found: dict[str, None] = {}
    for key, path in find_files(scenario):
        if not os.path.isfile(path):
            raise InputError(f"{key}: no such file", file=path)
        found[path] = None
    return list(found)


def digest_file(path: str) -> str:
    """SHA-256 of a file's contents; read again only where the file has changed."""
    try:
        told = os.stat(path)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path) from None
    return _digest_file(path, told.st_ino, told.st_mtime_ns, told.st_size)


@functools.lru_cache(maxsize=4096)
def _digest_file(path: str, inode: int, changed: int, size: int) -> str:
    return checksum(Path(path))


@functools.cache
def digest_build() -> str:
    """SHA-256 of our own sources, as far as results depend on them."""
    package = Path(__file__).parents[1]
    made = hashlib.sha256()
    for file in _sources(package):
        name = file.relative_to(package).as_posix()
        made.update(f"{name}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return made.hexdigest()


def _sources(package: Path) -> Iterator[Path]:
    for place in SOURCES:
        path = package / place
        files = (
            [path] if path.suffix else sorted(file for file in path.rglob("*") if file.suffix in (".py", ".pxd", ".c"))
        )
        for file in files:
            made = file.suffix == ".c" and file.with_suffix(".py").exists()  # what Cython wrote
            if not made and not file.relative_to(package).as_posix().startswith(NOT_SOURCES):
                yield file


@functools.cache
def library_versions() -> dict[str, str]:
    """The versions of what computes results."""
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def digest_code(modules: Iterable[str]) -> str:
    """SHA-256 of own modules: of a package all of its Python files, of a module those beside it too, as it may import
    them. Nothing is imported."""
    made = hashlib.sha256()
    for top in sorted(set(modules)):
        spec = importlib.util.find_spec(top)
        places = list(spec.submodule_search_locations or ()) if spec else []
        files = [file for place in places for file in Path(place).rglob("*.py")]
        if spec is not None and not places and spec.origin and os.path.isfile(spec.origin):
            files = [*Path(spec.origin).parent.glob("*.py")]
        for file in sorted(files):
            made.update(f"{top}\0{file.name}\0{digest_file(str(file))}\n".encode())
    return made.hexdigest()


def _modules_of(scenario: Scenario, specification: dict[str, Any]) -> set[str]:
    """The top-level modules of code that is not ours: parts by `module:attribute` or by an installed name."""
    targets = [text for text in _texts(specification) if _TARGET.fullmatch(text)]
    for _, kind, part in scenario.parts():
        entry = registry().entries.get((kind, part.name))
        targets += [entry.target] if entry is not None and entry.target else []
    tops = {target.partition(":")[0].partition(".")[0] for target in targets}
    return {top for top in tops if top != "walltime" and _is_module(top)}


def _is_module(top: str) -> bool:
    try:
        return importlib.util.find_spec(top) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _files_beside(scenario: Scenario) -> list[str]:
    """What is read along with a named file: the other files of Slurm's configuration."""
    if scenario.slurm is None or scenario.slurm.conf is None:
        return []
    return [str(path) for path in sorted(Path(scenario.slurm.conf).parent.glob("*.conf")) if path.is_file()]


def _slurm_release(scenario: Scenario) -> str | None:
    if scenario.engine != "slurm":
        return None
    from walltime.slurm.packages import find_installation

    given = scenario.slurm
    try:
        return find_installation(given.release if given else None, given.slurmctld if given else None).product
    except InputError:
        return None  # the run itself will say that there is none


def _with_contents(value: Any, contents: dict[str, str]) -> Any:
    """The data with each path of a file replaced by its kind and its contents."""
    if isinstance(value, dict):
        return {key: _with_contents(item, contents) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_contents(item, contents) for item in value]
    if isinstance(value, str) and value in contents:
        return {"suffix": Path(value).suffix, "contents": contents[value]}
    return value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
