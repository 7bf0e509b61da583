"""The catalogue of built-in parts and presets; one concept a file in the folders beside."""

from walltime.policy.registry import Entry, Preset

_EASY = 'Lifka 1995, "The ANL/IBM SP scheduling system"; Mu\'alem and Feitelson 2001'

PARTS = (
    Entry("order", "fcfs", "walltime.policies.order.fcfs:Fcfs", "First come, first served: by time of eligibility."),
    Entry(
        "backfill",
        "none",
        "walltime.policies.backfill.none:NoBackfill",
        "Nobody overtakes: the queue stops at the first job that does not fit.",
    ),
    Entry(
        "backfill",
        "easy",
        "walltime.policies.backfill.easy:Easy",
        "A job may overtake if it does not delay the first blocked job.",
        _EASY,
    ),
    Entry(
        "backfill",
        "conservative",
        "walltime.policies.backfill.conservative:Conservative",
        "Every job has a promised start; nobody may delay one.",
        "Mu'alem and Feitelson 2001",
    ),
    Entry(
        "backfill",
        "aggressive",
        "walltime.policies.backfill.aggressive:Aggressive",
        "Whatever fits starts, in queue order; large jobs may starve.",
    ),
    Entry(
        "estimate",
        "request",
        "walltime.policies.estimate.request:Request",
        "The user's requested time, as it is.",
    ),
    Entry("rhythm", "instant", "", "One pass after everything that happens at an instant."),
    Entry("rhythm", "event", "", "A pass after every single event, as some other simulators do."),
    Entry(
        "execution", "trace", "walltime.execution.trace:TraceExecution", "A job runs for as long as the workload says."
    ),
)

PRESETS = (
    Preset("fcfs", {"order": "fcfs", "backfill": "none"}, "First come, first served, without backfilling."),
    Preset("easy", {"order": "fcfs", "backfill": "easy"}, "First come, first served with EASY backfilling.", _EASY),
    Preset(
        "conservative",
        {"order": "fcfs", "backfill": "conservative"},
        "First come, first served with conservative backfilling: every promise is kept.",
        "Mu'alem and Feitelson 2001",
    ),
    Preset(
        "aggressive",
        {"order": "fcfs", "backfill": "aggressive"},
        "First come, first served, and whatever fits may overtake.",
    ),
)
