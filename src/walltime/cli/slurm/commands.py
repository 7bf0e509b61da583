"""`walltime slurm`: the real Slurm controller in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from walltime.cli.plugins import Plugins
from walltime.cli.terminal.console import emit, say
from walltime.cli.trace import Collections, Format, Host, LogOptions, Timezone
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.scenario import Scenario

SITE = "The site"

RELEASE = typer.Option(
    metavar="N.N",
    help="The release of Slurm, as 24.11. [dim](default: the system's, or the one that was fetched first)[/]",
    rich_help_panel=SITE,
)
OWN = typer.Option(metavar="FILE", help="A site's own build: the path of its controller.", rich_help_panel=SITE)

app = typer.Typer(
    no_args_is_help=True,
    help="The real Slurm controller in virtual time: is it there, fetch it, run a site's slurm.conf.",
)


@app.command()
def doctor(
    release: Annotated[str | None, RELEASE] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Say whether everything that the slurm engine needs is there, and how to get what is not."""
    from walltime.slurm.packages import examine

    findings = examine(release)
    if as_json:
        emit({"findings": [{"what": one.what, "well": one.well, "detail": one.detail} for one in findings]})
    else:
        for one in findings:
            say(f"{'ok     ' if one.well else 'missing'}  {one.what}: {one.detail}")
    if not all(one.well for one in findings):
        raise typer.Exit(2)


@app.command()
def install(
    release: Annotated[str, typer.Option(metavar="N.N", help="Of Slurm: 22.05 or 24.11.")] = "22.05",
    missing: Annotated[bool, typer.Option("--if-missing", help="Do nothing where Slurm is there already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Fetch Debian's Slurm packages into a cache folder; needs no root, and starts no daemon.

    A Slurm that is installed on the system is used before the cached one.
    """
    from walltime.slurm import packages

    if missing and _has(release):
        if as_json:
            emit({"release": release, "installed": False, "folder": None})
        return
    folder = packages.install(release)
    found = packages.find_installation(release)
    if as_json:
        emit({"release": found.product, "installed": True, "folder": str(folder)})
        return
    say(f"Slurm {found.product} is in {folder}")


def _has(release: str) -> bool:
    from walltime.slurm import packages

    try:
        packages.find_installation(release)
    except InputError:
        return False
    return True


TRACE = typer.Argument(metavar="TRACE | SCENARIO.yaml", help="A trace, or a scenario whose engine is slurm.")
CONF = typer.Option("--conf", metavar="FILE", help="The site's slurm.conf.", rich_help_panel=SITE)
ASSOCIATIONS = typer.Option(
    metavar="FILE|flat",
    help="Accounts, shares and limits: the output of `sacctmgr dump CLUSTER`; flat: every user is known, with equal "
    "shares.",
    rich_help_panel=SITE,
)
USAGE = typer.Option(
    metavar="FILE",
    help="With what fair share begins: the output of `sshare -a -l -P`. [dim](default: no past usage)[/]",
    rich_help_panel=SITE,
)
CLOUD = typer.Option("--cloud", help="Take CLOUD nodes for nodes that are always there.", rich_help_panel=SITE)
QOS = typer.Option("--qos", metavar="FILE", help="The output of `sacctmgr -P show qos`.", rich_help_panel=SITE)
SETTINGS = typer.Option(
    "--set",
    metavar="KEY[.WORD]=VALUE",
    help="Replace a setting of slurm.conf, or one word of a list such as SchedulerParameters.bf_interval=60 (yes: the "
    "word alone; no: without it); may be repeated.",
    rich_help_panel=SITE,
)
PARTITIONS = typer.Option(
    "--partition",
    metavar="QUEUE=PARTITION",
    help="Where the jobs of a queue of the trace go that is no partition; * for all others. May be repeated.",
    rich_help_panel=SITE,
)
MAP = typer.Option(
    "--map",
    metavar="OURS=THEIRS",
    help="A column of a foreign table, as everywhere; where OURS is no column of ours, the same as --partition.",
    rich_help_panel="LogOptions the log",
)
EVENTS = typer.Option(
    metavar="FILE",
    help="What happens meanwhile: lines such as `2h scontrol update nodename=n1 state=drain reason=x`, "
    "`2024-01-01T14:00:00 squeue -t PD`.",
    rich_help_panel=SITE,
)
COMMANDS = typer.Option(
    "--allow-commands",
    help="Let --events run any command of yours: lines such as `2h sh squeue | wc -l >> lengths`.",
    rich_help_panel=SITE,
)
DROP = typer.Option("--drop-unknown", help="Go on without options that this Slurm does not know.", rich_help_panel=SITE)
COST = typer.Option(
    metavar="X",
    help="Charge X simulated seconds for a second of the controller's computing, so that its time limits take effect; "
    "results then differ from run to run. [dim](default: 0)[/]",
    rich_help_panel=SITE,
)
LEAD = typer.Option(
    metavar="T",
    help="From the controller's start to the first job: where its beats fall, and so another day with the same jobs. "
    "[dim](default: 120.5 s)[/]",
    rich_help_panel=SITE,
)
LAUNCH = typer.Option(
    metavar="T",
    help="From a job's start to the first line of its script. [dim](default: 0.02 s, as measured)[/]",
    rich_help_panel=SITE,
)
COMPLETION = typer.Option(
    metavar="T",
    help="From the end of a job's script until the controller hears of it. [dim](default: 0.005 s, as measured)[/]",
    rich_help_panel=SITE,
)
EPILOG = typer.Option(
    metavar="T",
    help="How long the nodes of a job that has ended are kept, as a site's epilog keeps them. [dim](default: 0)[/]",
    rich_help_panel=SITE,
)
UNTIL = typer.Option(metavar="T", help="Stop at this time after the trace's zero: seconds, 12h, 30d.")
FURTHER = "Stop at this time after the trace's zero. [dim](default: where a run that left a checkpoint was to stop)[/]"
CHECKPOINT = typer.Option(
    metavar="T",
    help="Write the result so far every T of simulated time (6h, 1d): `slurm continue` goes on with a run that was "
    "stopped.",
)
PORT = typer.Option(metavar="N", help="The controller's port on the loopback. [dim](default: any free one)[/]")


KEYS = (
    *("conf", "associations", "qos", "usage", "events", "cloud", "drop_unknown", "cost", "release", "slurmctld"),
    *("lead", "launch", "completion", "epilog"),
)
"""Options that are keys of a scenario's `slurm`."""


def _compose(options: dict[str, Any]) -> Scenario:
    """The scenario that a command's options ask for; what is given replaces what a scenario file says."""
    from pathlib import Path

    from walltime.core.source import SourceData, missing_file, read_source
    from walltime.scenario.reading.loading import from_source

    path = Path(options["source"])
    if not path.exists():
        raise missing_file(path)
    is_file = path.suffix.lower() in (".yaml", ".yml")
    base = read_source(path) if is_file else SourceData({"workload": {"trace": str(path)}}, None)
    written = base.data.get("slurm") if isinstance(base.data, dict) else None
    if options["conf"] is None and not is_file:
        raise InputError("--conf names the site's slurm.conf; `walltime run --engine slurm` does without one")
    own = {key: options[key] for key in KEYS if options.get(key) is not None and options[key] is not False}
    how, queues = _read_maps(options)
    chosen: list[tuple[str, Any]] = [("engine", "slurm")]
    chosen += [(f"slurm.{key}", value) for key, value in own.items()] if isinstance(written, dict) else [("slurm", own)]
    chosen += how.settings()
    others = {"until": options["until"], "workload.missing_request": options.get("missing_request")}
    chosen += [(key, value) for key, value in others.items() if value is not None]
    for key, texts in (("settings", options["settings"]), ("partitions", queues)):
        if texts:
            before = written.get(key, {}) if isinstance(written, dict) else {}
            chosen.append((f"slurm.{key}", {**before, **dict(_split(text) for text in texts)}))
    return from_source(base, chosen)


def _read_maps(options: dict[str, Any]) -> tuple[LogOptions, list[str]]:
    """How the log is to be read, and where its queues go: --map may say both."""
    from walltime.workload.formats.mapped import is_column

    maps = options["maps"] or ()
    columns = [one for one in maps if is_column(one.partition("=")[0].strip())]
    queues = [one for one in maps if one not in columns]
    how = LogOptions(options["input_format"], options["timezone"], columns, options["collections"], options["host"])
    return how, [*queues, *(options["partitions"] or ())]


def _split(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise InputError("takes KEY=VALUE", value=text)
    return key.strip(), value.strip()


@app.command()
def run(
    context: typer.Context,
    source: Annotated[str, TRACE],
    conf: Annotated[str | None, CONF] = None,
    associations: Annotated[str | None, ASSOCIATIONS] = None,
    qos: Annotated[str | None, QOS] = None,
    usage: Annotated[str | None, USAGE] = None,
    settings: Annotated[list[str] | None, SETTINGS] = None,
    partitions: Annotated[list[str] | None, PARTITIONS] = None,
    input_format: Format = None,
    timezone: Timezone = None,
    maps: Annotated[list[str] | None, MAP] = None,
    collections: Collections = None,
    host: Host = None,
    events: Annotated[str | None, EVENTS] = None,
    commands: Annotated[bool, COMMANDS] = False,
    drop_unknown: Annotated[bool, DROP] = False,
    cloud: Annotated[bool, CLOUD] = False,
    release: Annotated[str | None, RELEASE] = None,
    slurmctld: Annotated[str | None, OWN] = None,
    cost: Annotated[float | None, COST] = None,
    lead: Annotated[str | None, LEAD] = None,
    launch: Annotated[str | None, LAUNCH] = None,
    completion: Annotated[str | None, COMPLETION] = None,
    epilog: Annotated[str | None, EPILOG] = None,
    until: Annotated[str | None, UNTIL] = None,
    missing_request: Annotated[
        str | None, typer.Option(metavar="exact|max|model", help="For jobs without a requested time.")
    ] = None,
    output: Annotated[str | None, typer.Option(metavar="DIR", help="Write the result folder DIR.")] = None,
    checkpoint: Annotated[str | None, CHECKPOINT] = None,
    format: Annotated[str, typer.Option(metavar="parquet|csv", help="Of the tables in it.")] = "parquet",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing result.")] = False,
    label: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What comparisons call it. [dim](default: slurm.conf)[/]")
    ] = None,
    port: Annotated[int | None, PORT] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    plugins: Plugins = None,
) -> None:
    """Simulate a trace on a site as its own slurm.conf describes it, decided by the real controller.

    What cannot hold in a simulation (paths, ports, prologs, ...) is replaced, and told.
    """
    from walltime.cli.run.plan import parse_seconds
    from walltime.cli.slurm.site import run_site

    scenario = _compose(context.params)
    hidden = quiet or as_json
    every = parse_seconds("--checkpoint", checkpoint)
    if every is not None and every <= 0:
        raise InputError("--checkpoint: must be more than 0", value=checkpoint)
    session = run_site(scenario, source, output, label=label, port=port, any_command=commands, checkpoint=every,
                       force=force, format=format, quiet=hidden)  # fmt: skip
    if as_json:
        emit(session.as_data())
    elif not quiet:
        session.show()


@app.command()
def shell(
    context: typer.Context,
    source: Annotated[str, TRACE],
    conf: Annotated[str | None, CONF] = None,
    until: Annotated[str | None, UNTIL] = None,
    associations: Annotated[str | None, ASSOCIATIONS] = None,
    qos: Annotated[str | None, QOS] = None,
    usage: Annotated[str | None, USAGE] = None,
    settings: Annotated[list[str] | None, SETTINGS] = None,
    partitions: Annotated[list[str] | None, PARTITIONS] = None,
    input_format: Format = None,
    timezone: Timezone = None,
    maps: Annotated[list[str] | None, MAP] = None,
    collections: Collections = None,
    host: Host = None,
    events: Annotated[str | None, EVENTS] = None,
    commands: Annotated[bool, COMMANDS] = False,
    drop_unknown: Annotated[bool, DROP] = False,
    cloud: Annotated[bool, CLOUD] = False,
    release: Annotated[str | None, RELEASE] = None,
    slurmctld: Annotated[str | None, OWN] = None,
    command: Annotated[
        str | None, typer.Option("--command", "-c", metavar="TEXT", help="Run this instead of a shell.")
    ] = None,
    user: Annotated[
        str | None, typer.Option("--as", metavar="USER", help="Speak to the controller as a user of the trace.")
    ] = None,
    port: Annotated[int | None, PORT] = None,
    plugins: Plugins = None,
) -> None:
    """A shell in which squeue, sinfo, sprio, sshare, sdiag, scontrol, sbatch, scancel ask the simulated controller.

    sacct and sacctmgr show are answered by Walltime from the controller's records: there is no slurmdbd.
    Time stands still at --until; `advance 2h` lets it pass. A job submitted by hand runs until its limit, or for the
    seconds in WALLTIME_RUN_TIME.
    """
    from walltime.cli.slurm.site import enter_shell

    raise typer.Exit(enter_shell(_compose(context.params), command, user, port, any_command=commands))


@app.command("compare-releases")
def compare_releases(
    context: typer.Context,
    source: Annotated[str, TRACE],
    conf: Annotated[str | None, CONF] = None,
    associations: Annotated[str | None, ASSOCIATIONS] = None,
    qos: Annotated[str | None, QOS] = None,
    usage: Annotated[str | None, USAGE] = None,
    settings: Annotated[list[str] | None, SETTINGS] = None,
    partitions: Annotated[list[str] | None, PARTITIONS] = None,
    input_format: Format = None,
    timezone: Timezone = None,
    maps: Annotated[list[str] | None, MAP] = None,
    collections: Collections = None,
    host: Host = None,
    drop_unknown: Annotated[bool, DROP] = False,
    cloud: Annotated[bool, CLOUD] = False,
    until: Annotated[str | None, UNTIL] = None,
    releases: Annotated[
        str, typer.Option(metavar="N.N,N.N", help="Of Slurm, from the old to the new.")
    ] = "22.05,24.11",
    output: Annotated[str | None, typer.Option(metavar="DIR", help="Write a result folder for each below DIR.")] = None,
    format: Annotated[str, typer.Option(metavar="parquet|csv", help="Of the tables in it.")] = "parquet",
    force: Annotated[bool, typer.Option("--force", help="Replace existing results.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """What an upgrade would change: the same site and jobs on both releases, and on the old one a second time.

    `walltime slurm install --release` fetches a release.
    """
    from walltime.cli.slurm import site

    scenario = _compose(context.params)
    names = [name.strip() for name in releases.split(",") if name.strip()]
    if len(names) < 2:
        raise InputError("a comparison needs two releases", value=releases)
    session = site.compare_releases(scenario, source, names, output, force=force, format=format)
    if as_json:
        emit(session.as_data())
    else:
        session.show()


@app.command()
def diff(
    first: Annotated[str, typer.Argument(metavar="A.conf", help="A slurm.conf.")],
    second: Annotated[str, typer.Argument(metavar="B.conf", help="Another.")],
    associations: Annotated[str, ASSOCIATIONS] = "flat",
    qos: Annotated[str | None, QOS] = None,
    drop_unknown: Annotated[bool, DROP] = False,
    cloud: Annotated[bool, CLOUD] = False,
    release: Annotated[str | None, RELEASE] = None,
    slurmctld: Annotated[str | None, OWN] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """What differs in effect between two configurations: a controller is started with each and asked what it goes by.

    Defaults are resolved; what is written otherwise and comes to the same is named apart.
    """
    from walltime.cli.slurm.site import diff_sites

    given = {"associations": associations, "qos": qos, "drop_unknown": drop_unknown, "cloud": cloud}
    diff_sites((first, second), given | {"release": release, "slurmctld": slurmctld}, as_json=as_json)


@app.command("continue")
def go_on(
    result: Annotated[
        str,
        typer.Argument(
            metavar="RESULT", help="The result of a run that was cut off, by --until or after a --checkpoint."
        ),
    ],
    output: Annotated[str, typer.Option(metavar="DIR", help="Write the result folder DIR.")],
    until: Annotated[str | None, typer.Option(metavar="T", help=FURTHER)] = None,
    commands: Annotated[bool, COMMANDS] = False,
    format: Annotated[str, typer.Option(metavar="parquet|csv", help="Of the tables in it.")] = "parquet",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing result.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
    plugins: Plugins = None,
) -> None:
    """Go on with a run from the instant at which it was cut off or last kept.

    The controller is brought to that instant by replaying, which gives the same decisions; that they are the same is
    checked against the result.
    """
    from walltime.cli.slurm.site import continue_run

    hidden = quiet or as_json
    session = continue_run(result, output, until, any_command=commands, force=force, format=format, quiet=hidden)
    if as_json:
        emit(session.as_data())
    elif not quiet:
        session.show()
