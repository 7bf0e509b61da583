"""The catalogue of built-in parts and presets; one concept a file in the folders beside."""

from walltime.policy.registry import Entry, Preset

_TANG = 'Tang, Lan, Desai, Buettner 2009, "Fault-aware, utility-based job scheduling on Blue Gene/P systems"'
_LEARNED = (
    'Carastan-Santos, de Camargo 2017, "Obtaining dynamic scheduling policies with simulation and machine learning"'
)
_TSAFRIR = 'Tsafrir, Etsion, Feitelson 2007, "Backfilling using system-generated predictions"'
_LOS = 'Shmueli, Feitelson 2005, "Backfilling with lookahead to optimize the packing of parallel jobs"'
_FAIR = 'Klusacek, Rudova 2014, "Multi-resource aware fairsharing for heterogeneous systems"; Slurm\'s Fair Tree'
_FACTORS = "Slurm's documentation of the multifactor priority plugin"
_PLANS = 'Klusacek, Chlumsky, Rudova 2015, "Planning and optimization in TORQUE resource manager"'
_FAIRNESS = 'Klusacek, Rudova 2012, "Performance and fairness for users in parallel job scheduling"'
_EASY = 'Lifka 1995, "The ANL/IBM SP scheduling system"; Mu\'alem and Feitelson 2001'

PARTS = (
    Entry("order", "fcfs", "walltime.policies.order.fcfs:Fcfs", "First come, first served: by time of eligibility."),
    Entry(
        "order",
        "submission",
        "walltime.policies.order.fcfs:Submission",
        "By time of submission, whatever a job had to wait for before it was eligible.",
        "Slurm's priority/basic",
    ),
    Entry("order", "sjf", "walltime.policies.order.length:Sjf", "Shortest job first: by estimate."),
    Entry("order", "ljf", "walltime.policies.order.length:Ljf", "Longest job first: by estimate."),
    Entry("order", "smallest", "walltime.policies.order.size:Smallest", "Fewest cores first."),
    Entry("order", "largest", "walltime.policies.order.size:Largest", "Most cores first."),
    Entry("order", "smallest-area", "walltime.policies.order.area:SmallestArea", "Smallest estimate x cores first."),
    Entry("order", "largest-area", "walltime.policies.order.area:LargestArea", "Largest estimate x cores first."),
    Entry(
        "order",
        "expansion",
        "walltime.policies.order.expansion:Expansion",
        "Largest expansion factor first: (wait + estimate) / estimate.",
        "Srinivasan, Kettimuthu, Subramani, Sadayappan 2002",
    ),
    Entry(
        "order",
        "edf",
        "walltime.policies.order.deadline:Edf",
        "Earliest deadline first; jobs without one come last.",
        "Liu, Layland 1973",
    ),
    Entry(
        "order",
        "wfp3",
        "walltime.policies.order.wfp3:Wfp3",
        "Largest (wait / requested time)^3 x cores first.",
        _TANG,
    ),
    Entry(
        "order",
        "unicef",
        "walltime.policies.order.unicef:Unicef",
        "Largest wait / (log2(cores) x requested time) first.",
        _TANG,
    ),
    Entry(
        "order",
        "f1",
        "walltime.policies.order.learned:F1",
        "Lowest log10(r) n + 870 log10(s) first; learned.",
        _LEARNED,
    ),
    Entry(
        "order",
        "f2",
        "walltime.policies.order.learned:F2",
        "Lowest sqrt(r) n + 25600 log10(s) first; learned.",
        _LEARNED,
    ),
    Entry(
        "order", "f3", "walltime.policies.order.learned:F3", "Lowest r n + 6.86e6 log10(s) first; learned.", _LEARNED
    ),
    Entry(
        "order",
        "f4",
        "walltime.policies.order.learned:F4",
        "Lowest r sqrt(n) + 5.3e5 log10(s) first; learned.",
        _LEARNED,
    ),
    Entry("order", "priority", "walltime.policies.order.priority:Priority", "Highest priority of the workload first."),
    Entry(
        "order",
        "fairshare",
        "walltime.policies.order.fairshare:FairShareOrder",
        "The user with the least of what is due to them first.",
        _FAIR,
    ),
    Entry(
        "order",
        "multifactor",
        "walltime.policies.order.multifactor:Multifactor",
        "Highest weighted sum of age, fair share, size, queue, QOS and more first, as Slurm's priority/multifactor.",
        _FACTORS,
    ),
    Entry(
        "order",
        "formula",
        "walltime.policies.order.formula:Formula",
        "By a formula of your own, such as wait / requested_time * cores.",
    ),
    Entry(
        "order",
        "drf",
        "walltime.policies.order.drf:DominantShare",
        "Dominant resource fairness: the user with the lowest dominant share of what is held now comes first.",
        "Ghodsi et al. 2011",
    ),
    Entry(
        "backfill",
        "none",
        "walltime.policies.backfill.none:NoBackfill",
        "No job overtakes: the queue stops at the first job that does not fit.",
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
        "Every job has a promised start; no job may delay one.",
        "Mu'alem and Feitelson 2001",
    ),
    Entry(
        "backfill",
        "plan",
        "walltime.policies.backfill.plan:Plan",
        "Every job has a place in a plan, which may be built and improved by rules of one's choice.",
        _PLANS,
    ),
    Entry(
        "backfill",
        "aggressive",
        "walltime.policies.backfill.aggressive:Aggressive",
        "Whatever fits starts, in queue order; large jobs may starve.",
    ),
    Entry(
        "backfill",
        "depth",
        "walltime.policies.backfill.depth:Depth",
        "A job may overtake if it delays none of the first blocked jobs.",
        "Chiang, Arpaci-Dusseau, Vernon 2002",
    ),
    Entry(
        "backfill",
        "lookahead",
        "walltime.policies.backfill.lookahead:Lookahead",
        "As easy, with the set of jobs that fills the machine best.",
        _LOS,
    ),
    Entry(
        "backfill",
        "tetris",
        "walltime.policies.backfill.tetris:Tetris",
        "Packing: each node takes the jobs most like what it has free, of the users with the lowest dominant shares.",
        "Grandl et al. 2014; Makogon 2024",
    ),
    Entry(
        "estimate",
        "request",
        "walltime.policies.estimate.request:RequestedTime",
        "The user's requested time, as it is.",
    ),
    Entry(
        "estimate",
        "perfect",
        "walltime.policies.estimate.perfect:Perfect",
        "The actual run time: what could be gained if all run times were known.",
    ),
    Entry(
        "estimate",
        "last-two",
        "walltime.policies.estimate.last_two:LastTwo",
        "The mean of the user's last two runs, at most the request.",
        _TSAFRIR,
    ),
    Entry("estimate", "factor", "walltime.policies.estimate.factor:Factor", "The requested time, scaled by a factor."),
    Entry(
        "place",
        "best-fit",
        "walltime.policies.place.best_fit:BestFit",
        "The fullest nodes on which the job still fits; the default of a cluster with nodes.",
    ),
    Entry("place", "first-fit", "walltime.policies.place.first_fit:FirstFit", "The nodes with the lowest numbers."),
    Entry("place", "worst-fit", "walltime.policies.place.worst_fit:WorstFit", "The emptiest nodes."),
    Entry(
        "place",
        "even",
        "walltime.policies.place.even:Even",
        "One task on each node in turn, from the one with the most room; the default where time is shared.",
        "Santoso et al. 2003",
    ),
    Entry(
        "place",
        "round-robin",
        "walltime.policies.place.round_robin:RoundRobin",
        "Each task on the next node, going on where the last job ended, as PVM does.",
    ),
    Entry(
        "place",
        "contiguous",
        "walltime.policies.place.contiguous:Contiguous",
        "A run of consecutive nodes; a job that asks for nodes waits for one.",
    ),
    Entry(
        "place",
        "consecutive",
        "walltime.policies.place.consecutive:Consecutive",
        "The first nodes of the smallest run of neighbours that suffices, as Slurm chooses.",
        "Slurm's sources, release 22.05",
    ),
    Entry("place", "random", "walltime.policies.place.random:Random", "Any nodes on which the job fits, by the seed."),
    Entry(
        "place",
        "topology",
        "walltime.policies.place.topology:Topology",
        "Nodes on as few switches as can be: on one where it can, the one with the least to spare.",
    ),
    Entry(
        "preempt", "queue", "walltime.policies.preempt.queue:ByQueue", "Jobs of a queue displace those of lower ones."
    ),
    Entry("preempt", "qos", "walltime.policies.preempt.qos:ByQos", "Jobs of a quality of service displace lower ones."),
    Entry(
        "broker",
        "first",
        "walltime.policies.broker.first:First",
        "The first cluster that may take the job, in the order of the scenario.",
    ),
    Entry("broker", "random", "walltime.policies.broker.random:Random", "Any cluster, by the seed and the job."),
    Entry("broker", "round-robin", "walltime.policies.broker.round_robin:RoundRobin", "One cluster after the other."),
    Entry(
        "broker",
        "least-loaded",
        "walltime.policies.broker.load:LeastLoaded",
        "The lowest load: cores in use and asked for, over the cluster's cores.",
    ),
    Entry(
        "broker",
        "most-free",
        "walltime.policies.broker.load:MostFree",
        "The most free cores, less those that jobs waiting there ask for.",
    ),
    Entry("broker", "shortest-queue", "walltime.policies.broker.load:ShortestQueue", "The fewest waiting jobs."),
    Entry(
        "broker",
        "earliest-start",
        "walltime.policies.broker.start:EarliestStart",
        "The earliest start that a cluster predicts, by its own plan.",
    ),
    Entry("broker", "fastest", "walltime.policies.broker.speed:Fastest", "The highest speed of its cores."),
    Entry(
        "broker",
        "weighted",
        "walltime.policies.broker.weighted:Weighted",
        "The best by several criteria, each with a weight.",
    ),
    Entry("rhythm", "instant", "", "One pass after everything that happens at an instant."),
    Entry("rhythm", "event", "", "A pass after every single event, as some other simulators do."),
    Entry(
        "rhythm",
        "periodic",
        "walltime.policies.rhythm.periodic:Periodic",
        "A main pass on events and every so often, a backfill pass every so often, as Slurm has them.",
        "Slurm's documentation of SchedulerParameters",
    ),
    Entry(
        "rhythm",
        "slurm",
        "walltime.policies.rhythm.slurm:Slurm",
        "The main pass and the backfill cycle of Slurm's controller, with its own rules and keywords, on nodes.",
        "Slurm's documentation of SchedulerParameters; its sources, release 22.05",
    ),
    Entry(
        "execution", "trace", "walltime.execution.trace:TraceExecution", "A job runs for as long as the workload says."
    ),
    Entry(
        "execution",
        "processor-sharing",
        "walltime.execution.sharing:ProcessorSharing",
        "The tasks of a node share its cores evenly, without slices: the limit of round robin.",
        "Kleinrock 1967",
    ),
    Entry(
        "execution",
        "time-shared",
        "walltime.execution.roundrobin:TimeShared",
        "The tasks of a node take turns of one quantum on its cores: round robin.",
        "Santoso et al. 2003",
    ),
    Entry(
        "execution",
        "gang",
        "walltime.execution.gang:Gang",
        "All tasks of a job run at the same time, in slots that jobs share: gang scheduling.",
        "Ousterhout 1982",
    ),
    Entry(
        "execution",
        "programs",
        "walltime.execution.programs:Programs",
        "Jobs are programs that compute, communicate and use disks: their run times emerge.",
        "Makogon 2024",
    ),
    Entry(
        "users", "give-up", "walltime.policies.users.impatience:GiveUp", "Cancels a job that has not started in time."
    ),
    Entry(
        "users",
        "stop-at-limit",
        "walltime.policies.users.restraint:StopAtLimit",
        "Submits no more while the user has so many jobs in the system.",
    ),
    Entry(
        "users",
        "abandon",
        "walltime.policies.users.restraint:Abandon",
        "Does not submit at all while jobs wait for too long.",
    ),
    Entry(
        "users",
        "other-queue",
        "walltime.policies.users.requests:OtherQueue",
        "Goes to the queue in which jobs wait least.",
    ),
    Entry(
        "users",
        "ask-for-less",
        "walltime.policies.users.requests:AskForLess",
        "Asks for less time, as the user's last jobs ran.",
    ),
    Entry(
        "users",
        "other-site",
        "walltime.policies.users.requests:OtherSite",
        "Goes to the cluster on which jobs wait least.",
    ),
    Entry(
        "users",
        "fewer-cores",
        "walltime.policies.users.requests:FewerCores",
        "Asks for fewer cores, where the job would end sooner.",
    ),
    Entry(
        "users",
        "split",
        "walltime.policies.users.division:Split",
        "Makes several jobs of one that is long or wide.",
    ),
    Entry(
        "users",
        "merge",
        "walltime.policies.users.division:Merge",
        "Makes one job of several short ones.",
    ),
    Entry(
        "optimise",
        "random-search",
        "walltime.policies.optimise.search:RandomSearch",
        "A job goes to another place in the sequence; what is better is kept.",
        _PLANS,
    ),
    Entry(
        "optimise",
        "gap-search",
        "walltime.policies.optimise.search:GapSearch",
        "A job goes to a gap or changes places; what is better is kept.",
        _PLANS,
    ),
    Entry(
        "optimise",
        "tabu",
        "walltime.policies.optimise.tabu:Tabu",
        "Gap search that leaves the jobs alone that were tried last.",
        "Glover 1989",
    ),
    Entry(
        "optimise",
        "annealing",
        "walltime.policies.optimise.annealing:Annealing",
        "Keeps what is worse too, less and less often.",
        "Kirkpatrick, Gelatt, Vecchi 1983",
    ),
    Entry(
        "optimise",
        "neighbourhoods",
        "walltime.policies.optimise.neighbourhoods:Neighbourhoods",
        "A few jobs are put back in the best of all orders.",
        "Shaw 1998",
    ),
    Entry(
        "optimise",
        "cp-sat",
        "walltime.policies.optimise.solver:CpSat",
        "The order of the best starts that a constraint solver finds.",
        "Perron, Furnon 2011 (OR-Tools)",
    ),
    Entry("objective", "wait", "walltime.policies.optimise.objectives:Wait", "Mean wait."),
    Entry("objective", "response", "walltime.policies.optimise.objectives:Response", "Mean response time."),
    Entry("objective", "slowdown", "walltime.policies.optimise.objectives:BoundedSlowdown", "Mean bounded slowdown."),
    Entry(
        "objective", "makespan", "walltime.policies.optimise.objectives:Makespan", "The time until the last job ends."
    ),
    Entry(
        "objective", "tardiness", "walltime.policies.optimise.objectives:Tardiness", "Mean time behind the deadlines."
    ),
    Entry(
        "objective",
        "missed-deadlines",
        "walltime.policies.optimise.objectives:MissedDeadlines",
        "The share of jobs that end behind their deadlines.",
    ),
    Entry(
        "objective",
        "fairness",
        "walltime.policies.optimise.objectives:Fairness",
        "How unequal users' waits are, each over the user's processor time.",
        _FAIRNESS,
    ),
    Entry(
        "objective",
        "utilization",
        "walltime.policies.optimise.objectives:Utilization",
        "The share of the machine that is left unused.",
    ),
    Entry(
        "objective",
        "satisfaction",
        "walltime.policies.optimise.objectives:Satisfaction",
        "How much longer users wait than they tolerate.",
    ),
    Entry(
        "operator",
        "cluster",
        "walltime.policies.optimise.operators:OtherCluster",
        "The job goes to the earliest gap of another cluster.",
    ),
    Entry("operator", "earliest", "walltime.policies.optimise.operators:Earliest", "The job goes to the earliest gap."),
    Entry("operator", "gap", "walltime.policies.optimise.operators:Gap", "The job goes to a gap that is drawn."),
    Entry("operator", "swap", "walltime.policies.optimise.operators:Swap", "Two jobs change places."),
    Entry(
        "operator",
        "queue",
        "walltime.policies.optimise.operators:OtherQueue",
        "The job goes to the earliest gap in another queue that it names.",
    ),
    Entry(
        "operator",
        "sequence",
        "walltime.policies.optimise.operators:Sequence",
        "The job goes to another place in the sequence; all behind are placed again.",
    ),
    Entry("operator", "user", "walltime.policies.optimise.operators:SameUser", "All jobs of a user are placed again."),
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
    Preset("sjf", {"order": "sjf", "backfill": "easy"}, "Shortest job first, with EASY backfilling."),
    Preset("ljf", {"order": "ljf", "backfill": "easy"}, "Longest job first, with EASY backfilling."),
    Preset("smallest", {"order": "smallest", "backfill": "easy"}, "Fewest cores first, with EASY backfilling."),
    Preset("largest", {"order": "largest", "backfill": "easy"}, "Most cores first, with EASY backfilling."),
    Preset(
        "fairshare",
        {"order": "fairshare", "backfill": "easy"},
        "Fair share between users, with EASY backfilling.",
        _FAIR,
    ),
    Preset(
        "fair-tree",
        {"order": {"name": "fairshare", "formula": "fair-tree"}, "backfill": "easy"},
        "Fair share by Slurm's Fair Tree, with EASY backfilling.",
        "Slurm's documentation of Fair Tree",
    ),
    Preset("wfp3", {"order": "wfp3", "backfill": "easy"}, "WFP3, with EASY backfilling.", _TANG),
    Preset("unicef", {"order": "unicef", "backfill": "easy"}, "UNICEF, with EASY backfilling.", _TANG),
    *(
        Preset(name, {"order": name, "backfill": "easy"}, f"The learned function {name.upper()}, with EASY.", _LEARNED)
        for name in ("f1", "f2", "f3", "f4")
    ),
    Preset(
        "easy-sjbf",
        {"order": "fcfs", "backfill": {"name": "easy", "candidates": "sjf"}},
        "EASY that lets the shortest jobs overtake first.",
        _TSAFRIR,
    ),
    Preset(
        "easy++",
        {"order": "fcfs", "backfill": {"name": "easy", "candidates": "sjf"}, "estimate": "last-two"},
        "easy-sjbf with estimates from the users' last two jobs.",
        _TSAFRIR,
    ),
    Preset("lookahead", {"order": "fcfs", "backfill": "lookahead"}, "EASY that packs best.", _LOS),
)
