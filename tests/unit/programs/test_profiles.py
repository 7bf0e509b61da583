"""Profiles from files: what each type does, by hand, and what is told of what is wrong."""

import json
import sys

import pytest
from machine import Runner, make_platform, run

from walltime.cluster.network import Link, Star
from walltime.cluster.storage import Component, Disk
from walltime.core.errors import InputError
from walltime.core.plugins import allow_plugins
from walltime.programs.profiles import TYPES, Profile, read_profiles, register, write_out

STORE = Component("store", Link(10.0), Disk(capacity=1000.0, read=5.0))
TWO = ((0, 1), (1, 1))
FILE = """
simple:
  type: compute-homogenous
  args: {compute_work: 1e9}
talk:
  type: communication-homogenous
  args: {size: 100}
again: simple
both:
  type: sequence
  args:
    repeat: 3
    profiles: [simple, talk, again]
nested:
  type: parallel
  args:
    profiles:
      - both
      - type: sequence
        args:
          repeat: 2
          profiles: [{type: idle, args: {time: 4}}, {type: idle, args: {time: 1}}]
"""


def load(tmp_path, text, name="profiles.yaml"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_profiles(tmp_path / name)


def outside():
    network = Star(4, Link(100.0), outside=[STORE.link])
    return make_platform(network=network, components=[STORE], disks=[Disk(capacity=100.0, read=20.0, write=10.0)] * 4)


def test_names_stand_for_profiles_and_may_be_used_by_later_names(tmp_path):
    profiles = load(tmp_path, FILE)
    assert run(profiles.find("simple"), TWO) == pytest.approx(1.0)
    assert run(profiles.find("both"), TWO) == pytest.approx(9.0)
    assert run(profiles.find("nested"), TWO) == pytest.approx(10.0)


def test_json_is_read_as_well(tmp_path):
    profiles = load(tmp_path, '{"a": {"type": "idle", "args": {"time": 2.5}}}', "profiles.json")
    assert run(profiles.find("a")) == 2.5


@pytest.mark.parametrize(
    ("kind", "args", "seconds"),
    [
        ("idle", {"time": 3}, 3.0),
        ("compute-homogenous", {"compute_work": 2e9}, 2.0),
        ("compute-vector", {"compute_work": [1e9, 3e9, 2e9]}, 3.0),
        ("communication-homogenous", {"size": 50}, 1.0),
        ("communication-matrix", {"matrix": [[0, 100, 0], [0, 0, 0], [0, 300, 0]]}, 4.0),
        ("communication-src-dst", {"src": [0], "dst": [1, 2], "size": 100}, 2.0),
        ("communication-src-dst", {"src": 0, "dst": 1, "size": 100}, 1.0),
        ("communication-external", {"processes": [0, 1], "component_name": "store", "input_size": 20}, 4.0),
        ("communication-external", {"processes": [0], "component_name": "store", "output_size": 30}, 3.0),
        ("communication-external", {"component_name": "store", "output_size": 30, "total": True}, 3.0),
        ("parallel-task", {"compute_work": [1e9, 0, 0], "matrix": [[0, 300, 0], [0, 0, 0], [0, 0, 0]]}, 3.0),
        ("parallel-task-homogenous", {"compute_work": 2e9, "size": 50}, 2.0),
        ("parallel-task-homogenous", {"compute_work": 6e9, "size": 600, "total": True}, 2.0),
        ("exit", {"code": 0}, 0.0),
        ("checkpoint", {}, 0.0),
        ("disk-read", {"size": 40}, 2.0),
        ("disk-ops", {"processes": [0], "read_size": 40, "write_size": 40}, 4.0),
        ("master-workers", {"worker_compute_work": 3e9, "data_transfer_size": 50, "master_compute_work": 1e9}, 5.0),
        ("disk-read", {"processes": [2], "size": 40}, 2.0),
        ("disk-write", {"processes": [0, 1], "size": 40}, 4.0),
        ("disk-read", {"processes": [0], "size": 10, "component_name": "store"}, 2.0),
        ("sequence", {"profiles": [{"type": "idle", "args": {"time": 1}}], "repeat": 4}, 4.0),
        ("parallel", {"profiles": [{"type": "idle", "args": {"time": n}} for n in (1, 3)], "repeat": 2}, 6.0),
        ("sequence", {"profiles": [{"type": "idle", "args": {"time": 1}}], "repeat": 0}, 0.0),
    ],
)
def test_each_type_takes_its_time(tmp_path, kind, args, seconds):
    profiles = load(tmp_path, "other: {type: idle, args: {time: 1}}")
    platform = outside()
    assert run(profiles.find(write_out(kind, **args)), ((0, 1), (1, 1), (2, 1)), platform) == pytest.approx(seconds)


def test_every_type_is_tried_above():
    [mark] = test_each_type_takes_its_time.pytestmark
    assert {case[0] for case in mark.args[1]} == set(TYPES)


def test_a_type_of_ones_own_is_a_class_in_python(tmp_path, monkeypatch):
    (tmp_path / "stencil_profile.py").write_text(
        "from walltime.programs import Profile, gather\n"
        "class Stencil(Profile):\n"
        "    def __init__(self, steps): self.steps = steps\n"
        "    async def run(self, processes):\n"
        "        for _ in range(self.steps):\n"
        "            await gather(*(p.compute(1e9) for p in processes))\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(sys, "path", list(sys.path))
    text = (
        "own: {type: 'stencil_profile:Stencil', args: {steps: 3}}\nmore: {type: sequence, args: {profiles: [own, own]}}"
    )
    with pytest.raises(InputError, match=r"profiles.yaml:1: profile: a file alone imports no code"):
        load(tmp_path, text)
    allow_plugins(tmp_path)
    assert run(load(tmp_path, text).find("more"), TWO) == pytest.approx(6.0)
    with pytest.raises(InputError, match=r"profiles.yaml:1: .*cannot be made with these args"):
        load(tmp_path, "own: {type: 'stencil_profile:Stencil', args: {turns: 3}}")


def test_a_type_of_ones_own_may_be_registered(tmp_path):
    class Nap:
        def __init__(self, length=1.0):
            self.length = length

        async def run(self, processes):
            await processes[-1].sleep(self.length)

    register("nap-for-tests", Nap)
    profiles = load(tmp_path, "long: {type: nap-for-tests, args: {length: 4}}\nshort: {type: nap-for-tests}")
    assert [run(profiles.find(name), TWO) for name in ("long", "short", "nap-for-tests")] == [4.0, 1.0, 1.0]
    with pytest.raises(InputError, match="has this name already"):
        register("idle", Nap)


def test_a_profile_of_a_file_may_be_awaited_in_python(tmp_path):
    profiles = load(tmp_path, FILE)

    async def program(processes):
        await profiles.find("both").run(processes)
        await processes[0].sleep(1)

    assert run(program, TWO) == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("- a\n- b", "profiles.yaml:1: a file of profiles is a mapping"),
        ("\na: {type: idl, args: {time: 1}}", "profiles.yaml:2: no type of profiles: 'idl'; did you mean 'idle'"),
        ("a: {type: idle}", "profiles.yaml:1: idle needs time"),
        ("a: {type: idle, args: {time: null}}", "profiles.yaml:1: idle needs time"),
        ("a: {type: idle, args: {time: 1" + 400 * "0" + "}}", "profiles.yaml:1: must be a number from 0 on"),
        ("a: {type: idle, args: {time: -1}}", "profiles.yaml:1: must be a number from 0 on: -1"),
        ("a: {type: idle, args: {time: .nan}}", "must be a number from 0 on"),
        ("a: {type: idle, args: {time: 1, tme: 1}}", "idle takes no such argument: 'tme'; did you mean 'time'"),
        ("a: {type: idle, arg: {time: 1}}", "a profile has no such key: 'arg'; did you mean 'args'"),
        ("a: {type: idle, args: [1]}", "args are a mapping"),
        ("a: later\nlater: {type: idle, args: {time: 1}}", "profiles.yaml:1: no profile of this name stands before"),
        ("a: {type: sequence, args: {profiles: [a]}}", "no profile of this name stands before: 'a'"),
        ("a: {type: sequence, args: {profiles: [], repeat: 2}}", "must be a list of profiles"),
        (
            "a:\n  type: sequence\n  args:\n    repeat: x\n    profiles: [{type: idle, args: {time: 1}}]",
            "yaml:4: must be",
        ),
        ("a: {type: compute-vector, args: {compute_work: 3}}", "must be a list of numbers: 3"),
        ("a: {type: communication-matrix, args: {matrix: [[0, 1], [1]]}}", "rows of other lengths"),
        ("a: {type: disk-read, args: {size: 1, processes: [-1]}}", "must be numbers of processes"),
        ("a: 3", "a profile is a name, or a mapping with type and args: 3"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_line(tmp_path, text, match):
    with pytest.raises(InputError, match=match):
        load(tmp_path, text)


def test_a_name_that_no_file_tells(tmp_path):
    with pytest.raises(InputError, match="no profile of this name: 'simpel'; did you mean 'simple'"):
        load(tmp_path, FILE).find("simpel")


@pytest.mark.parametrize(
    ("args", "tells"),
    [
        ("{type: compute-vector, args: {compute_work: [1, 2, 3]}}", "work for 3 processes, the job has 2"),
        ("{type: communication-src-dst, args: {src: [0], dst: [2], size: 1}}", "there is no process 2, the job has 2"),
        ("{type: communication-matrix, args: {matrix: [[0]]}}", "a matrix for 1 processes, the job has 2"),
        (
            "{type: communication-external, args: {processes: [0], component_name: moon}}",
            "there is no component 'moon'",
        ),
        ("{type: disk-write, args: {size: 101}}", "cannot write 101 bytes on a disk that has 100"),
        ("{type: disk-read, args: {size: 101}}", "cannot read 101 bytes on a disk that has 100"),
    ],
)
def test_what_goes_wrong_while_it_runs_is_told_with_its_line(tmp_path, args, tells):
    first = "good: {type: idle, args: {time: 1}}\nbad:\n  type: sequence\n"
    text = f"{first}  args:\n    profiles:\n      - good\n      - {args}\n"
    runner = Runner(outside())
    runner.add(7, load(tmp_path, text).find("bad"), TWO)
    runner.run()
    place, _, said = runner.errors[7].partition(": job 7, profile test: ")
    assert place.endswith("profiles.yaml:7")
    assert tells in said
    assert runner.ends[7] == 1.0
    assert runner.platform.activities.live == 0


def test_a_loop_that_takes_no_time_is_told(tmp_path):
    text = "a: {type: sequence, args: {repeat: 5000000, profiles: [{type: communication-homogenous, args: {size: 1}}]}}"
    runner = Runner()
    runner.add(1, load(tmp_path, text).find("a"))
    runner.run()
    assert "takes no time" in runner.errors[1]


@pytest.mark.parametrize(
    ("kind", "args"),
    [
        ("compute-homogenous", {"compute_work": 1}),
        ("communication-homogenous", {"size": 1}),
        ("communication-matrix", {"matrix": [[0, 1], [0, 0]]}),
        ("communication-src-dst", {"src": [0], "dst": [1], "size": 1}),
        ("communication-external", {"component_name": "store", "input_size": 1}),
        ("parallel-task-homogenous", {"size": 1}),
        ("disk-write", {"size": 1}),
    ],
)
def test_a_step_for_a_process_that_is_gone_is_told_with_its_line(tmp_path, kind, args):
    class Leaving(Profile):
        async def run(self, processes):
            processes[1].release()

    register(f"leaving-before-{kind}", Leaving)
    steps = [{"type": f"leaving-before-{kind}"}, {"type": kind, "args": args}]
    path = tmp_path / "profiles.json"
    path.write_text(json.dumps({"p": {"type": "sequence", "args": {"profiles": steps}}}, indent=1), encoding="utf-8")
    runner = Runner(make_platform(components=[STORE], network=Star(4, Link(100.0), [Link(10.0)])))
    runner.add(1, read_profiles(path).find("p"), TWO)
    assert runner.run().errors[1].endswith("process 1 is gone")
    assert f"{path.name}:" in runner.errors[1]
