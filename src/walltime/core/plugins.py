"""Own code: what may be imported, and the import itself.

A scenario, a result folder and a file of insertions may name code as `module:attribute`. A file alone imports nothing:
such a name is imported only where the person asked for it in this process. `allow` is for one name, as `--policy` and a
Python program give it; `allow_plugins`, which is `--plugins`, for everything in a folder or a package.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from walltime.core.errors import InputError

_DOTTED = r"[^\W\d]\w*(\.[^\W\d]\w*)*"
_TARGET = re.compile(f"{_DOTTED}:{_DOTTED}")


@dataclass
class _Allowed:
    """What this process may import: names as `module:attribute`, packages with all that is in them, and folders."""

    targets: set[str] = field(default_factory=set)
    packages: set[str] = field(default_factory=set)
    folders: list[str] = field(default_factory=list)


_allowed = _Allowed()


def allow(value: Any) -> None:
    """Allow every `module:attribute` in a value that a person or a program gave: a name, or names inside mappings."""
    if isinstance(value, str):
        _allowed.targets.update([value.strip()] if _TARGET.fullmatch(value.strip()) else [])
    elif isinstance(value, Mapping):
        for item in value.values():
            allow(item)
    elif isinstance(value, list | tuple):
        for item in value:
            allow(item)


def allow_plugins(*places: str | Path) -> None:
    """Allow own code to be imported by the names that scenarios and results give it.

    A place is a folder, whose modules are then found, or the name of a package that can be imported. Raises InputError
    for anything else. Look at the code first: it runs with all your rights.
    """
    for place in places:
        name, folder = str(place), os.path.abspath(place)
        is_name = isinstance(place, str) and re.fullmatch(_DOTTED, name) is not None
        is_package = os.path.exists(os.path.join(folder, "__init__.py"))
        if os.path.isdir(folder) and not is_package:
            if folder not in sys.path:
                sys.path.append(folder)  # last: it shadows nothing
            importlib.invalidate_caches()
            _allowed.folders.append(folder)
        elif os.path.isfile(folder):
            raise InputError("plug-ins are a folder or a package; name the folder of this file", value=name)
        elif is_name and _find(name.partition(".")[0]) is not None:
            _allowed.packages.add(name)
        elif is_package:
            raise InputError("this folder is a package; name the folder that holds it, or the package", value=name)
        else:
            raise InputError("plug-ins are a folder or a package; there is neither of this name", value=name)


def permissions() -> dict[str, list[str]]:
    """What this process may import, and where it looks: for a worker that is to be allowed the same."""
    return {
        "targets": sorted(_allowed.targets),
        "packages": sorted(_allowed.packages),
        "folders": list(_allowed.folders),
        "path": [place for place in sys.path if place],
    }


def permit(given: Mapping[str, list[str]]) -> None:
    """Allow what another process may import, in this one."""
    sys.path.extend(place for place in given["path"] if place not in sys.path)
    _allowed.targets.update(given["targets"])
    _allowed.packages.update(given["packages"])
    _allowed.folders.extend(folder for folder in given["folders"] if folder not in _allowed.folders)


def is_allowed(target: str) -> bool:
    """Whether `module:attribute` may be imported; imports nothing to find out."""
    module = target.partition(":")[0]
    if target in _allowed.targets or any(_is_in(module, package) for package in _allowed.packages):
        return True
    return any(_comes_from(folder, module.partition(".")[0]) for folder in _allowed.folders)


def require_allowed(target: str, label: str) -> None:
    """Raise InputError, which says how to allow it, for a name that nothing but a file gave."""
    if not _TARGET.fullmatch(target):
        raise InputError(f"{label}: not of the form module:attribute", value=target)
    if is_allowed(target):
        return
    top = target.partition(":")[0].partition(".")[0]
    for folder in _allowed.folders:
        spec = _find(top)
        if os.path.exists(os.path.join(folder, f"{top}.py")) and spec is not None:
            raise InputError(f"{label}: another module of this name comes before {folder}/{top}.py", value=spec.origin)
    given = ", ".join([*_allowed.folders, *sorted(_allowed.packages)])
    outside = f", and this is not in {given}" if given else ""
    raise InputError(
        f"{label}: a file alone imports no code{outside}. If you know the code, allow it with --plugins FOLDER or "
        "--plugins PACKAGE (in Python: walltime.allow_plugins)"
    )


def import_target(target: str, label: str) -> Any:
    """What `module:attribute` names; raises InputError for a missing module or attribute, or an error inside it.

    Whether it may be imported is asked before, by `require_allowed`.
    """
    module_name, _, attribute = target.partition(":")
    found: Any = _import_module(module_name, label)
    for index, step in enumerate(attribute.split(".")):
        if index and inspect.ismodule(found):
            raise InputError(f"{label}: {found.__name__} is a module, which stands before the colon", value=target)
        if not hasattr(found, step):
            choices = [name for name in vars(found) if not name.startswith("_")] if hasattr(found, "__dict__") else []
            raise InputError(f"{label}: nothing of this name in {module_name}", value=step, choices=choices)
        found = getattr(found, step)
    return found


def check_function(function: Any, target: str, label: str) -> None:
    """Raise InputError unless the function that a name led to was written in the module of that name, or in another
    that may be imported: a plug-in that uses `subprocess` does not offer what is in it."""
    home = str(getattr(function, "__module__", None))
    is_written = inspect.isfunction(function) or type(function).__name__ == "cython_function_or_method"
    top = target.partition(":")[0].partition(".")[0]
    if not is_written or not (_is_in(home, top) or is_allowed(f"{home}:{function.__qualname__}")):
        raise InputError(f"{label}: not a function that {top} defines", value=f"{home}:{function.__qualname__}")


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _comes_from(folder: str, top: str) -> bool:
    """Whether an import of this name would take it from the folder."""
    spec = _find(top)
    if spec is None:
        return False
    places = [spec.origin] if spec.has_location and spec.origin else list(spec.submodule_search_locations or ())
    return any(os.path.abspath(place).startswith(os.path.join(folder, "")) for place in places)


def _find(top: str) -> importlib.machinery.ModuleSpec | None:
    try:
        return importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):  # such as __main__, which has no place
        return None


def _import_module(name: str, label: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise InputError(
                f"{label}: no module named {error.name!r} (it is looked for in the current folder, in PYTHONPATH "
                "and among installed packages)"
            ) from None
        raise _inside(error, name, label) from error
    except (Exception, SystemExit) as error:
        if name.startswith("walltime."):
            raise  # a broken part of ours is our fault, not bad input
        raise _inside(error, name, label) from error


def _inside(error: BaseException, name: str, label: str) -> InputError:
    """An error that the module itself raised, with the line of it."""
    if isinstance(error, SyntaxError) and error.filename:
        return InputError(f"{label}: syntax error: {error.msg}", file=error.filename, line=error.lineno)
    what = f"{label}: importing {name} failed: {type(error).__name__}: {error}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    frames = [frame for frame in frames if frame.filename != __file__]
    return InputError(what, file=frames[-1].filename, line=frames[-1].lineno) if frames else InputError(what)
