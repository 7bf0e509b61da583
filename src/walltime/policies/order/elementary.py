"""Logarithms, exponentials and powers as the C library computes them, of numbers and of arrays.

NumPy has its own versions for some processors, which differ in the last digit; two jobs would then change places from
one machine to another. Outside their domain these give infinities and nan, as IEEE 754 says, and never raise.
"""

from __future__ import annotations

import cython
import numpy as np

if not cython.compiled:
    import math

    def log(x):
        """math.log, without its errors."""
        return math.log(x) if x > 0 else -math.inf if x == 0 else math.nan

    def log2(x):
        """math.log2, without its errors."""
        return math.log2(x) if x > 0 else -math.inf if x == 0 else math.nan

    def log10(x):
        """math.log10, without its errors."""
        return math.log10(x) if x > 0 else -math.inf if x == 0 else math.nan

    def exp(x):
        """math.exp, without its errors."""
        try:
            return math.exp(x)
        except OverflowError:
            return math.inf

    def pow(x, y):
        """math.pow, without its errors."""
        try:
            return math.pow(x, y)
        except OverflowError:
            return -math.inf if x < 0 and y % 2 == 1 else math.inf
        except ValueError:  # a root of a negative number, or zero to a negative power
            return math.nan if x != 0 else math.copysign(math.inf, x) if y % 2 == 1 else math.inf


def logarithm(x, base):
    """The logarithm to base 2 or 10, or, for base 0, the natural one."""
    values: cython.double[::1] = np.array(x, np.float64, copy=True).reshape(-1)
    kind: cython.int = base
    i: cython.Py_ssize_t
    for i in range(len(values)):
        values[i] = log10(values[i]) if kind == 10 else log2(values[i]) if kind == 2 else log(values[i])
    return shaped(values, np.ndim(x))


def exponential(x):
    """e to the power of x."""
    values: cython.double[::1] = np.array(x, np.float64, copy=True).reshape(-1)
    i: cython.Py_ssize_t
    for i in range(len(values)):
        values[i] = exp(values[i])
    return shaped(values, np.ndim(x))


def power(x, y):
    """x to the power of y."""
    bases, exponents = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
    values: cython.double[::1] = np.array(bases, copy=True).reshape(-1)
    powers: cython.double[::1] = np.array(exponents, copy=True).reshape(-1)
    i: cython.Py_ssize_t
    for i in range(len(values)):
        values[i] = pow(values[i], powers[i])
    return shaped(values, bases.ndim)


def shaped(values, dimensions):
    """The values as an array, or as one number where one was given."""
    return np.asarray(values) if dimensions else np.float64(values[0])
