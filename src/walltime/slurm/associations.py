"""Accounts, users, qualities of service and their limits, and the files from which a controller takes them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Associations:
    """Who may run what; see the next revision of this module."""
