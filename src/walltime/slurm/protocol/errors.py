"""Why the controller refuses a job, in words."""

from __future__ import annotations

NO_NODE, NO_RESERVATION = 2014, 2053
REFUSALS = {
    2000: "no such partition",
    2001: "no partition was asked for, and none is the default",
    2002: "access denied",
    2003: "the user's group may not use the partition",
    2005: "more cores than any partition has",
    2006: "more nodes than the partition has",
    2007: "the controller holds as many jobs as it may (MaxJobCount)",
    2010: "unknown user",
    NO_NODE: "no node is large enough",
    2015: "beyond a limit of the partition",
    2029: "no node has the feature",
    2038: "the dependency can never be met",
    2044: "more memory than any node has",
    2045: "the user may not charge this account",
    2048: "no such licence, or not so many",
    2050: "beyond a limit of the account or the quality of service",
    2051: "asks for more time than it may",
    2052: "the user may not use the reservation",
    NO_RESERVATION: "the reservation is over, or there is none of that name",
    2066: "the user may not use this quality of service",
    2069: "an impossible number of cores",
    2070: "the partition is not available",
    2071: "the dependencies go in a circle",
    2072: "no node has the generic resource",
    2074: "below the threshold of the quality of service",
    2115: "no such trackable resource",
}


def explain(code: int, memory: int = 0, largest: int = 0) -> str:
    """The reason of a refusal of a job that needs so much memory on a node, where the largest node has so much."""
    if code in (NO_NODE, 2044) and memory > largest:
        return f"more memory than any node has ({largest} MB)"
    return REFUSALS.get(code, f"refused by the controller (code {code})")
