"""What Slurm calls that of which a job's priority is made, where a slurm.conf is read and where one is written."""

from __future__ import annotations

WEIGHTS = {
    "age": "PriorityWeightAge",
    "fairshare": "PriorityWeightFairshare",
    "job_size": "PriorityWeightJobSize",
    "partition": "PriorityWeightPartition",
    "qos": "PriorityWeightQOS",
    "association": "PriorityWeightAssoc",
}
"""The settings that weigh the factors, by the names that the order `multifactor` has for these."""
TRES = {"cpu": "CPU", "mem": "Mem", "node": "Node", "gpu": "GRES/gpu"}
"""What PriorityWeightTRES weighs, by our names."""
FLAGS = {"accrue_always": "ACCRUE_ALWAYS", "relative_to_time": "SMALL_RELATIVE_TO_TIME"}
"""Parameters of `multifactor` that are words of PriorityFlags."""
PERIODS = ("none", "daily", "weekly", "monthly", "quarterly", "yearly")
"""When usage may begin at zero again and again, in our spelling; Slurm's is in capitals."""
