"""The compiled modules. All else is in pyproject.toml, which cannot say "compile these .py files with Cython"."""

import glob
import os
import sys

from Cython.Build import cythonize
from Cython.Compiler import Options
from setuptools import Extension, setup

COMPILED = [
    "workload.formats.swf_scan",
    "workload.formats.sacct_fields",
    "workload.formats.sacct_scan",
    "kernel.heap",
    "kernel.jobs",
    "kernel.outlook",
    "kernel.profile",
    "kernel.ledger",
    "kernel.chains",
    "kernel.sorting",
    "kernel.usage",
    "kernel.index",
    "kernel.queue",
    "kernel.scan",
    "kernel.quotas",
    "kernel.lines",
    "kernel.plan",
    "kernel.forecast",
    "kernel.pool",
    "kernel.place",
    "kernel.shares",
    "kernel.occupancy",
    "kernel.nodes",
    "kernel.timelines",
    "kernel.foresight",
    "kernel.inventory",
    "kernel.counted",
    "kernel.future",
    "kernel.resources",
    "kernel.source",
    "policy.api",
    "policy.views",
    "policy.clusters",
    "policy.preempt",
    "policies.order.fcfs",
    "policies.order.length",
    "policies.order.size",
    "policies.order.area",
    "policies.order.deadline",
    "policies.order.priority",
    "policies.order.expansion",
    "policies.order.wfp3",
    "policies.order.unicef",
    "policies.order.learned",
    "policies.order.elementary",
    "policies.fairshare.tree",
    "policies.fairshare.share",
    "policies.order.fairshare",
    "policies.order.multifactor",
    "policies.estimate.request",
    "policies.estimate.perfect",
    "policies.estimate.factor",
    "policies.estimate.last_two",
    "policies.backfill.none",
    "policies.backfill.candidates",
    "policies.backfill.aggressive",
    "policies.backfill.easy",
    "policies.backfill.depth",
    "policies.backfill.lookahead",
    "policies.backfill.conservative",
    "policies.rhythm.periodic",
    "policies.preempt.queue",
    "policies.preempt.qos",
    "policies.place.first_fit",
    "policies.place.best_fit",
    "policies.place.worst_fit",
    "policies.place.contiguous",
    "policies.place.even",
    "policies.place.round_robin",
    "policies.place.random",
    "policies.place.topology",
    "policies.broker.first",
    "policies.broker.random",
    "policies.broker.round_robin",
    "policies.broker.load",
    "policies.broker.speed",
    "policies.broker.start",
    "execution.model",
    "execution.trace",
    "execution.agenda",
    "execution.lists",
    "execution.tasktable",
    "execution.tasks",
    "execution.sharing",
    "execution.line",
    "execution.roundrobin",
    "execution.gang",
    "analysis.charts.lanes",
    "engine.recorder",
    "engine.sources",
    "engine.dependencies",
    "engine.door",
    "engine.victims",
    "engine.displacement",
    "engine.workflow_order",
    "engine.cluster",
    "engine.migration",
    "engine.dispatch",
    "engine.loop",
    "engine.arrivals",
]
LIMITED = os.environ.get("WALLTIME_ABI3") == "1"  # one wheel for every Python from 3.11 on, a fifth slower
CHECKED = os.environ.get("WALLTIME_CHECKED") == "1"  # the second test build: bounds, overflow and None are checked
SHARED = "walltime._cyutility"  # memoryview code once, instead of a megabyte of C in every module
JOBS = os.cpu_count() or 1
Options.warning_errors = True  # Cython's warnings; the C compiler's are its own business
DIRECTIVES = {
    "language_level": 3,
    "infer_types": True,
    "embedsignature": True,
    "binding": False,  # a method that is called with a wrong self is refused, and not believed
    "boundscheck": CHECKED,
    "wraparound": CHECKED,
    "initializedcheck": CHECKED,
    "cdivision": not CHECKED,
    "overflowcheck": CHECKED,
    "nonecheck": CHECKED,
}


def extension(name: str, source: str) -> Extension:
    return Extension(
        name,
        [source],
        define_macros=[("Py_LIMITED_API", "0x030B0000"), ("CYTHON_LIMITED_API", "1")] if LIMITED else [],
        py_limited_api=LIMITED,
        # No fused multiply-add: keys that are computed must round alike on every machine, and in plain Python.
        extra_compile_args=["-O1" if CHECKED else "-O3", "-g0", "-ffp-contract=off", "-Werror=int-conversion"],
    )


modules = [extension(f"walltime.{name}", f"src/walltime/{name.replace('.', '/')}.py") for name in COMPILED]
modules.append(extension(SHARED, "src/walltime/_cyutility.c"))
extensions = cythonize(
    modules,
    compiler_directives=DIRECTIVES,
    include_path=["src"],
    shared_utility_qualified_name=SHARED,
    build_dir="build/c-checked" if CHECKED else "build/c",
    nthreads=JOBS if sys.platform == "linux" else 0,
)
# Not a module: a shared library that is preloaded into Slurm's controller. Built as one so that wheels carry it.
vtime = Extension(
    "walltime.slurm.libvtime",
    sorted(glob.glob("src/walltime/slurm/vtime/*.c")),
    depends=["src/walltime/slurm/vtime/vtime.h"],
    extra_compile_args=["-O2", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra"],
)
options = {"build_ext": {"parallel": JOBS}} | ({"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {})
setup(ext_modules=[*extensions, vtime], options=options)
