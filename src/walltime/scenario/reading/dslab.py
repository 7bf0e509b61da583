"""DSLab's configuration (`workload` as a list of types, `hosts`, `scheduler`, `network`, `monitoring`) as a scenario.

What it leaves open is decided so: jobs start in order of submission, and one that does not fit is passed by, as DSLab's
own schedulers do. Amounts of memory are taken as bytes, whatever they were meant to be: hosts and jobs have the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from walltime.core.errors import InputError
from walltime.core.source import KeyPath, SourceData
from walltime.workload.formats.hosts import read_machine_events

_KEYS = ("workload", "hosts", "trace_hosts", "scheduler", "network", "monitoring")
_HOST = (
    *("name", "name_prefix", "count", "cpus", "memory", "cpu_speed", "disk_capacity", "disk_read_bw", "disk_write_bw"),
    *("local_newtork_bw", "local_newtork_latency", "local_network_bw", "local_network_latency"),
)
_MONITORING = (
    *("host_load_compression_time_interval", "scheduler_queue_compression_time_interval", "display_host_load"),
    *("collect_user_queues", "host_logs_file_name", "scheduler_queue_logs_file_name", "fair_share_logs_file_name"),
    *("collect_executions_scheduled_time", "output_dir"),
)
_NETWORK = ("type", "local", "global", "uplink", "downlink", "switch", "l1_switch_count", "l2_switch_count")
_MOST_CHOICES = 10_000


def is_dslab_configuration(data: Any) -> bool:
    """Whether a YAML file is DSLab's configuration: it has hosts, or workloads with a type."""
    if not isinstance(data, dict) or set(data) - set(_KEYS):
        return False
    listed = data.get("workload")
    typed = isinstance(listed, list) and any(isinstance(item, dict) and "type" in item for item in listed)
    return typed or "hosts" in data or "trace_hosts" in data


def translate(source: SourceData) -> SourceData:
    """The scenario that a configuration means; raises InputError with the line of what is wrong."""
    return SourceData(_Configuration(source).scenario(), source.file)


class _Configuration:
    """The configuration's values, each looked at once."""

    def __init__(self, source: SourceData) -> None:
        self.source, self.data = source, source.data
        self.profiles: list[str] = []
        self.programs = False

    def wrong(self, key_path: KeyPath, what: str, value: Any = None, choices: tuple[str, ...] = ()) -> InputError:
        return InputError(what, value=value, file=self.source.file, line=self.source.line(key_path), choices=choices)

    def mapping(self, value: Any, key_path: KeyPath, keys: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.wrong(key_path, f"{key_path[-1]} has to be a mapping", value)
        for key in value:
            if key not in keys:
                raise self.wrong((*key_path, key), f"DSLab's {key_path[0]} has no such key", key, keys)
        return {key: item for key, item in value.items() if item is not None}

    def number(self, value: Any, key_path: KeyPath, least: float = 0.0) -> float:
        given = value
        if isinstance(value, str):  # YAML takes 1e6 for a text
            try:
                value = float(value)
            except ValueError:
                value = None
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < 1e15:
            raise self.wrong(key_path, f"{key_path[-1]} has to be a number from {least:g}", given)
        return value

    def whole(self, value: Any, key_path: KeyPath, least: int = 1) -> int:
        found = self.number(value, key_path, least)
        if found != int(found):
            raise self.wrong(key_path, f"{key_path[-1]} has to be a whole number", value)
        return int(found)

    def scenario(self) -> dict[str, Any]:
        workload = self.workloads()
        cluster: dict[str, Any] = {"nodes": self.nodes(), "scheduler": self.scheduler()}
        if self.data.get("network") is not None:
            cluster["network"] = self.network()
        made: dict[str, Any] = {"workload": workload, "cluster": cluster}
        if self.programs:
            made["execution"] = {"model": {"name": "programs", "flops": self.flops()}}
            if self.profiles:
                made["execution"]["profiles"] = self.profiles[0]
        elif "network" in cluster:
            del cluster["network"]  # jobs that only wait send nothing
        if self.data.get("monitoring") is not None:
            made["record"] = self.record()
        return made

    # ---- workloads

    def workloads(self) -> list[dict[str, Any]]:
        listed = self.data.get("workload")
        if not isinstance(listed, list) or not listed:
            raise self.wrong(("workload",), "workload has to be a list of workloads, each with a type", listed)
        types: dict[str, Callable[[dict[str, Any], KeyPath], dict[str, Any]]] = {
            "native": self.native,
            "random": self.random,
            "google": self.google,
            "alibaba": self.alibaba,
            "swf": self.swf,
        }
        found = []
        for number, item in enumerate(listed):
            key_path: KeyPath = ("workload", number)
            given = self.mapping(item, key_path, ("type", "path", "options"))
            kind = given.get("type")
            if not isinstance(kind, str) or kind.lower() not in types:
                raise self.wrong((*key_path, "type"), "no type of DSLab's workloads", kind, tuple(types))
            options = given.get("options", {})
            if not isinstance(options, dict):
                raise self.wrong((*key_path, "options"), "options has to be a mapping", options)
            together = options | ({"path": given["path"]} if "path" in given else {})
            found.append(types[kind.lower()](together, (*key_path, "options")))
        return found

    def options(self, given: dict[str, Any], key_path: KeyPath, needed: tuple[str, ...], other: tuple[str, ...]) -> Any:
        """The options of one workload, all of them known and those that it needs there."""
        known = self.mapping(given, key_path, (*needed, *other))
        for key in needed:
            if key not in known:
                raise self.wrong(key_path, f"this workload needs {key}")
        return known

    def path(self, value: Any, key_path: KeyPath) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key_path, f"{key_path[-1]} has to be the path of a file", value)
        return value

    def native(self, given: dict[str, Any], key_path: KeyPath) -> dict[str, Any]:
        known = self.options(given, key_path, ("path",), ("profiles_path", "profile_path", "collections_path"))
        self.programs = True
        for key in ("profiles_path", "profile_path"):
            if key in known:
                self.profiles.append(self.path(known[key], (*key_path, key)))
        if len(set(self.profiles)) > 1:
            raise self.wrong(key_path, "two workloads have profiles of two files; put them into one", self.profiles[-1])
        made = {"trace": self.path(known["path"], (*key_path, "path")), "format": "dslab"}
        if "collections_path" in known:
            made["collections"] = self.path(known["collections_path"], (*key_path, "collections_path"))
        return made

    def swf(self, given: dict[str, Any], key_path: KeyPath) -> dict[str, Any]:
        known = self.options(given, key_path, ("path",), ())
        return {"trace": self.path(known["path"], (*key_path, "path")), "format": "swf"}

    def google(self, given: dict[str, Any], key_path: KeyPath) -> dict[str, Any]:
        other = ("collections_path", "resources_multiplier", "time_scale")
        known = self.options(given, key_path, ("instances_path",), other)
        if self.number(known.get("time_scale", 1e6), (*key_path, "time_scale")) != 1e6:
            raise self.wrong((*key_path, "time_scale"), "times of Google's trace are microseconds", known["time_scale"])
        made = {"trace": self.path(known["instances_path"], (*key_path, "instances_path")), "format": "google"}
        if "collections_path" in known:
            made["collections"] = self.path(known["collections_path"], (*key_path, "collections_path"))
        if "resources_multiplier" in known:
            times = self.whole(known["resources_multiplier"], (*key_path, "resources_multiplier"))
            made["host"] = f"{times}x{times}"
        return made

    def alibaba(self, given: dict[str, Any], key_path: KeyPath) -> dict[str, Any]:
        known = self.options(given, key_path, ("batch_instance",), ("resource_multiplier",))
        made = {"trace": self.path(known["batch_instance"], (*key_path, "batch_instance")), "format": "alibaba"}
        if "resource_multiplier" in known:
            times = self.number(known["resource_multiplier"], (*key_path, "resource_multiplier"), 1)
            made["host"] = f"9600x{math.ceil(times * 100)}"
        return made

    def random(self, given: dict[str, Any], key_path: KeyPath) -> dict[str, Any]:
        """Gaps, cpus and memory are uniform, lengths normal and at least a second."""
        if "jobs_count" in given and "execution_count" not in given:
            given = given | {"execution_count": given["jobs_count"]}
        ranges = tuple(f"{name}_{end}" for name in ("cpu", "memory", "delay") for end in ("min", "max"))
        needed = ("execution_count", *ranges, "duration_mean", "duration_dev")
        other = ("jobs_count", "start_time", "nodes_count_min", "nodes_count_max", "user", "collection_id")
        known = self.options(given, key_path, needed, other)
        for key in ("nodes_count_min", "nodes_count_max"):
            if known.get(key, 1) != 1:
                raise self.wrong((*key_path, key), "random jobs are of one host", known[key])
        numbers = {key: self.number(known[key], (*key_path, key)) for key in needed}
        kind: dict[str, Any] = {
            "tasks": self.integers(numbers, "cpu", key_path),
            "memory": self.integers(numbers, "memory", key_path),
            "nodes": 1,
            "work": {
                "name": "normal",
                "mean": numbers["duration_mean"],
                "sd": numbers["duration_dev"],
                "minimum": 1,
            },
        }
        if numbers["duration_dev"] == 0:
            kind["work"] = max(1, numbers["duration_mean"])
        if known.get("user") is not None:
            kind["user"] = str(known["user"])
        low, high = numbers["delay_min"], numbers["delay_max"]
        gap: Any = {"name": "uniform", "low": low, "high": high} if low < high else low
        made = {"jobs": self.whole(known["execution_count"], (*key_path, "execution_count")), "arrivals": gap}
        if known.get("start_time"):
            made["begin"] = self.number(known["start_time"], (*key_path, "start_time"))
        return {"synthetic": made | {"types": {kind.get("user", "random"): kind}}}

    def integers(self, numbers: dict[str, float], name: str, key_path: KeyPath) -> Any:
        """Whole numbers of a range, each as likely."""
        low, high = (self.whole(numbers[f"{name}_{end}"], (*key_path, f"{name}_{end}"), 0) for end in ("min", "max"))
        if low > high:
            raise self.wrong((*key_path, f"{name}_min"), f"{name}_min is above {name}_max", low)
        if low == high:
            return low
        if high - low < _MOST_CHOICES:
            return {"name": "empirical", "values": list(range(low, high + 1))}
        return {"name": "uniform", "low": max(0.0, low - 0.5), "high": high + 0.5}

    # ---- the machine

    def nodes(self) -> list[dict[str, Any]]:
        found = []
        hosts = self.data.get("hosts") or []
        if not isinstance(hosts, list):
            raise self.wrong(("hosts",), "hosts has to be a list of groups of hosts", hosts)
        for number, item in enumerate(hosts):
            found.append(self.group(self.mapping(item, ("hosts", number), _HOST), ("hosts", number), number))
        if self.data.get("trace_hosts") is not None:
            key_path: KeyPath = ("trace_hosts",)
            given = self.mapping(self.data["trace_hosts"], key_path, ("path", "resources_multiplier"))
            times = self.number(given.get("resources_multiplier", 1), (*key_path, "resources_multiplier"), 1)
            machines = read_machine_events(self.path(given.get("path"), (*key_path, "path")), times)
            for number, ((cores, memory), count) in enumerate(machines.items()):
                found.append({"count": count, "cores": cores, "memory": memory, "name": f"host{number}-"})
        if not found:
            raise self.wrong(("hosts",), "there are no hosts")
        return found

    def group(self, given: dict[str, Any], key_path: KeyPath, number: int) -> dict[str, Any]:
        count = self.whole(given.get("count", 1), (*key_path, "count"))
        name = given.get("name_prefix", given.get("name", f"group{number}-"))
        if not isinstance(name, str) or not name.strip():
            raise self.wrong((*key_path, "name_prefix"), "a host's name has to be a text", name)
        for key in ("cpus", "memory"):
            if key not in given:
                raise self.wrong(key_path, f"a host needs {key}")
        made: dict[str, Any] = {
            "count": count,
            "cores": self.whole(given["cpus"], (*key_path, "cpus")),
            "memory": self.whole(given["memory"], (*key_path, "memory"), 0),
            "name": name.strip(),
        }
        if not self.programs:
            return made
        if "cpu_speed" in given:
            made["speed"] = self.number(given["cpu_speed"], (*key_path, "cpu_speed")) / self.flops()
        if any(key.startswith("disk_") for key in given):
            capacity = {"capacity": self.whole(given["disk_capacity"], (*key_path, "disk_capacity"))} \
                if "disk_capacity" in given else {}  # fmt: skip
            bandwidths = {key: self.number(given.get(f"disk_{key}_bw", 0), (*key_path, f"disk_{key}_bw"))
                          for key in ("read", "write")}  # fmt: skip
            for key, value in bandwidths.items():
                if value <= 0:
                    raise self.wrong(key_path, f"a disk needs disk_{key}_bw, above 0")
            made["disk"] = capacity | bandwidths
        return made

    def flops(self) -> float:
        """What a core of speed 1 does in a second: the first speed of a host that the file tells."""
        hosts = self.data.get("hosts")
        for number, item in enumerate(hosts if isinstance(hosts, list) else ()):
            if isinstance(item, dict) and item.get("cpu_speed") is not None:
                return self.number(item["cpu_speed"], ("hosts", number, "cpu_speed"), 1e-9)
        return 1.0

    def network(self) -> dict[str, Any]:
        given = self.mapping(self.data["network"], ("network",), _NETWORK)
        made = {key: value for key, value in given.items() if key != "global"}
        if "global" in given:
            made["link"] = given["global"]
        return made

    # ---- how it is run

    def scheduler(self) -> dict[str, Any]:
        made: dict[str, Any] = {"order": "fcfs", "backfill": "aggressive"}
        given = self.mapping(self.data.get("scheduler") or {}, ("scheduler",), ("hosts_invoke_interval",))
        if "hosts_invoke_interval" in given:
            key_path: KeyPath = ("scheduler", "hosts_invoke_interval")
            every = math.ceil(self.number(given["hosts_invoke_interval"], key_path, 1e-6))
            made["rhythm"] = {
                "name": "periodic",
                "sched_interval": -1,
                "bf_interval": every,
                "bf_resolution": 1,
                "bf_max_job_test": 1_000_000,
            }
        return made

    def record(self) -> dict[str, Any]:
        given = self.mapping(self.data["monitoring"], ("monitoring",), _MONITORING)
        made: dict[str, Any] = {}
        for key in _MONITORING[:2]:
            if key in given and "interval" not in made:
                made["interval"] = self.number(given[key], ("monitoring", key), 1e-6)
        wanted = {"user": given.get("collect_user_queues") is True, "node": given.get("display_host_load") is True}
        made["by"] = ["queue", *(key for key, chosen in wanted.items() if chosen), "node-group"]
        return made
