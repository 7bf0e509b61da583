"""Accounts, users and qualities of service from sacctmgr's outputs."""

import pytest

from walltime.core.errors import InputError
from walltime.site.associations import Association, Associations, Quality, make_equal, read_associations
from walltime.slurm.protocol.savedstate import save
from walltime.slurm.protocol.wire import Reader

DUMP = """# comment
Cluster - 'c':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':Fairshare=1
Account - 'phys':Description='a: b':Fairshare=60:GrpTRES=cpu=256,gres/gpu=4
Parent - 'phys'
User - 'ann':DefaultAccount='phys':Fairshare=parent:MaxJobs=3:QOS='+normal,high':MaxWallDurationPerJob=90
"""
QOS = "Name|Priority|Preempt|MaxTRESPU\nnormal|10||\nhigh|100|normal|cpu=64\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "dump").write_text(DUMP)
    (tmp_path / "qos").write_text(QOS)
    return tmp_path


def test_a_dump_is_read(files):
    found = read_associations(files / "dump", files / "qos")
    account, ann = found.entries
    assert (account.account, account.user, account.share) == ("phys", None, 60)
    assert account.limits == {"GrpTRES": "cpu=256,gres/gpu=4"}
    assert (ann.user, ann.parent, ann.share, ann.qos) == ("ann", "phys", None, ("normal", "high"))
    assert ann.limits == {"MaxJobs": "3", "MaxWallDurationPerJob": "90"}
    assert found.qualities[1].preempts == ("normal",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ("no user",)),
        ("User - 'x'\nnonsense\n", ("dump:2:", "nonsense")),
        ("Parent - 'nobody'\n", ("dump:1:", "nobody")),
        ("Flock - 'x'\n", ("dump:1:", "Flock")),
    ],
)
def test_a_wrong_dump_is_refused(files, text, words):
    (files / "dump").write_text(text)
    with pytest.raises(InputError) as error:
        read_associations(files / "dump")
    assert all(word in str(error.value) for word in words)


def test_an_undescribed_quality_is_refused(files):
    (files / "qos").write_text("Name|Priority\nnormal|1\n")
    with pytest.raises(InputError, match="high"):
        read_associations(files / "dump", files / "qos")


def test_a_limit_on_an_unknown_resource_is_refused(files):
    with pytest.raises(InputError, match="gres/gpu"):
        save(read_associations(files / "dump", files / "qos"), "c", 0, {"ann": 1})


def test_saved_state_begins_as_slurm_writes_it():
    ann = Association("ann"), Association("ann", "ann", "ann", is_default=True)
    state = save(Associations(ann), "c", 1_700_000_000, {"ann": 20_000})
    reader = Reader(state["last_tres"])
    assert reader.u16() == 38 << 8
    assert reader.u64() == 1_700_000_000
    assert reader.u32() == 8
    reader = Reader(state["assoc_mgr_state"], 10)
    assert reader.u16() == 1406
    assert reader.u32() == 2  # root and ann


def test_empty_associations_have_the_normal_quality():
    assert [quality.name for quality in Associations().qualities] == ["normal"]


def test_a_resource_of_some_type_does_not_end_an_option(files):
    dump = files / "dump"
    dump.write_text("Cluster - 'c'\nParent - 'root'\n"
                    "Account - 'ind':Description='a:b':GrpTRES=cpu=16,gres/gpu:a100=2,mem=32G:MaxJobs=4\n"
                    "Parent - 'ind'\nUser - 'eve':GrpTRES=gres/gpu=1:MaxSubmitJobs=9\n")  # fmt: skip
    account, user = read_associations(dump).entries
    assert account.limits == {"GrpTRES": "cpu=16,gres/gpu:a100=2,mem=32G", "MaxJobs": "4"}
    assert user.limits == {"GrpTRES": "gres/gpu=1", "MaxSubmitJobs": "9", "MaxJobs": "4"}


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("Account - 'x':Fairshare=abc", "dump:3: fairshare is no number: 'abc'"),
        ("Account - 'x':GrpTRES=cpu=4,mem=lots", "dump:3: GrpTRES is no number: 'lots'"),
        ("Account - 'x':MaxJobs=many", "dump:3: MaxJobs is no number: 'many'"),
        ("Cluster - 'd'", "dump:3: a second cluster; the first is c"),
    ],
)
def test_a_line_of_a_dump_that_is_wrong_is_told(files, line, match):
    (files / "dump").write_text(f"Cluster - 'c'\nParent - 'root'\n{line}\n")
    with pytest.raises(InputError, match=match):
        read_associations(files / "dump")


def test_a_line_of_qualities_that_is_wrong_is_told(files):
    (files / "qos").write_text("Name|Priority|MaxTRESPU\nnormal|5|cpu=N,gres/gpu:a100=2\nlow|first|\n")
    with pytest.raises(InputError, match="qos:3: Priority is no number: 'first'"):
        read_associations(files / "dump", files / "qos")


def test_limits_are_inherited_as_the_database_does(files):
    (files / "dump").write_text(
        "Cluster - 'c':Fairshare=1:QOS='normal':MaxJobs=9\nParent - 'root'\n"
        "Account - 'phys':QOS='+high':DefaultQOS='high':MaxTRESPerJob='cpu=8,node=2':GrpTRES='cpu=9'\nParent - 'phys'\n"
        "User - 'ann':MaxTRESPerJob='cpu=4'\nUser - 'bo':QOS='-normal':MaxJobs=1\nUser - 'cy':QOS='normal'\n"
    )
    phys, ann, bo, cy = read_associations(files / "dump").entries
    assert (phys.qos, phys.default_qos) == (("normal", "high"), "high")
    assert ann.limits == {"MaxJobs": "9", "MaxTRESPerJob": "cpu=4,node=2"}  # a group's limit stays where it is
    assert (ann.qos, ann.default_qos) == (("normal", "high"), "high")
    assert (bo.qos, bo.limits["MaxJobs"]) == (("high",), "1")
    assert cy.qos == ("normal",)


def test_resources_of_limits_and_everybody():
    found = make_equal([("a", "ann"), (None, "bo"), ("a", "bo")], [Quality("fast", {"MaxTRESPU": "gres/gpu:a100=2"})])
    assert found.resources == ["gres/gpu:a100"]
    assert {(one.account, one.user) for one in found.entries if one.user} == {("a", "ann"), ("a", "bo"),
                                                                             ("everybody", "bo")}  # fmt: skip
    assert {one.share for one in found.entries if one.user} == {1}
    assert found.root.qos == ("normal", "fast")


def test_past_usage_of_a_stranger_is_refused():
    with pytest.raises(InputError, match="phys/zoe"):
        save(make_equal([("phys", "ann")]), "c", 0, {"ann": 1}, usage={"phys/zoe": 3.0})
