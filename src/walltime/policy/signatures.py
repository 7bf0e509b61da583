"""What a class or a function takes, and what it says of itself."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from typing import Any

_SIGNATURE = re.compile(r"[\w.]+\((.*)\)(?:\s*->.*)?")
_PARAMETER = re.compile(r"(?:[\w.\[\]:]+\s+)*?(?P<name>\w+)\s*(?::[^=]*)?(?:=\s*(?P<default>.+))?")


def parameters_of(thing: Any, skip: int = 0) -> dict[str, inspect.Parameter]:
    """The named parameters of a class's constructor or a function, without the first `skip` ones.

    Compiled classes carry no signature, but their documentation begins with one.
    """
    known = inspect.isclass(thing) or inspect.isroutine(thing)  # an object need not have a hash
    signature = _signature(thing) if known else _signature.__wrapped__(thing)
    found = list(signature.parameters.values())[skip:]
    return {item.name: item for item in found if item.kind not in (item.VAR_POSITIONAL, item.POSITIONAL_ONLY)}


@functools.lru_cache
def _signature(thing: Any) -> inspect.Signature:
    try:
        return inspect.signature(thing)
    except (ValueError, TypeError):
        return _documented_signature(thing)


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
