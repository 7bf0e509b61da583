"""sacct and sacctmgr show, from what the controller wrote and was told."""

from datetime import datetime

import pytest

from walltime.core.errors import InputError
from walltime.site.associations import Association, Associations, Quality
from walltime.site.nodes import Node
from walltime.slurm.accounting import answer_sacct, answer_sacctmgr, read_jobs
from walltime.slurm.site import Site

NOW = datetime(2024, 1, 2, 1, 0, 0)
DONE = (
    "JobId={} UserId={}(20001) GroupId=users(20000) Name=a b JobState={} Partition=batch TimeLimit=35 "
    "StartTime=2024-01-01T{} EndTime=2024-01-0{} NodeList=n[1-2] NodeCnt=2 ProcCnt=16 WorkDir=/ ReservationName= "
    "Tres=cpu=16,node=2 Account=physics QOS=normal WcKey= Cluster=c SubmitTime=2024-01-01T20:00:00 "
    "EligibleTime=2024-01-01T20:00:00 DerivedExitCode=0:0 ExitCode=0:0 "
)
RECORD = "\n".join(
    [
        DONE.format(1, "ann", "COMPLETED", "21:00:00", "1T22:30:00"),
        DONE.format(2, "bo", "PREEMPTED", "22:00:00", "2T00:10:00"),
        DONE.format(7, "bo", "TIMEOUT", "23:59:00", "2T00:40:00"),
    ]
)
ALIVE = (
    "JobId={} {}JobName=x UserId=bo(20002) Account=(null) QOS=N/A JobState={} Reason={} TimeLimit=1-00:30:00 "
    "SubmitTime=2024-01-01T20:00:00 EligibleTime=2024-01-01T20:00:00 StartTime={} EndTime=2024-01-03T00:00:00 "
    "Partition=batch NodeList={} NumNodes=1-1 NumCPUs=8 ExitCode=0:0 "
)
SHOWN = "\n".join(
    [
        ALIVE.format(2, "", "PENDING", "Resources", "2024-01-02T03:00:00", "(null)"),
        ALIVE.format(4, "ArrayJobId=3 ArrayTaskId=1 ", "RUNNING", "None", "2024-01-02T00:30:00", "n3"),
        ALIVE.format(1, "", "COMPLETED", "None", "2024-01-01T21:00:00", "n1"),
    ]
)
ROWS = read_jobs(RECORD, SHOWN, {"7": "6_1"}, NOW)


def ask(*arguments, user=None):
    return answer_sacct(["-P", "-n", *arguments], ROWS, NOW, user).splitlines()


def test_jobs_of_today_each_once_in_its_last_state():
    assert ask("-o", "jobid,state,end") == [
        "2|PENDING|Unknown",
        "3_1|RUNNING|Unknown",
        "6_1|TIMEOUT|2024-01-02T00:40:00",
    ]


def test_every_attempt_of_all_days():
    got = ask("-D", "-S", "2024-01-01", "-o", "JobID,JobName,Start,ElapsedRaw,AllocCPUS,NodeList,Timelimit")
    assert got == [
        "1|a b|2024-01-01T21:00:00|5400|16|n[1-2]|00:35:00",
        "2|a b|2024-01-01T22:00:00|7800|16|n[1-2]|00:35:00",
        "2|x|Unknown|0|0|None assigned|1-00:30:00",
        "3_1|x|2024-01-02T00:30:00|1800|8|n3|1-00:30:00",
        "6_1|a b|2024-01-01T23:59:00|2460|16|n[1-2]|00:35:00",
    ]


@pytest.mark.parametrize(
    ("asked", "jobs"),
    [
        (("-j", "1,3"), ["1", "3_1"]),
        (("-s", "PD,TO"), ["2", "6_1"]),
        (("-u", "ann", "-S", "now-1day"), ["1"]),
        (("-A", "physics"), ["6_1"]),
        (("-E", "2024-01-01T19:00"), []),
        (("-D", "-j", "2"), ["2", "2"]),
        (("-r", "gpu"), []),
    ],
)
def test_chosen(asked, jobs):
    assert ask("-o", "jobid", *asked) == jobs


def test_a_user_sees_its_own_jobs_unless_it_asks_for_all():
    assert ask("-o", "jobid", "-S", "2024-01-01", user="ann") == ["1"]
    assert len(ask("-a", "-S", "2024-01-01", user="ann")) == 4


def test_columns_have_a_width():
    lines = answer_sacct(["-o", "jobid%4,nodelist%5", "-j", "1"], ROWS, NOW, None).splitlines()
    assert lines == ["Job+ Node+", "---- -----", "   1 n[1-+"]


def test_what_is_not_answered_is_told():
    for asked in (("--what",), ("-o", "jobid,maxrss"), ("-S", "25:99"), ("-S", "soon")):
        with pytest.raises(InputError):
            ask(*asked)


SITE = Site(
    "c",
    (),
    (Node("n1", 4),),
    tres=("gres/gpu",),
    associations=Associations(
        (Association("physics", limits={"GrpJobs": "4"}), Association("physics", "ann", qos=("normal", "fast"))),
        (Quality("normal"), Quality("fast", {"Priority": "9", "MaxWall": "60"})),
    ),
)


def test_accounts_and_qualities_are_shown():
    assert answer_sacctmgr(["-P", "show", "qos"], SITE) == "Name|Priority|MaxWall\nnormal||\nfast|9|60\n"
    told = answer_sacctmgr(["-nP", "list", "assoc", "format=account,user,grpjobs,qos"], SITE)
    assert told == "root|||\nphysics||4|\nphysics|ann||normal,fast\n"
    assert answer_sacctmgr(["-n", "-P", "show", "assoc", "where", "users=ann", "format=user"], SITE) == "ann\n"
    assert answer_sacctmgr(["show", "tres", "-nP"], SITE).splitlines()[-1] == "gres|gpu"
    assert answer_sacctmgr(["show", "users", "-nP"], Site("c", (), (Node("n1", 4),))) == ""


def test_nothing_is_changed_by_sacctmgr():
    for words in (["add", "user", "x"], ["modify"], [], ["show", "wonder"], ["show", "qos", "colour=red"]):
        with pytest.raises(InputError):
            answer_sacctmgr(words, SITE)
