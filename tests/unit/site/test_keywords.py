"""Every keyword of Slurm 22.05 has its place: nothing that decides about scheduling is left out silently."""

import pytest

from walltime.core.errors import InputError
from walltime.site import keywords
from walltime.site.associations import ASSOCIATION_LIMITS, QOS_LIMITS
from walltime.site.importing.findings import TITLES
from walltime.site.importing.scenario import import_site
from walltime.site.options import WORDS

WORDS_22 = WORDS["22.05"]
BASE = """ClusterName=c
SlurmctldHost=h
SelectType=select/cons_tres
PriorityType=priority/multifactor
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
AccountingStorageEnforce=limits
GresTypes=gpu
{more}
NodeName=n[1-4] CPUs=8 RealMemory=1000 {node}
PartitionName=a Nodes=n[1-4] Default=YES PriorityTier=2 {partition}
PartitionName=b Nodes=n[1-2]
"""
VALUES = {
    **dict.fromkeys(("PriorityMaxAge", "PriorityDecayHalfLife", "MaxTime", "DefaultTime"), "1-0"),
    **{"PreemptType": "preempt/qos", "PreemptMode": "CANCEL", "TopologyPlugin": "topology/none"},
    **{"PriorityUsageResetPeriod": "WEEKLY", "SchedulerType": "sched/backfill", "SelectType": "select/cons_tres"},
    **{"SelectTypeParameters": "CR_Core_Memory", "Gres": "gpu:2", "State": "UNKNOWN", "Licenses": "matlab:2"},
    **{"AllowAccounts": "physics", "DenyAccounts": "biology", "QOS": "q", "OverSubscribe": "FORCE:2"},
    **{"Shared": "FORCE:2", "Default": "YES", "PriorityType": "priority/multifactor", "LLN": "YES"},
    **{"CPUSpecList": "0-1", "Boards": "1", "ExclusiveUser": "YES", "PriorityWeightTRES": "CPU=1"},
    **{
        "AllowQos": "q",
        "AllowGroups": "g",
        "ReqResv": "YES",
        "RootOnly": "YES",
        "Alternate": "b",
        "AllocNodes": "login",
    },
    **{"GresTypes": "gpu", "PriorityFavorSmall": "YES", "AccountingStorageEnforce": "limits", "Feature": "x"},
    **dict.fromkeys(("CPUs", "Procs"), "8"),
}
LINES = {"NodeName", "PartitionName", "NodeSet", "DownNodes", "FrontendName"}
"""Keywords that begin a line of several words."""


def import_with(tmp_path, more="", node="", partition="", others=()):
    (tmp_path / "slurm.conf").write_text(BASE.format(more=more, node=node, partition=partition))
    return import_site([tmp_path / "slurm.conf", *others]).findings.told


def decides(table):
    return [name for name, effect in table.items() if effect.verdict != keywords.NOTHING]


@pytest.mark.parametrize(
    ("known", "table"),
    [
        (WORDS_22.settings, keywords.SETTINGS),
        (WORDS_22.lines["nodename"], keywords.NODE),
        (WORDS_22.lines["partitionname"], keywords.PARTITION),
        *((words, keywords.LISTS[name]) for name, words in WORDS_22.parameters.items()),
        (ASSOCIATION_LIMITS, keywords.ASSOCIATION),
        (QOS_LIMITS, keywords.QOS),
    ],
)
def test_the_table_has_every_keyword_and_no_other(known, table):
    assert {word.rstrip("=") for word in known} == set(table)


def test_every_verdict_but_exactly_tells_how_or_why():
    tables = [keywords.SETTINGS, keywords.NODE, keywords.PARTITION, keywords.ASSOCIATION, keywords.QOS]
    for table in [*tables, *keywords.LISTS.values()]:
        unsaid = [
            name for name, (verdict, how) in table.items() if verdict in (keywords.NEARLY, keywords.NOT) and not how
        ]
        assert unsaid == []


@pytest.mark.parametrize("name", [name for name in decides(keywords.SETTINGS) if name not in LINES])
def test_every_setting_that_decides_is_on_a_list(tmp_path, name):
    more = f"{name}={VALUES.get(name, '1')}" if name not in keywords.LISTS else ""
    if name in keywords.LISTS:
        word = next(iter(decides(keywords.LISTS[name])))
        more = f"{name}={word}"
    told = import_with(tmp_path, more)
    assert any(one == name.lower() or one.startswith(f"{name.lower()}.") for one in told)


@pytest.mark.parametrize("name", list(keywords.LISTS))
def test_every_word_of_a_list_is_on_a_list(tmp_path, name):
    words = decides(keywords.LISTS[name])
    numbers = {word.rstrip("=") for word in WORDS_22.parameters[name] if word.endswith("=")}
    told = import_with(tmp_path, f"{name}=" + ",".join(f"{word}=30" if word in numbers else word for word in words))
    assert [word for word in words if f"{name}.{word}".lower() not in told] == []


@pytest.mark.parametrize("name", [name for name in decides(keywords.NODE) if name != "NodeName"])
def test_every_word_of_a_node_is_on_a_list(tmp_path, name):
    told = import_with(tmp_path, node=f"{name}={VALUES.get(name, '1')}")
    assert f"nodename.{name.lower()}" in told


@pytest.mark.parametrize(
    "name", [name for name in decides(keywords.PARTITION) if name not in ("PartitionName", "Nodes")]
)
def test_every_word_of_a_partition_is_on_a_list(tmp_path, name):
    (tmp_path / "dump").write_text("Cluster - 'c'\nParent - 'root'\nAccount - 'physics'\nAccount - 'biology'\n"
                                   "Parent - 'physics'\nUser - 'ann'\n")  # fmt: skip
    (tmp_path / "qos").write_text("Name|Priority|GrpJobs\nnormal|0|\nq|1|5\n")
    value = {"State": "DRAIN", "PreemptMode": "OFF", "Priority": "3", "MinNodes": "2"}.get(name, VALUES.get(name, "1"))
    told = import_with(tmp_path, partition=f"{name}={value}", others=[tmp_path / "dump", tmp_path / "qos"])
    spelled = "oversubscribe" if name == "Shared" else name.lower()
    assert f"partitionname.{spelled}" in told


def value_of(name):
    if "TRES" in name:
        return "cpu=4"
    return {"Preempt": "normal", "PreemptMode": "requeue", "Flags": "DenyOnLimit"}.get(name, "3")


@pytest.mark.parametrize("name", decides(keywords.QOS))
def test_every_limit_of_a_qos_is_on_a_list(tmp_path, name):
    (tmp_path / "qos").write_text(f"Name|{name}\nnormal|\nq|{value_of(name)}\n")
    assert f"qos.{name.lower()}" in import_with(tmp_path, "PreemptType=preempt/qos", others=[tmp_path / "qos"])


@pytest.mark.parametrize("name", decides(keywords.ASSOCIATION))
def test_every_limit_of_an_association_is_on_a_list(tmp_path, name):
    value = value_of(name)
    (tmp_path / "dump").write_text(f"Cluster - 'c'\nParent - 'root'\nAccount - 'physics':{name}={value}\n"
                                   f"Parent - 'physics'\nUser - 'ann':{name}={value}\n")  # fmt: skip
    assert f"association.{name.lower()}" in import_with(tmp_path, others=[tmp_path / "dump"])


def test_a_keyword_of_a_newer_slurm_is_named_with_its_release(tmp_path):
    with pytest.raises(InputError, match=r"Slurm 22\.05 does not know this keyword; Slurm 24\.11 does"):
        import_with(tmp_path, "PreemptParameters=youngest_first")
    (tmp_path / "slurm.conf").write_text(BASE.format(more="Nonsense=1", node="", partition=""))
    made = import_site([tmp_path / "slurm.conf"], drop_unknown=True)
    assert "Nonsense: Slurm 22.05 does not know this keyword; left out" in made.notes[0]
    assert set(made.findings.as_data()) == set(TITLES)


@pytest.mark.parametrize("word", ["bf_wonder=3", "extra_constraints"])
def test_a_word_of_a_list_that_the_release_does_not_know_is_named_too(tmp_path, word):
    """The controller ignores it without a word."""
    more = f"SchedulerParameters=bf_continue,{word},salloc_wait_nodes,max_job_bf=7\nPriorityFlags=MORE"
    newer = r"; Slurm 24\.11 does \(--release\)" if word == "extra_constraints" else ""
    what = rf"Slurm 22\.05 does not know this word of SchedulerParameters{newer}; --drop-unknown"
    with pytest.raises(InputError, match=what) as caught:
        import_with(tmp_path, more)
    assert (caught.value.value, caught.value.line) == (word, 9)
    made = import_site([tmp_path / "slurm.conf"], drop_unknown=True)
    assert [note.partition(": ")[0] for note in made.notes] == [f"slurm.conf:9 {word}", "slurm.conf:10 MORE"]
    assert made.data["cluster"]["scheduler"]["rhythm"]["bf_max_job_test"] == 7
    assert "SchedulerParameters.preempt_youngest_first" in made.data["slurm"]["settings"]
    assert not any(word.partition("=")[0] in key for key in made.data["slurm"]["settings"])
    assert not {one for one in made.findings.told if "wonder" in one or "extra" in one or "salloc" in one}
