"""Workflows from files and graphs: read, ordered, measured; what is wrong is told by file and task."""

import json

import pytest

from walltime.core.errors import InputError
from walltime.workload.formats.workflows import from_networkx, read_workflow
from walltime.workload.workflow import Task, Workflow


def save(tmp_path, data, name="flow.json"):
    path = tmp_path / name
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


WIDE_LONG = {
    "tasks": [
        {"id": "SLong", "cmd": "./L.py", "cores": 48, "rtime": 1440.0, "deps": ["SWide"]},
        {"id": "SWide", "cmd": "./W.py", "cores": 480, "rtime": 360.0},
    ]
}


def test_the_manifest_of_the_paper(tmp_path):
    flow = read_workflow(save(tmp_path, WIDE_LONG))
    assert list(flow.tasks) == ["SWide", "SLong"]
    assert flow.tasks["SLong"].needs == ("SWide",)
    assert flow.critical_path == 1800
    assert flow.widest == 480
    assert flow.pilot_waste == 480 * 1800 - 480 * 360 - 48 * 1440


@pytest.mark.parametrize("name", ["cybershake", "floodplain", "montage", "sipht", "synthLongWide", "synthWideLong"])
def test_manifests_with_a_graph(external, name):
    path = external(f"workflows/{name}.json")
    data = json.loads(path.read_text())
    flow = read_workflow(path)
    assert len(flow.tasks) == len(data["tasks"])
    assert sum(len(task.needs) for task in flow.tasks.values()) == data["dot_dag"].count("->")
    assert max(task.cores for task in flow.tasks.values()) <= flow.widest <= data["max_cores"] * 2
    limits = {task["id"]: task["runtime_limit"] for task in data["tasks"]}
    assert all(task.requested_time == limits[key] for key, task in flow.tasks.items())
    for key, task in flow.tasks.items():
        assert all(list(flow.tasks).index(needed) < list(flow.tasks).index(key) for needed in task.needs)


DIAMOND = """strict digraph "x" {\n a -> b -> d;\n "a" -> c [label=z];\n c->d }"""


def test_chains_and_quotes_in_dot(tmp_path):
    tasks = [{"id": key, "number_of_cores": 2, "runtime_sim": 10, "runtime_limit": 60} for key in "dcba"]
    flow = read_workflow(save(tmp_path, {"tasks": tasks, "dot_dag": DIAMOND}))
    assert {key: set(task.needs) for key, task in flow.tasks.items()} == {
        "a": set(), "b": {"a"}, "c": {"a"}, "d": {"b", "c"},
    }  # fmt: skip
    assert (flow.critical_path, flow.widest, flow.work) == (30, 4, 80)


DAX = """<?xml version="1.0"?>
<adag xmlns="http://pegasus.isi.edu/schema/DAX" name="demo" jobCount="3">
  <job id="ID1" name="first" runtime="12.5"><uses file="a" link="output"/></job>
  <job id="ID2" name="second" runtime="7"><profile namespace="pegasus" key="cores">4</profile></job>
  <job id="ID3" name="third" runtime="1"/>
  <child ref="ID2"><parent ref="ID1"/></child>
  <child ref="ID3"><parent ref="ID1"/><parent ref="ID2"/></child>
</adag>"""


def test_dax(tmp_path):
    flow = read_workflow(save(tmp_path, DAX, "flow.dax"))
    assert flow.name == "demo"
    assert flow.tasks["ID3"].needs == ("ID1", "ID2")
    assert (flow.tasks["ID2"].cores, flow.tasks["ID1"].run_time, flow.critical_path) == (4, 12.5, 20.5)


def test_dax_with_decimal_commas(tmp_path):
    text = DAX.replace('"12.5"', '"12,5"').replace(">4<", ">4,0<").replace('"1"/>', '"1,25"/>')
    flow = read_workflow(save(tmp_path, text, "flow.dax"))
    assert (flow.tasks["ID2"].cores, flow.tasks["ID1"].run_time, flow.tasks["ID3"].run_time) == (4, 12.5, 1.25)
    for wrong in ("1,2,3", "1.000,5", "1,", ","):
        with pytest.raises(InputError, match="runtime is not a number"):
            read_workflow(save(tmp_path, DAX.replace('"12.5"', f'"{wrong}"'), "wrong.dax"))


def test_wfformat_of_both_generations(tmp_path):
    specification = [
        {"name": "a", "id": "a_1", "parents": [], "children": ["b_2"]},
        {"name": "b", "id": "b_2", "parents": ["a_1"], "children": []},
    ]
    execution = [
        {"id": "a_1", "runtimeInSeconds": 3.5, "coreCount": 2, "memoryInBytes": 100},
        {"id": "b_2", "runtimeInSeconds": 4, "coreCount": 1.0},
    ]
    new = {"name": "n", "schemaVersion": "1.5",
           "workflow": {"specification": {"tasks": specification}, "execution": {"tasks": execution}}}  # fmt: skip
    flow = read_workflow(save(tmp_path, new))
    assert [(task.id, task.cores, task.run_time, task.needs) for task in flow.tasks.values()] == [
        ("a_1", 2, 3.5, ()),
        ("b_2", 1, 4.0, ("a_1",)),
    ]
    assert flow.tasks["a_1"].memory == 100
    old = {"name": "o", "workflow": {"tasks": [
        {"name": "x", "type": "compute", "runtime": 3, "cores": 2, "parents": []},
        {"name": "y", "type": "compute", "runtime": 5, "parents": ["x"]},
    ]}}  # fmt: skip
    assert read_workflow(save(tmp_path, old)).critical_path == 8


class Graph:
    """The two methods of networkx.DiGraph that are used."""

    def __init__(self, nodes, edges):
        self._nodes, self._edges = nodes, edges

    def nodes(self, data):
        return self._nodes.items()

    def predecessors(self, node):
        return [a for a, b in self._edges if b == node]


def test_a_graph():
    nodes = {1: {"cores": 2, "run_time": 5}, 2: {"run_time": 6.0, "requested_time": 10}}
    flow = from_networkx(Graph(nodes, [(1, 2)]), "g")
    assert flow.tasks["2"].needs == ("1",)
    assert flow.critical_path == 11
    with pytest.raises(InputError, match="task 1: run_time is not a number"):
        from_networkx(Graph({1: {"cores": 2}}, []))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda tasks: tasks[1].update(deps=["SLong"]), r"flow\.json: .*circle: 'SLong -> SWide -> SLong'"),
        (
            lambda tasks: tasks[0].update(deps=["SWid"]),
            "task SLong needs a task that is not there: 'SWid'; did you mean",
        ),
        (lambda tasks: tasks[0].update(cores=0), "task SLong needs at least one core: 0"),
        (lambda tasks: tasks[0].update(cores=1.5), "task SLong: number_of_cores is not a whole number"),
        (lambda tasks: tasks[0].update(rtime=-5), "task SLong has no run time above zero"),
        (lambda tasks: tasks[0].update(rtime="long"), "task SLong: runtime_sim is not a number: 'long'"),
        (lambda tasks: tasks[0].update(id="SWide", deps=[]), "two tasks have the id: 'SWide'"),
        (lambda tasks: tasks[0].update(deps=["SLong"]), "needs itself: 'SLong'"),
        (lambda tasks: tasks.clear(), "no tasks"),
    ],
)
def test_malformed_manifests_are_told_by_file_and_task(tmp_path, change, words):
    data = json.loads(json.dumps(WIDE_LONG))
    change(data["tasks"])
    with pytest.raises(InputError, match=words) as caught:
        read_workflow(save(tmp_path, data))
    assert caught.value.file.endswith("flow.json")


def test_a_task_larger_than_the_machine(tmp_path):
    flow = read_workflow(save(tmp_path, WIDE_LONG))
    flow.check_machine(480)
    with pytest.raises(InputError, match=r"flow\.json: .*task SWide needs more cores than the machine's 400: 480"):
        flow.check_machine(400)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello", "no workflow"),
        ("{", "not valid JSON"),
        ("{}", "neither tasks nor workflow"),
        ("<adag", "not valid XML"),
        ("<other/>", "not adag"),
        ("<!DOCTYPE a [<!ENTITY x 'y'>]><adag/>", "entities"),
        ('{"tasks": [{"id": "a", "cores": 1, "rtime": 1}], "dot_dag": "digraph { a -> b; }"}', "dot_dag names .*'b'"),
        ('<adag><child ref="x"><parent ref="y"/></child></adag>', "child element"),
    ],
)
def test_files_that_are_no_workflows(tmp_path, text, words):
    with pytest.raises(InputError, match=words):
        read_workflow(save(tmp_path, text))


def test_many_tasks_in_order():
    tasks = [Task(str(i), 1, 1.0, needs=(str(i + 1),) if i < 1999 else ()) for i in range(2000)]
    flow = Workflow.of("chain", tasks)
    assert flow.critical_path == 2000
    assert next(iter(flow.tasks)) == "1999"
