"""Dotted keys into a scenario."""

from __future__ import annotations

from typing import Any

import pytest

from walltime.core.errors import InputError
from walltime.scenario import override, parse, parse_setting

BASE: dict[str, Any] = {"workload": "a.swf", "cluster": {"nodes": "120x2", "scheduler": {"backfill": "easy"}}}


def test_value_is_replaced_and_the_original_kept() -> None:
    changed = override(BASE, "seed", 4)
    assert changed["seed"] == 4
    assert "seed" not in BASE


def test_parameter_turns_a_name_into_a_mapping() -> None:
    changed = override(BASE, "cluster.scheduler.backfill.depth", 3)
    assert changed["cluster"]["scheduler"]["backfill"] == {"name": "easy", "depth": 3}
    assert BASE["cluster"]["scheduler"]["backfill"] == "easy"
    default = override({"workload": "a.swf"}, "cluster.scheduler.backfill.depth", 3)
    assert parse(default).clusters[0].scheduler.backfill.parameters == {"depth": 3}


def test_parameter_of_a_mapping_and_nested_ones() -> None:
    changed = override(BASE, "cluster.scheduler.order", {"name": "x:Y", "weights": {"age": 1}})
    changed = override(changed, "cluster.scheduler.order.weights.size", 2)
    assert parse(changed).clusters[0].scheduler.order.parameters == {"weights": {"age": 1, "size": 2}}


def test_short_forms_open_up() -> None:
    assert parse(override(BASE, "workload.missing_request", "max")).workload.trace == "a.swf"
    assert parse(override(BASE, "cluster.nodes.cores", 4)).clusters[0].total_cores == 480
    assert parse(override(BASE, "execution.overrun", "extend")).execution.overrun == "extend"


def test_cluster_and_clusters_are_interchangeable_for_one() -> None:
    listed = {"workload": "a.swf", "clusters": [{"name": "seth", "cores": 2}]}
    assert parse(override(listed, "cluster.cores", 5)).clusters[0].cores == 5
    assert parse(override(BASE, "clusters.0.name", "x")).clusters[0].name == "x"


def test_one_of_several_clusters_by_name_or_number() -> None:
    several = {"workload": "a.swf", "clusters": [{"name": "a", "cores": 2}, {"name": "b", "cores": 3}]}
    assert parse(override(several, "clusters.b.cores", 9)).clusters[1].cores == 9
    assert parse(override(several, "clusters.0.cores", 9)).clusters[0].cores == 9
    with pytest.raises(InputError, match="several clusters"):
        override(several, "cluster.cores", 9)
    with pytest.raises(InputError, match=r"no such item.*choices: a, b"):
        override(several, "clusters.c.cores", 9)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("sede", ["unknown key", "did you mean 'seed'"]),
        ("cluster.schedular.order", ["unknown key in cluster", "did you mean 'scheduler'"]),
        ("cluster.cores.x", ["single value"]),
        ("seed.x", ["single value"]),
        ("", ["dotted key"]),
        ("cluster..cores", ["dotted key"]),
        ("workload.table", ["unknown key"]),
    ],
)
def test_wrong_keys_are_refused(key: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        override(BASE, key, 1)
    for word in words:
        assert word in str(caught.value)


def test_settings_are_typed_as_yaml() -> None:
    assert parse_setting("seed=4") == ("seed", 4)
    assert parse_setting("a.b=x=y") == ("a.b", "x=y")
    assert parse_setting("cluster.nodes={count: 2, cores: 3}") == ("cluster.nodes", {"count": 2, "cores": 3})
    assert parse_setting("record.series=false") == ("record.series", False)
    for wrong in ("seed", "=4", "a=[1"):
        with pytest.raises(InputError, match="--set"):
            parse_setting(wrong)


def test_things_with_names_of_their_own_are_reached_by_them() -> None:
    site = {"workload": "a.swf", "cluster": {"nodes": "4x2", "queues": {"short": {"max_time": "1h"}, "long": None}}}
    changed = override(site, "cluster.queues.short.max_time", "2h")
    assert changed["cluster"]["queues"] == {"short": {"max_time": "2h"}, "long": None}
    assert site["cluster"]["queues"]["short"] == {"max_time": "1h"}
    assert override(site, "cluster.queues.long.priority", 3)["cluster"]["queues"]["long"] == {"priority": 3}
    assert override(site, "cluster.licences.matlab", 5)["cluster"]["licences"] == {"matlab": 5}
    with pytest.raises(InputError, match=r"no such item: 'shrt'; did you mean 'short'\?"):
        override(site, "cluster.queues.shrt.max_time", "2h")
    with pytest.raises(InputError, match=r"unknown key in cluster\.queues\.short"):
        override(site, "cluster.queues.short.maxtime", "2h")
