"""`walltime run`: simulate a scenario or a trace, under one policy or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from walltime.cli.plugins import Plugins
from walltime.cli.run import options as given
from walltime.cli.terminal.console import emit
from walltime.cli.trace import Collections, Format, Host, Map, Timezone
from walltime.core.errors import InputError

if TYPE_CHECKING:
    from walltime.cli.run.plan import ScenarioOptions
    from walltime.cli.run.watch import Watching

Window = dict[str, float | None]


class Printable(Protocol):
    """What a run came to, for a person or for a program."""

    def show(self) -> None: ...
    def as_data(self) -> dict[str, Any]: ...


def run(
    source: given.Source,
    cores: given.Cores = None,
    nodes: given.Nodes = None,
    cluster: given.ClusterFile = None,
    policy: given.Policies = None,
    settings: given.Settings = None,
    engine: given.Engine = None,
    overrun: given.Overrun = None,
    missing_request: given.MissingRequest = None,
    until: given.Until = None,
    seed: given.Seed = None,
    shake: given.Shake = None,
    seeds: given.Seeds = None,
    input_format: Format = None,
    timezone: Timezone = None,
    map_: Map = None,
    collections: Collections = None,
    host: Host = None,
    output: given.Output = None,
    label: given.Label = None,
    format: given.Format = "parquet",
    force: given.Force = False,
    warmup: given.Warmup = None,
    cooldown: given.Cooldown = None,
    as_json: given.AsJson = False,
    watch: given.Watch = False,
    pace: given.Pace = None,
    quiet: given.Quiet = False,
    plugins: Plugins = None,
) -> None:
    """Simulate a scenario or a trace, and print what became of the jobs.

    Without --output nothing is written. Two runs of the same scenario give the same result, bit for bit.
    """
    from walltime.cli.run.plan import ScenarioOptions
    from walltime.cli.trace import LogOptions

    options = ScenarioOptions(
        source[0],
        cores,
        nodes,
        cluster,
        policy,
        tuple(settings or ()),
        engine,
        seed,
        until,
        overrun,
        missing_request,
        tuple(source[1:]),
        LogOptions(input_format, timezone, map_, collections, host),
        label,
    )
    window = _window(warmup, cooldown)
    hidden = quiet or as_json
    watching = _watching(watch, pace, quiet=quiet, shake=shake)
    if shake is not None:
        answer = _run_shaken(options, shake, seeds, window, output, hidden)
    elif seeds is not None:
        raise InputError("--seeds is the number of repetitions of --shake, which is missing")
    else:
        from walltime.cli.run.session import run_session

        answer = run_session(options, output, window, force=force, format=format, quiet=hidden, watch=watching)
    if as_json:
        emit(answer.as_data())
    elif not quiet:
        answer.show()


def _run_shaken(
    options: ScenarioOptions, shake: str, seeds: int | None, window: Window, output: str | None, hidden: bool
) -> Printable:
    """Many runs with submissions moved at random; they make a table, no folder."""
    from walltime.cli.run.noise import run_shaken

    if output is not None:
        raise InputError("--shake prints a table of many runs; it cannot be combined with --output")
    return run_shaken(options, shake, given.SEEDS if seeds is None else seeds, window, quiet=hidden)


def _watching(watch: bool, pace: str | None, *, quiet: bool, shake: str | None) -> Watching | None:
    """How the run is watched, if it is; raises InputError for options that contradict each other."""
    from walltime.cli.run.plan import parse_seconds
    from walltime.cli.run.watch import Watching

    if not watch:
        if pace is not None:
            raise InputError("--pace slows down what --watch shows, which is missing")
        return None
    if quiet or shake is not None:
        raise InputError(f"--watch shows a run; it cannot be combined with {'--quiet' if quiet else '--shake'}")
    speed = parse_seconds("--pace", pace)
    if speed == 0:
        raise InputError("--pace: time has to go on", value=pace)
    return Watching(speed)


def _window(warmup: str | None, cooldown: str | None) -> Window:
    """The observation window's edges, in seconds; None for what was not said."""
    from walltime.cli.run.plan import parse_seconds

    return {"warmup": parse_seconds("--warmup", warmup), "cooldown": parse_seconds("--cooldown", cooldown)}
