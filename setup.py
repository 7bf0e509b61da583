"""The compiled modules. All else is in pyproject.toml, which cannot say "compile these .py files with Cython"."""

import contextlib
import glob
import os
import platform
import shutil
import sys
import sysconfig
import threading
from collections.abc import Iterator
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

COMPILED = [
    "core.codes",
    "core.rounding",
    "workload.formats.swf_scan",
    "workload.formats.sacct.fields",
    "workload.formats.sacct.scan",
    "workload.synthesis.band",
    "kernel.heap",
    "kernel.closed_loop",
    "kernel.jobs",
    "kernel.profiles.blocks",
    "kernel.profiles.free_profile",
    "kernel.profiles.sorted_rows",
    "kernel.profiles.release_profile",
    "kernel.profiles.running_profile",
    "kernel.ledger.interface",
    "kernel.ledger.holds",
    "kernel.ledger.cores",
    "kernel.queue.chains",
    "kernel.queue.sorting",
    "kernel.usage",
    "kernel.queue.bounds",
    "kernel.queue.index",
    "kernel.queue.waiting",
    "kernel.queue.scan",
    "kernel.queue.choices",
    "kernel.quotas",
    "kernel.queue.lines",
    "kernel.profiles.availability",
    "kernel.profiles.sorted_jobs",
    "kernel.profiles.promises",
    "kernel.profiles.offers",
    "kernel.ledger.plan",
    "kernel.ledger.trial",
    "kernel.drafts.draft",
    "kernel.drafts.draft_cores",
    "kernel.drafts.draft_memory",
    "kernel.profiles.node_table",
    "kernel.drafts.draft_base",
    "kernel.drafts.draft_requests",
    "kernel.drafts.draft_table",
    "kernel.drafts.draft_nodes",
    "kernel.ledger.forecast",
    "kernel.ledger.node_pool",
    "kernel.ledger.place",
    "kernel.ledger.shares",
    "kernel.profiles.kept",
    "kernel.profiles.remembered",
    "kernel.profiles.timelines",
    "kernel.profiles.node_starts",
    "kernel.profiles.room_sweep",
    "kernel.profiles.plan_table",
    "kernel.ledger.inventory",
    "kernel.ledger.set_profiles",
    "kernel.ledger.set_bounds",
    "kernel.ledger.counted",
    "kernel.ledger.future",
    "kernel.ledger.recalling",
    "kernel.profiles.node_space",
    "kernel.ledger.fitting",
    "kernel.ledger.choosing",
    "kernel.ledger.naming",
    "kernel.ledger.holding",
    "kernel.ledger.resources",
    "kernel.source",
    "programs.sharing",
    "programs.activities",
    "programs.platform",
    "programs.program",
    "programs.steps",
    "policy.api",
    "policy.views",
    "policy.clusters",
    "policy.preempt",
    "policy.optimise",
    "policies.order.fcfs",
    "policies.order.length",
    "policies.order.size",
    "policies.order.drf",
    "policies.order.area",
    "policies.order.deadline",
    "policies.order.priority",
    "policies.order.urgency",
    "policies.order.expansion",
    "policies.order.wfp3",
    "policies.order.unicef",
    "policies.order.learned",
    "policies.order.elementary",
    "policies.fairshare.tree",
    "policies.fairshare.share",
    "policies.order.fairshare",
    "policies.order.job_size",
    "policies.order.multifactor",
    "policies.estimate.request",
    "policies.estimate.perfect",
    "policies.estimate.factor",
    "policies.estimate.last_two",
    "policies.backfill.none",
    "policies.backfill.candidates",
    "policies.backfill.aggressive",
    "policies.backfill.tetris",
    "policies.backfill.easy",
    "policies.backfill.depth",
    "policies.backfill.lookahead",
    "policies.backfill.conservative",
    "policies.optimise.objectives",
    "policies.optimise.operators",
    "policies.optimise.search",
    "policies.optimise.tabu",
    "policies.optimise.annealing",
    "policies.optimise.neighbourhoods",
    "policies.backfill.plan",
    "policies.rhythm.periodic",
    "policies.rhythm.soonest",
    "policies.rhythm.will_run",
    "policies.rhythm.chance",
    "policies.rhythm.slurm_cycle",
    "policies.rhythm.slurm",
    "policies.preempt.queue",
    "policies.preempt.qos",
    "policies.place.first_fit",
    "policies.place.best_fit",
    "policies.place.worst_fit",
    "policies.place.contiguous",
    "policies.place.consecutive",
    "policies.place.even",
    "policies.place.round_robin",
    "policies.place.random",
    "policies.place.topology",
    "policies.broker.first",
    "policies.broker.random",
    "policies.broker.round_robin",
    "policies.broker.best",
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
    "execution.run_queue",
    "execution.roundrobin",
    "execution.gang",
    "execution.programs",
    "analysis.cells",
    "analysis.charts.schedule.lanes",
    "engine.recording.recorder",
    "engine.recording.columns",
    "engine.watching.watcher",
    "engine.sources",
    "engine.dependencies",
    "engine.brokering.assignments",
    "engine.disruptions.victims",
    "engine.disruptions.preemption",
    "engine.workflow_order",
    "engine.warm_start",
    "engine.domain",
    "engine.cluster",
    "engine.scheduling",
    "engine.brokering.joint_draft",
    "engine.brokering.joint_plan",
    "engine.brokering.migration",
    "engine.brokering.dispatch",
    "engine.ending",
    "engine.life",
    "engine.loop",
    "engine.arrivals",
    "engine.users",
]
LATER = os.environ.get("WALLTIME_COMPILE") == "0"  # the set-up of a clone: installed first, compiled by `make build`
LIMITED = os.environ.get("WALLTIME_ABI3") == "1"  # one wheel for every Python from 3.11 on, a fifth slower
CHECKED = os.environ.get("WALLTIME_CHECKED") == "1"  # the second test build: bounds, overflow and None are checked
if CHECKED and "--inplace" in sys.argv:  # it would be taken for the fast build, and measured as one
    raise SystemExit("WALLTIME_CHECKED=1 is for build/checked alone: make checked sets it itself")
WORN = ("walltime.kernel.", "walltime.engine.", "walltime.policy.")  # what every run spends its time in
SHARED = "walltime._cyutility"  # memoryview code once, instead of a megabyte of C in every module
ROOT = Path(__file__).resolve().parent
TRANSLATED = Path("build/c-checked" if CHECKED else "build/c")
JOBS = os.cpu_count() or 1
DIRECTIVES = {
    "language_level": 3,
    "infer_types": True,
    "embedsignature": True,
    "auto_pickle": False,  # no compiled object leaves its process; a third of the C code was for that
    "show_performance_hints": False,
    "binding": False,  # a method that is called with a wrong self is refused, and not believed
    "boundscheck": CHECKED,
    "wraparound": CHECKED,
    "initializedcheck": CHECKED,
    "cdivision": not CHECKED,
    "overflowcheck": CHECKED,
    "nonecheck": CHECKED,
}


class Build(build_ext):
    """Compiles the largest modules first, says how far it is, and puts each in its place when it is whole.

    A linker that is killed leaves half a file, which is newer than its source: it would be taken for current.
    """

    def build_extensions(self) -> None:
        self.extensions.sort(key=lambda extension: -sum(map(os.path.getsize, extension.sources)))
        stale = sum(map(self._is_stale, self.extensions))
        if stale:
            print(f"walltime: compiling {stale} modules on {JOBS} cores", flush=True)
            told = _Progress(stale)
            link = self.compiler.link_shared_object

            def link_whole(objects: list[str], path: str, *rest: object, **named: object) -> None:
                with _whole(path) as part:
                    link(objects, part, *rest, **named)
                told.step()

            self.compiler.link_shared_object = link_whole
        super().build_extensions()

    def copy_file(self, source: str, target: str, **named: object) -> tuple[str, bool]:
        """The copy beside the sources, from which a clone runs."""
        if os.path.exists(target) and os.path.getmtime(source) <= os.path.getmtime(target):
            return target, False
        with _whole(target) as part:
            super().copy_file(source, part, **named)
        return target, True

    def _is_stale(self, extension: Extension) -> bool:
        """As setuptools sees it: there is no such module, or one that is older than what it is made of."""
        made = Path(self.get_ext_fullpath(extension.name))
        sources = [*extension.sources, *extension.depends]
        return self.force or not made.exists() or any(os.path.getmtime(name) > made.stat().st_mtime for name in sources)


@contextlib.contextmanager
def _whole(path: str) -> Iterator[str]:
    """Another name to write a file under, until all of it is there."""
    part = f"{path}.{os.getpid()}.part"
    try:
        yield part
        os.replace(part, path)
    finally:
        Path(part).unlink(missing_ok=True)


class _Progress:
    """Says how many of the modules are done, a few times."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.lock = total, 0, threading.Lock()

    def step(self) -> None:
        with self.lock:
            before, self.done = self.done * 5 // self.total, self.done + 1
            if self.done * 5 // self.total > before and self.done < self.total:
                print(f"walltime: {self.done} of {self.total}", flush=True)


# Scheduled for what x86 processors have been since 2013, and run by all of them: 1 to 3 % less time. The compiler of
# tools/wheels.py takes no such words.
HERE = not CHECKED and platform.machine() == "x86_64" and "ziglang" not in os.environ.get("CC", "")
TUNED = ["-fno-plt", "-fno-semantic-interposition", "-falign-functions=32", "-mtune=haswell"] if HERE else []


def extension(name: str, source: str) -> Extension:
    # With -O1 outside the kernel a run takes a sixth longer, and the build a third less.
    level = "-O3" if not CHECKED else "-O1" if name.startswith(WORN) else "-O0"
    return Extension(
        name,
        [source],
        define_macros=[("Py_LIMITED_API", "0x030B0000"), ("CYTHON_LIMITED_API", "1")] if LIMITED else [],
        py_limited_api=LIMITED,
        # No fused multiply-add: keys that are computed must round alike on every machine, and in plain Python.
        extra_compile_args=[level, "-g0", "-ffp-contract=off", "-Werror=int-conversion", *TUNED],
    )


def translate() -> list[Extension]:
    """The modules as C. Where the last translation was cut off, all of it is made again: a file may be half written."""
    from Cython.Build import cythonize
    from Cython.Compiler import Options

    Options.warning_errors = True  # Cython's warnings; the C compiler's are its own business
    modules = [extension(f"walltime.{name}", f"src/walltime/{name.replace('.', '/')}.py") for name in COMPILED]
    modules.append(extension(SHARED, "src/walltime/_cyutility.c"))
    unfinished = TRANSLATED / ".unfinished"
    cut_off = unfinished.exists()
    if cut_off or not TRANSLATED.exists():
        print(f"walltime: translating {len(modules)} modules to C", flush=True)
    TRANSLATED.mkdir(parents=True, exist_ok=True)
    unfinished.touch()
    made = cythonize(
        modules,
        compiler_directives=DIRECTIVES,
        include_path=["src"],
        shared_utility_qualified_name=SHARED,
        build_dir=str(TRANSLATED),
        nthreads=JOBS if sys.platform == "linux" else 0,
        force=cut_off or None,
        quiet=True,
    )
    unfinished.unlink()
    return list(made)


def use_ccache() -> None:
    """Compile through ccache where it is installed; clones in different folders share what it keeps."""
    if "CC" not in os.environ and shutil.which("ccache"):
        os.environ["CC"] = f"ccache {sysconfig.get_config_var('CC') or 'cc'}"
        os.environ.setdefault("CCACHE_BASEDIR", str(ROOT))
        os.environ.setdefault("CCACHE_NOHASHDIR", "1")


use_ccache()
# Not a module: a shared library that is preloaded into Slurm's controller. Built as one so that wheels carry it.
vtime = Extension(
    "walltime.slurm.libvtime",
    sorted(glob.glob("src/walltime/slurm/vtime/*.c")),
    depends=sorted(glob.glob("src/walltime/slurm/vtime/*.h")),
    py_limited_api=LIMITED,  # it has nothing of Python; under this name every Python finds it
    extra_compile_args=["-O2", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra"],
)
options = {"build_ext": {"parallel": JOBS}} | ({"bdist_wheel": {"py_limited_api": "cp311"}} if LIMITED else {})
setup(ext_modules=[] if LATER else [*translate(), vtime], cmdclass={"build_ext": Build}, options=options)
