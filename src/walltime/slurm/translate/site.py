"""From a scenario to the site that a controller is to run: its own slurm.conf's, or one that says what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby

from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.scenario import Cluster, Scenario
from walltime.scenario.controller import FLAT
from walltime.scenario.controller import Controller as ControllerOptions
from walltime.site.associations import Associations, make_equal, read_associations, read_qualities
from walltime.site.conf import Conf, read_conf
from walltime.site.options import WORDS, ReleaseWords
from walltime.slurm.conf import simulated
from walltime.slurm.conf.settings import change_lines
from walltime.slurm.packages import USUAL, find_installation
from walltime.slurm.site import Site
from walltime.slurm.translate.scenario import translate
from walltime.slurm.translate.submission import find_charges
from walltime.workload.snapshot.files import read_usage


def make_site(scenario: Scenario, workload: Workload | None = None) -> Site:
    """The site that a scenario means for a workload: its slurm.conf's, or one that says what the scenario says."""
    given = scenario.slurm
    if given is not None and given.conf is not None:
        return make_own_site(given, workload)
    site = translate(scenario, workload)
    if given is None:
        return site
    lines, lost = change_lines(site.settings, given.settings, find_words(given))
    return replace(site, settings=lines, changes=(*site.changes, *lost))


def make_own_site(given: ControllerOptions, workload: Workload | None = None) -> Site:
    """The site that a slurm.conf describes, for a workload."""
    assert given.conf is not None
    file = read_conf(given.conf, find_words(given))
    usage = {} if given.usage is None else read_usage(given.usage)
    site = simulated.make_site(
        file, _find_associations(given, file, usage, workload), given.settings, given.drop_unknown, given.partitions,
        given.cloud,
    )  # fmt: skip
    return replace(site, usage=usage)


def find_words(given: ControllerOptions) -> ReleaseWords:
    """The words of the release that will run; of the usual one where none is there."""
    try:
        return WORDS[find_installation(given.release, given.slurmctld).dialect.release]
    except InputError:
        return WORDS[given.release or USUAL]


def _find_associations(
    given: ControllerOptions, file: Conf, usage: Mapping[str, float], workload: Workload | None
) -> Associations | None:
    """Who may run what: a dump of the site's, or all users who occur."""
    if given.associations is None:
        return None
    if given.associations != FLAT:
        return read_associations(given.associations, given.qos)
    qualities = () if given.qos is None else read_qualities(given.qos)
    charges: list[tuple[str | None, str]] = [] if workload is None else find_charges(workload)
    named: list[str] = []
    if given.qos is None:  # without their descriptions, the names alone: no limits, no priority
        named = [name for _, words in file.resolve("partitionname") for name in _list_qualities(words)]
        named += [] if workload is None else workload.label_names("qos")
    charges += [(account, user) for account, user in (key.split("/", 1) for key in usage)]
    return make_equal(charges, qualities, named)


def _list_qualities(partition: Mapping[str, str]) -> list[str]:
    """The qualities of service that a partition names."""
    names = [name for key in ("qos", "allowqos", "denyqos") for name in partition.get(key, "").split(",")]
    return [name for name in names if name and name.upper() != "ALL"]


def complete(scenario: Scenario) -> Scenario:
    """The scenario with its cluster as slurm.conf describes it."""
    if scenario.slurm is None or scenario.slurm.conf is None:
        return scenario
    if scenario.clusters[0].total_cores is not None:
        raise InputError("slurm.conf says what the cluster is; leave cores and nodes out", value=scenario.slurm.conf)
    site = make_site(scenario)
    groups = [{"count": len(list(run)), "cores": cores} for cores, run in groupby(node.cpus for node in site.nodes)]
    sharing = "whole" if site.linear else "shared"
    cluster = Cluster.model_validate({"name": site.name, "nodes": groups, "sharing": sharing})
    return scenario.model_copy(update={"clusters": (cluster,)})
