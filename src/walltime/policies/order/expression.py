"""A formula as a person writes it, checked against what a formula may contain, and evaluated over arrays.

Arithmetic follows IEEE 754: a division by zero gives an infinity, zero over zero and the logarithm of a negative number
give nan, and nothing raises. The same formula gives the same bits for one job alone and for a thousand at once.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.policies.order.elementary import exponential, logarithm, power

OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda x, y: x + y,
    ast.Sub: lambda x, y: x - y,
    ast.Mult: lambda x, y: x * y,
    ast.Div: lambda x, y: x / y,
    ast.Mod: lambda x, y: x % y,
    ast.Pow: power,
}
FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "sqrt": (1, np.sqrt),
    "log": (1, lambda x: logarithm(x, 0)),
    "log2": (1, lambda x: logarithm(x, 2)),
    "log10": (1, lambda x: logarithm(x, 10)),
    "exp": (1, exponential),
    "abs": (1, np.abs),
    "min": (2, np.minimum),
    "max": (2, np.maximum),
}
"""Name: how many arguments (min and max: at least), and what it does."""

LONGEST = 1000
DEEPEST = 50
SHOWN = 40


class Expression:
    """A parsed formula over some names; raises InputError for anything else than arithmetic."""

    def __init__(self, text: Any, names: Collection[str]) -> None:
        if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
            raise InputError(f"a formula is a text of 1 to {LONGEST} characters", value=text)
        self.text = text.strip()
        self.known = tuple(names)
        self.names: set[str] = set()
        try:
            with warnings.catch_warnings(action="ignore"):  # Python's remarks on its own syntax
                tree = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise InputError(f"not a formula ({getattr(error, 'msg', error)})", value=self.text) from None
        self.evaluate = self._compile(tree, 0)

    def _compile(self, node: ast.expr, depth: int) -> Callable[[Mapping[str, Any]], Any]:
        """A function from the names' values to the value of the node."""
        if depth > DEEPEST:
            raise InputError(f"a formula may be nested {DEEPEST} deep", value=self.text)
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return self._constant(number)
            case ast.Name(id=name):
                return self._name(name)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATORS:
                operator = OPERATORS[type(sign)]
                first, second = self._compile(left, depth + 1), self._compile(right, depth + 1)
                return lambda values: operator(first(values), second(values))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self._compile(operand, depth + 1)
                return lambda values: -inner(values)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._compile(operand, depth + 1)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self._call(name, arguments, depth)
        found = ast.get_source_segment(self.text, node) or ""
        raise InputError(
            f"a formula has numbers, names, + - * / % ** and functions, not {found[:SHOWN]}", value=self.text
        )

    def _constant(self, number: float) -> Callable[[Mapping[str, Any]], Any]:
        try:
            value = np.float64(number)
        except OverflowError:
            raise InputError("a number in the formula is too large", value=self.text) from None
        return lambda values: value

    def _name(self, name: str) -> Callable[[Mapping[str, Any]], Any]:
        if name not in self.known:
            raise InputError("unknown name in the formula", value=name, choices=self.known)
        self.names.add(name)
        return lambda values: values[name]

    def _call(self, name: str, arguments: list[ast.expr], depth: int) -> Callable[[Mapping[str, Any]], Any]:
        if name not in FUNCTIONS:
            raise InputError("unknown function in the formula", value=name, choices=FUNCTIONS)
        wanted, function = FUNCTIONS[name]
        if len(arguments) < wanted or (wanted == 1 and len(arguments) > 1):
            raise InputError(f"{name} takes {wanted}{' or more' if wanted > 1 else ''}", value=self.text)
        inner = [self._compile(argument, depth + 1) for argument in arguments]
        if wanted == 1:
            return lambda values: function(inner[0](values))

        def fold(values: Mapping[str, Any]) -> Any:
            found = inner[0](values)
            for other in inner[1:]:
                found = function(found, other(values))
            return found

        return fold
