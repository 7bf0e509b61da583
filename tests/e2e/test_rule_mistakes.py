"""Mistakes in a site's rules: told before anything runs, by name and line, with exit code 2 and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Command, names

HEAD = """workload: {trace: log.swf}
cluster:
"""
NODES = """  nodes:
    - {count: 2, cores: 4, name: a}
    - {count: 2, cores: 4, name: b}
"""


def case(name: str, text: str, line: int, *words: str) -> object:
    """A scenario whose `cluster` has these lines; the mistake is on that line of the file."""
    return pytest.param(HEAD + text, line, words, id=name)


MISTAKES = [
    # names
    case(
        "nodes of one name",
        "  nodes:\n    - {count: 12, cores: 4, name: a}\n    - {count: 2, cores: 4, name: a1}\n",
        3,
        *("cluster.nodes", "the same name", "'a10'"),
    ),
    case(
        "a resource that has a key",
        "  nodes:\n    - count: 2\n      cores: 4\n      resources: {memory: 4}\n",
        6,
        *("nodes.0.resources", "'memory'"),
    ),
    case(
        "a licence like a resource",
        "  nodes:\n    - {count: 2, cores: 4, resources: {fpga: 1}}\n  licences:\n    fpga: 2\n",
        6,
        *("licences.fpga", "'fpga'"),
    ),
    # queues
    case(
        "two default queues",
        "  queues:\n    short: {default: true}\n    long:\n      default: true\n",
        6,
        *("queues.long.default", "one default queue already", "'short'"),
    ),
    case("a comma in a name", "  queues:\n    'a,b': {}\n", 4, "comma", "'a,b'"),
    case(
        "nodes without nodes",
        "  cores: 8\n  queues:\n    short:\n      nodes: a\n",
        6,
        *("queues.short.nodes", "plain number of cores"),
    ),
    case(
        "nodes that are not there",
        NODES + "  queues:\n    short:\n      nodes: [a, c]\n",
        8,
        *("queues.short.nodes", "'c'", "choices: a, b"),
    ),
    case(
        "a range beyond the last node",
        NODES + "  queues:\n    short:\n      nodes: a[0-2]\n",
        8,
        *("queues.short.nodes", "'a2'"),
    ),
    case("no nodes at all", NODES + "  queues:\n    short:\n      nodes: []\n", 8, "short", "nodes"),
    case(
        "a smallest job larger than the queue",
        NODES + "  queues:\n    wide:\n      nodes: a\n      min_cores: 9\n",
        9,
        *("queues.wide.min_cores", "only 8 cores", "9"),
    ),
    case(
        "a cap below the smallest job",
        "  queues:\n    wide: {min_cores: 4, running_cores: 3}\n",
        4,
        *("running_cores: 3", "min_cores: 4"),
    ),
    case(
        "a cap for each user below the smallest job",
        "  queues:\n    wide:\n      min_cores: 4\n      per_user:\n        running_cores: 2\n",
        7,
        *("queues.wide.per_user.running_cores", "min_cores: 4", "2"),
    ),
    case(
        "sizes the wrong way round",
        "  queues:\n    wide: {min_cores: 4, max_cores: 3}\n",
        4,
        "min_cores above max_cores",
    ),
    case(
        "times the wrong way round", "  queues:\n    day: {default_time: 2h, max_time: 1h}\n", 4, "default_time above"
    ),
    case(
        "a queue for an unknown account",
        "  queues:\n    lab:\n      accounts: phisics\n  accounts:\n    physics: {}\n",
        5,
        *("queues.lab.accounts", "no such account", "did you mean 'physics'"),
    ),
    case("a key that is none", "  queues:\n    lab:\n      max_cors: 4\n", 5, "max_cors", "did you mean 'max_cores'"),
    # routes
    case(
        "a route to nowhere",
        "  queues:\n    short: {}\n  routes:\n    - {queue: shrt, max_cores: 4}\n",
        6,
        *("routes.0.queue", "'shrt'", "did you mean 'short'"),
    ),
    case(
        "a route for those who are there",
        "  queues:\n    short: {}\n    long: {}\n  routes:\n    - queue: short\n      named: long\n",
        8,
        *("routes.0.named", "'long'"),
    ),
    case(
        "a route for nobody",
        "  queues:\n    short: {}\n  routes:\n    - {queue: short, min_cores: 4, max_cores: 2}\n",
        6,
        "min_cores above max_cores",
    ),
    # accounts
    case(
        "an unknown parent",
        "  accounts:\n    root: {}\n    physics:\n      parent: rot\n",
        6,
        *("accounts.physics.parent", "no such account", "did you mean 'root'"),
    ),
    case(
        "accounts in a circle",
        "  accounts:\n    root: {parent: higgs}\n    physics: {parent: root}\n    higgs: {parent: physics}\n",
        4,
        *("accounts.root.parent", "circle", "root < higgs < physics < root"),
    ),
    case(
        "a user of two accounts",
        "  accounts:\n    one: {users: [ann]}\n    two:\n      users: [bo, ann]\n",
        6,
        *("accounts.two.users", "in account one too", "'ann'"),
    ),
    # limits
    case("a limit of nothing", "  limits:\n    - {user: '2'}\n", 4, "limits nothing", "running_cores"),
    case(
        "a limit of an unknown queue",
        "  queues:\n    short: {default: true}\n  limits:\n    - {queue: long, running_jobs: 3}\n",
        6,
        *("limits.0.queue", "no such queue", "'long'", "short"),
    ),
    case(
        "a limit of an unknown account",
        "  accounts:\n    physics: {}\n  limits:\n    - account: fysics\n      running_jobs: 3\n",
        6,
        *("limits.0.account", "no such account", "did you mean 'physics'"),
    ),
    case(
        "a limit below the smallest job of a queue",
        "  queues:\n    wide: {min_cores: 4}\n  limits:\n    - {queue: wide, per: user, running_cores: 2}\n",
        6,
        *("limits.0.running_cores", "smallest job of queue wide", "min_cores: 4"),
    ),
    case(
        "a quota for an unknown user",
        "  limits:\n    - {per: user, running_jobs: 2}\n    - {user: ann, running_jobs: 3}\n",
        5,
        *("limits.1.user", "'ann'", "optional: true", "choices: 1, 2, 3"),
    ),
    case("a quota for an unknown QOS", "  limits:\n    - {qos: high, running_jobs: 3}\n", 4, "limits.0.qos", "'high'"),
    case("a kind that is none", "  limits:\n    - {per: usr, running_jobs: 3}\n", 4, "per", "usr"),
]


@pytest.mark.parametrize(("text", "line", "words"), MISTAKES)
def test_a_mistake_in_the_rules(command: Command, trace: Path, text: str, line: int, words: tuple[str, ...]) -> None:
    (trace.parent / "site.yaml").write_text(text)
    command("run", "site.yaml", "--output", "out").refused(f"site.yaml:{line}:", *words)
    assert names(trace.parent) == {"log.swf", "site.yaml"}


def test_a_queue_that_the_cluster_does_not_have(command: Command, trace: Path) -> None:
    """What only the workload shows: its jobs name queue 1, and nobody sends them anywhere."""
    (trace.parent / "site.yaml").write_text(HEAD + "  cores: 16\n  queues:\n    short: {}\n")
    command("run", "site.yaml", "--output", "out").refused("queue", "'1'", "short")
    assert names(trace.parent) == {"log.swf", "site.yaml"}


def test_a_quota_for_somebody_who_may_come_later(command: Command, trace: Path) -> None:
    text = HEAD + "  limits:\n    - {user: ann, running_jobs: 3, optional: true}\n"
    (trace.parent / "site.yaml").write_text(text)
    command("run", "site.yaml", "--quiet").done()
