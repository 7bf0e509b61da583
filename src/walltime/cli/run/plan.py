"""From the options of `walltime run` to the scenarios to simulate; mistakes are found here, before any long work."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.cli.trace import LogOptions
from walltime.core.dates import is_date
from walltime.core.errors import InputError
from walltime.core.time import parse_duration, seconds

if TYPE_CHECKING:
    from walltime.scenario import Scenario
    from walltime.scenario.reading.alea import DataSet

SCENARIO_SUFFIXES = (".yaml", ".yml")
FORMATS = ("parquet", "csv")
DEFAULT_POLICY = "easy"
BEHAVIOUR = (
    "A time limit was changed, and the jobs of a log ask for what they asked for: a longer one lets in what was "
    "rejected, a shorter one rejects what asks for more, and no user reacts. What can be asked: jobs that were cut off "
    "run on to a drawn length (--set workload.adjust.run_on=true); jobs of another queue go where they fit now "
    "(--set 'workload.adjust.moves=[{sources: OLD, to: NEW}]')."
)
"""What a replay cannot show of another time limit."""
_LIMIT = re.compile(r"\bqueues\..*\b(max_time|default_time)\s*$")


@dataclass(frozen=True)
class ScenarioOptions:
    """The options that shape a scenario, as they were typed."""

    source: str
    cores: int | None = None
    nodes: str | None = None
    cluster: str | None = None
    policy: str | None = None
    settings: tuple[str, ...] = ()
    engine: str | None = None
    seed: str | None = None
    until: str | None = None
    overrun: str | None = None
    missing_request: str | None = None
    others: tuple[str, ...] = ()
    """The other files of a site, whose first is `source`."""
    reading: LogOptions = field(default_factory=LogOptions)
    label: str | None = None


@dataclass(frozen=True)
class PlannedRuns:
    """What is to be simulated: scenarios by the name of their policy, which differ in nothing but the policy.

    `remarks` say what was found beside the trace, and what of it is not looked at; `title` is what is simulated.
    """

    scenarios: dict[str, Scenario]
    remarks: tuple[str, ...] = ()
    title: str = ""


def make_plan(options: ScenarioOptions) -> PlannedRuns:
    """The scenarios that the options ask for, their parts checked; raises InputError."""
    from walltime.cli.plugins import allow_policy
    from walltime.pipeline import check

    _check_choices(options)
    names = split_policies(options.policy)
    for own in names:
        allow_policy(own)
    base, remarks = _read_source(options)
    data_set = _find_data_set(options)
    base, options = _with_grid(base, options)
    if data_set is not None and options.cluster is None:
        base.data.update(data_set.scenario)
    scenarios: dict[str, Scenario] = {}
    wanted: list[str | None] = [*names] or [None]
    for name in wanted:
        scenario = _make_scenario(base, options, name, data_set)
        check(scenario)
        scenarios[_label(name, scenario, options)] = scenario
    if data_set is not None:
        remarks = _describe(data_set)
    first = next(iter(scenarios.values())).workload
    trace, react = first.trace, first.adjust is not None and (first.adjust.run_on or first.adjust.moves)
    if trace is not None and not react and any(_LIMIT.search(text.partition("=")[0]) for text in options.settings):
        remarks = (*remarks, BEHAVIOUR)
    return PlannedRuns(scenarios, remarks, Path(trace if options.others and trace else options.source).name)


def _with_grid(base: Any, options: ScenarioOptions) -> tuple[Any, ScenarioOptions]:
    """The source with the clusters of --cluster, where that file describes several."""
    from walltime.scenario.clusterfile import read_clusters

    if options.cluster is None:
        return base, options
    grid = read_clusters(options.cluster)
    if grid is None:
        return base, options
    if options.cores is not None or options.nodes is not None:
        raise InputError("--cluster names a file of several clusters; --cores and --nodes are of one")
    rest = {key: value for key, value in base.data.items() if key not in ("cluster", "clusters")}
    lines = {place: line for place, line in base.lines.items() if place[:1] not in (("cluster",), ("clusters",))}
    return replace(base, data=rest | grid, lines=lines), replace(options, cluster=None)


def _find_data_set(options: ScenarioOptions) -> DataSet | None:
    """The files of Alea's that tell the machine: those of --cluster, or those beside a trace that comes alone."""
    from walltime.scenario.reading.alea import find_data_set, is_alea, read_data_set

    if options.cluster is not None:
        return read_data_set(options.cluster) if is_alea(options.cluster) else None
    sized = any(re.match(r"\s*clusters?(\s*=|\.(cores|nodes)\b)", text) for text in options.settings)
    alone = options.cores is None and options.nodes is None and not sized
    is_trace = Path(options.source).suffix.lower() not in SCENARIO_SUFFIXES
    return find_data_set(options.source) if alone and is_trace else None


def _describe(data_set: DataSet) -> tuple[str, ...]:
    names = ", ".join(path.name for path in data_set.files)
    return (f"Cluster: as {names} tell.", *(f"As in Alea, {remark}." for remark in data_set.remarks))


def _label(name: str | None, scenario: Scenario, options: ScenarioOptions) -> str:
    """The policy's name; where --set has changed its parts, the name with the parts behind it."""
    from walltime.api import describe_policy

    if options.label is not None:
        return options.label if name is None or "," not in (options.policy or "") else f"{options.label} {name}"
    if name is None:
        return describe_policy(scenario)
    changed = any("scheduler" in setting.partition("=")[0].split(".") for setting in options.settings)
    return f"{name} ({describe_policy(scenario)})" if changed and describe_policy(scenario) != name else name


def split_policies(text: str | None) -> list[str]:
    """The names of `a,b,c`; an empty name and a name given twice are errors."""
    if text is None:
        return []
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise InputError("--policy takes a name, or several with commas between: fcfs,easy", value=text)
    for name in names:
        if names.count(name) > 1:
            raise InputError("--policy names the same policy twice", value=name)
    return names


def choose_targets(output: str | None, names: list[str], *, force: bool, format: str) -> dict[str, Path]:
    """The result folder of each policy: DIR for one, DIR/NAME for several; raises InputError for one that is taken."""
    from walltime.core.files import check_name
    from walltime.core.folder import check_target, is_result

    if format not in FORMATS:
        raise InputError("--format", value=format, choices=FORMATS)
    if output is None:
        return {}
    check_name(output)
    base = Path(output)
    targets = {names[0]: base} if len(names) == 1 else {name: base / folder_name(name) for name in names}
    if len(names) > 1 and is_result(base):
        raise InputError("this is the result of one run; several policies need a folder of their own", file=base)
    for parent in base.parents if len(names) == 1 else (base, *base.parents):
        if parent.exists() and not parent.is_dir():
            raise InputError("this is a file, so no result can be put inside it", file=parent)
    for target in targets.values():
        check_target(target, force=force, format=format)
        _check_writable(target)
    return targets


def _check_writable(target: Path) -> None:
    """Refuse a folder whose nearest existing parent does not let us write."""
    parent = next(folder for folder in target.absolute().parents if folder.exists())
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError("no permission to write here", file=parent)


def folder_name(policy: str) -> str:
    """A policy's name as a folder's: `mine:Policy` becomes `mine-Policy`."""
    return re.sub(r"[^\w.+-]+", "-", policy).strip(".-") or "policy"


def parse_seconds(option: str, text: str | None) -> float | None:
    """Seconds of a duration that was typed for an option; raises InputError naming the option."""
    if text is None:
        return None
    try:
        return seconds(parse_duration(text))
    except InputError as error:
        raise InputError(f"{option}: {error.what}", value=text) from None


def _check_choices(options: ScenarioOptions) -> None:
    """The options that have a fixed set of values, and those that exclude each other."""
    from walltime.scenario.reading.problems import choices_of

    for name, value, key in (
        ("--engine", options.engine, "engine"),
        ("--overrun", options.overrun, "execution.overrun"),
        ("--missing-request", options.missing_request, "workload.missing_request"),
    ):
        if value is not None and value not in choices_of(key):
            raise InputError(name, value=value, choices=choices_of(key))
    given = [name for name in ("cores", "nodes", "cluster") if getattr(options, name) is not None]
    if len(given) > 1:
        raise InputError(f"--{given[0]} and --{given[1]} both tell the size of the machine; give one of them")
    if options.cores is not None and options.cores < 1:
        raise InputError("--cores must be at least 1", value=options.cores)
    if options.nodes is not None and not re.fullmatch(r"0*[1-9]\d*[xX]0*[1-9]\d*", options.nodes.strip()):
        raise InputError("--nodes takes NODESxCORES, both at least 1, such as 120x2", value=options.nodes)
    if options.seed is not None:
        from walltime.core.random import read_seed

        read_seed(options.seed, "--seed")
    if options.until is not None and not is_date(options.until):
        parse_seconds("--until", options.until)


def _read_source(options: ScenarioOptions) -> tuple[Any, tuple[str, ...]]:
    """The scenario file's data with its lines; for a trace, the data of a scenario that replays it; for the files of a
    site, that of the scenario that they make; and what a person should know of them."""
    from walltime.core.source import SourceData, missing_file, read_source

    path = Path(options.source)
    if path.suffix.lower() in SCENARIO_SUFFIXES and not options.others and not _is_native(path, options):
        return _as_scenario(read_source(path)), ()
    if options.others or _is_site(path):
        return _read_site(options)
    if not path.exists():
        raise missing_file(path)
    from walltime.workload.formats import find_format

    kind = find_format(path, options.reading.format)
    replayed = {"workload": {"trace": str(path)}}
    return SourceData(replayed | (_as_programs(path, kind, options) if kind in ("batsim", "dslab") else {}), None), ()


def _is_native(path: Path, options: ScenarioOptions) -> bool:
    """Whether a YAML file is a workload of DSLab's, and no scenario: a list."""
    from walltime.workload.formats import find_format

    if options.reading.format is not None or not path.is_file():
        return options.reading.format == "dslab"
    try:
        return find_format(path) == "dslab"
    except InputError:
        return False


def _as_scenario(source: Any) -> Any:
    """The data of a scenario file, also where it is DSLab's configuration."""
    from walltime.scenario.reading.dslab import is_dslab_configuration, translate

    return translate(source) if is_dslab_configuration(source.data) else source


def _as_programs(path: Path, kind: str, options: ScenarioOptions) -> dict[str, Any]:
    """What the jobs of a workload with profiles run as, and on which machine where nothing else tells."""
    workload = options.reading.read(path)
    if options.cores is not None:
        if bool((workload.column("run_time") < 0).any()):
            raise InputError("the jobs of this workload are programs, which run on nodes: give --nodes NxC", file=path)
        return {}
    made: dict[str, Any] = {"execution": {"model": "programs"}}
    if kind == "batsim":
        made["execution"]["profiles"] = str(path)
    sized = options.nodes is not None or options.cluster is not None or workload.machine_cores is None
    return made if sized else made | {"cluster": {"nodes": f"{workload.machine_cores}x1"}}


def _is_site(path: Path) -> bool:
    """Whether a file alone is a site's configuration, to which a log has to come."""
    if not path.is_file() or path.suffix.lower() in (".swf", ".csv", ".parquet", ".gz", ".sacct"):
        return False
    from walltime.site.files import is_site

    return is_site([path])


def _read_site(options: ScenarioOptions) -> tuple[Any, tuple[str, ...]]:
    from walltime.core.source import SourceData
    from walltime.site.files import LOG, SAID, is_site
    from walltime.site.importing.scenario import import_site
    from walltime.site.keywords import EXACTLY, NEARLY, NOT

    files = (options.source, *options.others)
    if not is_site(files):
        raise InputError("several files are a site's; none of these is its slurm.conf", value=" ".join(files))
    made = import_site(files, timezone=options.reading.timezone)
    if LOG not in made.files:
        raise InputError(f"the jobs are missing: give {SAID[LOG]} beside the files of the site", value=" ".join(files))
    counts = [len(made.findings.lines(verdict)) for verdict in (EXACTLY, NEARLY, NOT)]
    told = f"Of the site's keywords {counts[0]} are honoured exactly, {counts[1]} nearly, {counts[2]} not"
    return SourceData(made.data, None), (f"{told}; `walltime site import` lists them.", *made.notes)


def _make_scenario(
    base: Any, options: ScenarioOptions, policy: str | None, data_set: DataSet | None = None
) -> Scenario:
    """The scenario under one policy. --set comes last, so that it has the last word."""
    from walltime.scenario.reading.loading import from_source
    from walltime.scenario.reading.override import parse_setting

    settings = [*_machine_settings(base.data, options), *options.reading.settings()]
    for key, value in (
        ("engine", options.engine),
        ("seed", options.seed),
        ("until", options.until),
        ("execution.overrun", options.overrun),
        ("workload.missing_request", options.missing_request),
    ):
        if value is not None:
            settings.append((key, value))
    if policy is None and base.file is None and not _has_scheduler(base.data, options):
        policy = DEFAULT_POLICY
    settings += _policy_settings(base.data, policy, data_set)
    settings += [parse_setting(text) for text in options.settings]
    try:
        return from_source(base, settings)
    except InputError:
        from_source(base)  # a mistake in the file itself is told first: it has a line
        raise


def _machine_settings(data: Any, options: ScenarioOptions) -> list[tuple[str, Any]]:
    """--cores, --nodes and --cluster replace the size that a scenario gives its cluster."""
    if options.cores is None and options.nodes is None and options.cluster is None:
        return []
    clusters = _clusters(data)
    if len(clusters) > 1:
        raise InputError("the scenario has several clusters; say --set clusters.NAME.cores=N for one of them")
    if options.cluster is not None:
        from walltime.scenario import load_cluster

        read = load_cluster(options.cluster)
        kept = {} if "scheduler" in read else {key: clusters[0][key] for key in ("scheduler",) if key in clusters[0]}
        return [(_cluster_key(data), read | kept)]
    size = {"cores": options.cores} if options.cores is not None else {"nodes": options.nodes}
    kept = {key: value for key, value in clusters[0].items() if key not in ("cores", "nodes")}
    return [(_cluster_key(data), kept | size)]


def _has_scheduler(data: Any, options: ScenarioOptions) -> bool:
    """Whether the file of --cluster says how to schedule."""
    from walltime.scenario import load_cluster

    if any("scheduler" in cluster for cluster in _clusters(data)):
        return True
    return options.cluster is not None and "scheduler" in load_cluster(options.cluster)


def _policy_settings(data: Any, policy: str | None, data_set: DataSet | None = None) -> list[tuple[str, Any]]:
    """A preset replaces its parts in every cluster; the other parts of a scenario stay."""
    from walltime.policy.registry import policy_settings, preset

    if policy is None:
        return []
    if data_set is not None and data_set.several:
        return data_set.schedule(preset(policy))
    return policy_settings(data if isinstance(data, dict) else {}, policy)


def _clusters(data: Any) -> list[dict[str, Any]]:
    """The clusters' mappings as the file writes them; what is not well formed is left to validation."""
    if not isinstance(data, dict):
        return [{}]
    written = data.get("clusters") if "clusters" in data else [data.get("cluster")]
    if not isinstance(written, list) or not written:
        return [{}]
    return [item if isinstance(item, dict) else {} for item in written]


def _cluster_key(data: Any) -> str:
    return "clusters.0" if isinstance(data, dict) and "clusters" in data else "cluster"
