"""Importing what a person named as `module:attribute`, with messages that say what went wrong and where."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import traceback
from typing import Any

from walltime.core.errors import InputError

_SIGNATURE = re.compile(r"\w+\((.*)\)(?:\s*->.*)?")
_PARAMETER = re.compile(r"(?:[\w.\[\]:]+\s+)*?(?P<name>\w+)\s*(?::[^=]*)?(?:=\s*(?P<default>.+))?")


def import_target(target: str, label: str) -> Any:
    """What `module:attribute` names; raises InputError for a missing module or attribute, or an error inside it."""
    module_name, _, attribute = target.partition(":")
    if not re.fullmatch(r"\w+(\.\w+)*", module_name) or not re.fullmatch(r"\w+(\.\w+)*", attribute):
        raise InputError(f"{label}: not of the form module:attribute", value=target)
    found: Any = _import_module(module_name, label)
    for step in attribute.split("."):
        if not hasattr(found, step):
            choices = [name for name in vars(found) if not name.startswith("_")] if hasattr(found, "__dict__") else []
            raise InputError(f"{label}: nothing of this name in {module_name}", value=step, choices=choices)
        found = getattr(found, step)
    return found


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


def parameters_of(thing: Any, skip: int = 0) -> dict[str, inspect.Parameter]:
    """The named parameters of a class's constructor or a function, without the first `skip` ones.

    Compiled classes carry no signature, but their documentation begins with one.
    """
    try:
        signature = inspect.signature(thing)
    except (ValueError, TypeError):
        signature = _documented_signature(thing)
    found = list(signature.parameters.values())[skip:]
    return {item.name: item for item in found if item.kind not in (item.VAR_POSITIONAL, item.POSITIONAL_ONLY)}


def summary_of(thing: Any) -> str:
    """The first line of its documentation, past the signature that a compiled class begins with."""
    for line in (inspect.getdoc(thing) or "").splitlines():
        if line.strip() and not _SIGNATURE.fullmatch(line.strip()):
            return line.strip()
    return ""


def _documented_signature(thing: Any) -> inspect.Signature:
    """The signature in the first line of a compiled class's documentation: `Easy(int depth: cython.int = 1)`; of the
    class that has the constructor, where it is inherited."""
    makers = [one for one in getattr(thing, "__mro__", ()) if "__init__" in vars(one) and one is not object]
    first = (getattr((makers or [thing])[0], "__doc__", None) or "").partition("\n")[0]
    match = _SIGNATURE.fullmatch(first.strip())
    found = [_parameter(text) for text in _split(match[1])] if match else []
    return inspect.Signature([parameter for parameter in found if parameter is not None])


def _parameter(text: str) -> inspect.Parameter | None:
    """One parameter, without the C type before its name; None for a bare star and the like."""
    if text.startswith("**"):
        return inspect.Parameter(text[2:].split(":")[0].strip(), inspect.Parameter.VAR_KEYWORD)
    match = _PARAMETER.fullmatch(text)
    if not match or match["name"] == "self":
        return None
    default = inspect.Parameter.empty if match["default"] is None else _literal(match["default"])
    return inspect.Parameter(match["name"], inspect.Parameter.KEYWORD_ONLY, default=default)


def _split(text: str) -> list[str]:
    """The parameters between the commas that are not inside brackets or quotes."""
    parts, depth, quote, current = [], 0, "", ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        depth += (sign in "([{") - (sign in ")]}") if not quote else 0
        if sign == "," and not depth and not quote:
            parts.append(current.strip())
            current = ""
        else:
            current += sign
    return [part for part in (*parts, current.strip()) if part]


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
