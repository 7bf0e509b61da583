"""Users of a log: when they work, what they wait for before they submit again, and how they go on in another system.

Zakay, Feitelson, "Preserving user behavior characteristics in trace-based simulation of parallel job scheduling",
MASCOTS 2014; and their "On identifying user session boundaries in parallel workload logs", JSSPP 2012.
"""
