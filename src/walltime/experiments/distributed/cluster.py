"""Which Dask cluster runs are sent to: one that has an address, or one that is started for the sweep."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from walltime.core.errors import InputError
from walltime.experiments.runner import count_cores

if TYPE_CHECKING:
    from distributed import Client

KINDS = ("local", "slurm", "pbs")
"""Clusters that are started; anything else is an address."""
JOBS = 10
"""Jobs of a batch system that are asked for where `--workers` says nothing."""
MEMORY = "2 GB"
"""Of a worker in a batch system, where Dask's own configuration says nothing."""
CONNECT = 10.0
"""Seconds in which a scheduler has to answer."""


class DaskCluster:
    """A Dask cluster. `connect` gives a client of it, as often as it is asked."""

    def __init__(self, place: str, workers: int | None) -> None:
        _require("distributed", place)
        _silence()
        self.place = place
        self._started: Any = None
        if place in KINDS:
            self._started = _START[place](workers)
        elif ":" not in place:
            raise InputError("--dask takes the address of a Dask scheduler, or a kind", value=place, choices=KINDS)

    def connect(self, timeout: float = CONNECT) -> Client:
        """A client; raises InputError where no scheduler answers."""
        from distributed import Client

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # other versions of libraries: each worker looks itself
                return Client(self._started or self.place, timeout=timeout, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(f"no Dask scheduler answers here ({_first_line(error)})", value=self.place) from None

    def close(self) -> None:
        """End what was started for the sweep."""
        if self._started is not None:
            self._started.close(timeout=5)


def _start_local(workers: int | None) -> Any:
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=workers or count_cores(),
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    )


def _start_jobs(kind: str) -> Callable[[int | None], Any]:
    def start(workers: int | None) -> Any:
        cluster = make_job_cluster(kind)
        cluster.scale(jobs=workers or JOBS)
        return cluster

    return start


def make_job_cluster(kind: str) -> Any:
    """A cluster whose workers are jobs of Slurm or PBS; none is submitted yet.

    What Dask's configuration file says of `jobqueue` holds (account, queue, cores, memory, walltime); without it a job
    is one worker on one core.
    """
    _require("dask_jobqueue", kind)
    import dask
    from dask_jobqueue import PBSCluster, SLURMCluster

    known = dask.config.get(f"jobqueue.{kind}", {})
    given: dict[str, Any] = {"cores": 1, "processes": known.get("cores") or 1, "memory": MEMORY}
    wanted = {key: value for key, value in given.items() if not known.get(key) or key == "processes"}
    try:
        return {"slurm": SLURMCluster, "pbs": PBSCluster}[kind](**wanted)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"no Dask cluster can be made of {kind} jobs ({_first_line(error)})") from None


_START: dict[str, Callable[[int | None], Any]] = {
    "local": _start_local,
    "slurm": _start_jobs("slurm"),
    "pbs": _start_jobs("pbs"),
}


def _require(module: str, value: str) -> None:
    """Raise InputError with the line that installs it, where a library is missing."""
    import importlib.util

    if importlib.util.find_spec(module) is None:
        name = module.replace("_", "-")
        raise InputError(f"--dask needs {name}: pip install 'walltime[distributed]'", value=value)


def _silence() -> None:
    """Keep Dask from writing of lost connections, with tracebacks: what is lost is told by the runner.

    Dask sets the levels of its loggers when it is imported, so that has to come first.
    """
    import distributed

    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in (distributed.__name__, "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.getLogger("asyncio").addFilter(_is_not_of_dask)


def _is_not_of_dask(record: logging.LogRecord) -> bool:
    """Whether a line of asyncio's log is of something else than Dask's connections."""
    kind = record.exc_info[0] if record.exc_info else None
    where = record.getMessage() if kind is None else kind.__module__
    return "distributed" not in where and "tornado" not in where


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
