"""Loading scenarios: what is accepted, and how each mistake is explained."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.scenario import Part, Scenario, dump, load, load_cluster, parse, resolve


def written(folder: Path, text: str | bytes, name: str = "s.yaml") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refusal(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        load(path)
    return caught.value


def test_small_file_gets_the_defaults(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, "workload: log.swf\n"))
    assert scenario.workload.trace == str(tmp_path / "log.swf")
    (cluster,) = scenario.clusters
    assert cluster.total_cores is None
    assert cluster.scheduler.order == Part(name="fcfs")
    assert cluster.scheduler.backfill == Part(name="easy")
    assert scenario.execution.overrun == "kill"
    assert scenario.workload.missing_request == "exact"
    assert scenario.until is None


def test_full_file(tmp_path: Path) -> None:
    scenario = load(
        written(
            tmp_path,
            """
walltime: 1
seed: 7
workload: {trace: /data/log.swf, missing_request: max}
clusters:
  - {name: a, cores: 64}
  - name: b
    nodes: 120x2
    scheduler: {backfill: {name: easy, depth: 3}, order: {name: p:Q, limit: 4}, rhythm: event}
broker: b:Broker
execution: {overrun: extend}
record: {series: false}
until: 2d
""",
        )
    )
    assert scenario.workload.trace == "/data/log.swf"
    assert [cluster.total_cores for cluster in scenario.clusters] == [64, 240]
    assert scenario.clusters[1].scheduler.backfill == Part(name="easy", parameters={"depth": 3})
    assert scenario.clusters[1].scheduler.order.parameters == {"limit": 4}
    assert scenario.until == 172_800.0
    assert [key for key, _, part in scenario.parts() if part.name == "p:Q"] == ["clusters.1.scheduler.order"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("workload: a.swf\nsede: 1\n", 2, ["unknown key", "'sede'", "did you mean 'seed'", "choices"]),
        (
            "workload: a.swf\ncluster:\n  cores: 2\n  scheduler:\n    backfil: easy\n",
            5,
            ["cluster.scheduler", "'backfil'", "did you mean 'backfill'"],
        ),
        ("workload: a.swf\ncluster: {cores: 0}\n", 2, ["cluster.cores", "at least 1", "0"]),
        ("workload: a.swf\ncluster: {cores: -3}\n", 2, ["cluster.cores", "-3"]),
        ("workload: a.swf\ncluster: {cores: lots}\n", 2, ["cluster.cores", "whole number", "lots"]),
        ("workload: a.swf\ncluster: {cores: true}\n", 2, ["cluster.cores", "whole number"]),
        ("workload: a.swf\ncluster: {cores: 2.5}\n", 2, ["cluster.cores", "whole number"]),
        ("workload: a.swf\ncluster: {nodes: 12y4}\n", 2, ["cluster.nodes", "120x2", "12y4"]),
        ("workload: a.swf\ncluster: {cores: 4, nodes: 1x4}\n", 2, ["both cores and nodes"]),
        ("workload: a.swf\nclusters: []\n", None, ["at least one cluster"]),
        ("workload: a.swf\ncluster: {}\nclusters: [{}]\n", None, ["both cluster and clusters"]),
        ("workload: a.swf\nclusters: [{name: a}, {name: a}]\n", None, ["two clusters", "'a'"]),
        ("workload: {trace: a.swf, generate: {jobs: 2, cores: 4}}\n", 1, ["both trace and generate"]),
        ("workload: {generate: {jobs: 2}}\n", 1, ["workload.generate.cores", "missing"]),
        ("workload: {generate: {jobs: 2, cores: 4, load: 0}}\n", 1, ["workload.generate.load", "above 0"]),
        (
            "workload: {generate: {jobs: 2, cores: 4, model: {user: 3}}}\n",
            1,
            ["workload.generate.model", "did you mean 'users'"],
        ),
        ("workload: {}\n", 1, ["workload", "trace, generate, synthetic or model"]),
        ("workload: {table: 3}\n", 1, ["workload.table", "Python only"]),
        ("seed: 3\n", 1, ["workload", "missing"]),
        ("workload:\n  trace: a.swf\n  missing_request: exat\n", 3, ["missing_request", "did you mean 'exact'"]),
        ("workload: a.swf\nengine: natve\n", 2, ["engine", "did you mean 'native'"]),
        ("workload: a.swf\nexecution: {overrun: stop}\n", 2, ["execution.overrun", "kill", "extend"]),
        ("workload: a.swf\nseed: -1\n", 2, ["seed", "-1"]),
        ("workload: a.swf\nuntil: 2q\n", 2, ["until", "duration", "2q"]),
        ("workload: a.swf\nuntil: 0\n", 2, ["until", "longer than zero"]),
        ("workload: a.swf\nwalltime: 2\n", 2, ["walltime", "2"]),
        ("workload: a.swf\ncluster: {scheduler: {order: {depth: 2}}}\n", 2, ["scheduler.order", "without a name"]),
        ("workload: a.swf\ncluster: {scheduler: {order: 3}}\n", 2, ["scheduler.order", "must be a name"]),
        (
            'workload: a.swf\ncluster: {cores: 4, reservations: [{name: "\\0", start: 3, length: 6}]}\n',
            2,
            ["reservations", "cannot hold the character NUL"],
        ),
        ("workload: a.swf\ncluster: 3\n", 2, ["cluster", "mapping"]),
        ("workload: a.swf\nworkload: b.swf\n", 2, ["'workload'", "twice", "line 1"]),
        ("workload: a.swf\ncluster:\n  cores: 3\n  cores: 4\n", 4, ["'cores'", "twice", "line 3"]),
        ("workload: [a\n", 2, ["not valid YAML"]),
        ("workload:\n\t- x\n", 2, ["not valid YAML"]),
        ("a: &x [*x]\n", 1, []),
        ("- a\n- b\n", 1, ["mapping"]),
        ("just words\n", 1, ["mapping"]),
        ("", None, ["empty"]),
        ("# only a comment\n", None, ["empty"]),
        (b"\x00\x01\x02\x03binary", 1, ["control characters"]),
        (b"seed: 1\n\xff\xfe\xfa", 2, ["not a text file"]),
        ("workload: !!python/object:os.system {}\n", 1, []),
    ],
)
def test_mistakes_are_explained(tmp_path: Path, text: str | bytes, line: int | None, words: list[str]) -> None:
    path = written(tmp_path, text)
    error = refusal(path)
    assert str(path) in str(error)
    assert error.exit_code == 2
    for word in words:
        assert word in str(error)
    if line is not None:
        assert error.line == line
        assert f"{path}:{line}: " in str(error)


def test_all_mistakes_come_in_one_message(tmp_path: Path) -> None:
    path = written(tmp_path, "seed: -1\nworkload: a.swf\ncluster:\n  cores: 0\n  colour: red\n")
    message = str(refusal(path))
    assert "3 problems" in message
    lines = message.splitlines()[1:]
    assert [line.split(": ")[0].strip() for line in lines] == [f"{path}:1", f"{path}:4", f"{path}:5"]


def test_alias_bomb_is_refused(tmp_path: Path) -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
    )
    assert "too many values" in str(refusal(written(tmp_path, bomb)))


def test_merge_keys_work(tmp_path: Path) -> None:
    text = "workload: a.swf\nclusters:\n  - &base {name: a, cores: 4}\n  - {<<: *base, name: b}\n"
    scenario = load(written(tmp_path, text))
    assert [(cluster.name, cluster.cores) for cluster in scenario.clusters] == [("a", 4), ("b", 4)]


def test_missing_file_offers_a_similar_name(tmp_path: Path) -> None:
    written(tmp_path, "workload: a.swf\n", "scenario.yaml")
    error = refusal(tmp_path / "scenaro.yaml")
    assert "no such file" in str(error)
    assert "'scenario.yaml'" in str(error)
    assert "no such file" in str(refusal(tmp_path / "nowhere" / "x.yaml"))


def test_folder_is_refused(tmp_path: Path) -> None:
    assert "folder" in str(refusal(tmp_path))


def test_settings_replace_what_the_file_says(tmp_path: Path) -> None:
    path = written(tmp_path, "workload: a.swf\ncluster: {cores: 4}\n")
    scenario = load(path, [("cluster.cores", 8), ("workload.trace", "other.swf")])
    assert scenario.clusters[0].cores == 8
    assert scenario.workload.trace == "other.swf"  # the caller's path, not the file's
    with pytest.raises(InputError, match=r"cluster\.cores must be at least 1: 0"):
        load(path, [("cluster.cores", 0)])


def test_scenario_knows_its_lines(tmp_path: Path) -> None:
    text = "workload: a.swf\ncluster:\n  cores: 4\n  scheduler:\n    backfill: easi\n"
    path = written(tmp_path, text)
    scenario = load(path)
    assert scenario.place("cluster.scheduler.backfill") == {"file": str(path), "line": 5}
    assert scenario == parse({**yaml.safe_load(text), "workload": str(tmp_path / "a.swf")})
    assert parse({"workload": "a.swf"}).place("seed") == {}


def test_dump_gives_the_same_scenario_from_another_folder(tmp_path: Path) -> None:
    text = """
seed: 3
workload: {trace: log.swf, missing_request: model}
cluster: {name: seth, nodes: 120x2, scheduler: {backfill: {name: easy, depth: 2}, order: a:B, rhythm: event}}
execution: {overrun: extend}
until: 1.5h
"""
    first = load(written(tmp_path, text))
    (tmp_path / "elsewhere").mkdir()
    again = load(written(tmp_path / "elsewhere", dump(first)))
    assert again == first
    several = parse(
        {
            "workload": {"generate": {"jobs": 5, "cores": 4, "model": {"users": 2}}},
            "clusters": [{"name": "a", "cores": 2}, {"name": "b", "cores": 4}],
        }
    )
    assert parse(yaml.safe_load(dump(several))) == several


def test_python_objects_may_stand_for_names() -> None:
    class Mine:
        pass

    jobs = Workload.from_columns(submit=[0], run_time=[1])
    scenario = parse({"workload": jobs, "cluster": {"cores": 4, "scheduler": {"backfill": Mine, "order": Mine()}}})
    scheduler = scenario.clusters[0].scheduler
    assert scheduler.backfill.instance is Mine
    assert isinstance(scheduler.order.instance, Mine)
    assert scheduler.backfill.name.endswith("Mine")
    assert scenario.workload.table is jobs
    assert "instance" not in dump(scenario)


def test_scenario_cannot_be_changed() -> None:
    scenario = parse({"workload": "a.swf"})
    with pytest.raises(ValueError, match="frozen"):
        scenario.seed = 3  # type: ignore[misc]


def test_reading_fills_requests_and_says_so(tmp_path: Path) -> None:
    jobs = Workload.from_columns(submit=[0, 1, 2], run_time=[10, 20, 30], requested_time=[50, None, None])
    exact = parse({"workload": jobs}).read_workload()
    assert exact.columns["requested_time"].tolist() == [50_000_000, 20_000_000, 30_000_000]
    assert exact.notes["perfect_estimates"] == 2
    assert jobs.columns["requested_time"].tolist()[1] == -1  # the caller's table is untouched
    largest = parse({"workload": {"table": jobs, "missing_request": "max"}}).read_workload()
    assert largest.columns["requested_time"].tolist() == [50_000_000] * 3
    assert (largest.notes["perfect_estimates"], largest.notes["filled_requests"]) == (0, 2)


def test_generated_workload_depends_on_the_seed_alone() -> None:
    mapping = {"workload": {"generate": {"jobs": 50, "cores": 8, "model": {"users": 2}}}}
    one, again, other = (parse(mapping | {"seed": seed}).read_workload() for seed in (1, 1, 2))
    assert one.columns["submit"].tolist() == again.columns["submit"].tolist()
    assert one.columns["run_time"].tolist() != other.columns["run_time"].tolist()
    assert one.machine_cores == 8
    assert len(one.label_names("user")) == 2


def test_a_job_without_a_request_asks_for_its_queues_default_time() -> None:
    jobs = Workload.from_columns(
        submit=[0, 0, 0, 0],
        run_time=[5, 5, 5, 5],
        requested_time=[None, 7, None, None],
        cores=[1, 1, 1, 1],
        queue=["short", "short", "other", None],
    )
    queues = {"short": {"default_time": "1m"}, "other": None, "rest": {"default_time": "2m", "default": True}}
    read = parse({"workload": {"table": jobs}, "cluster": {"cores": 4, "queues": queues}}).read_workload()
    assert read.columns["requested_time"].tolist() == [60_000_000, 7_000_000, 5_000_000, 120_000_000]
    assert (read.notes["filled_requests"], read.notes["perfect_estimates"]) == (3, 1)


def test_missing_trace_is_the_users_mistake(tmp_path: Path) -> None:
    scenario = load(written(tmp_path, "workload: nowhere.swf\n"))
    with pytest.raises(InputError, match=r"nowhere\.swf: no such file"):
        scenario.read_workload()


def test_resolve_takes_the_size_from_the_workload() -> None:
    jobs = Workload.from_columns(submit=[0], run_time=[1])
    scenario = parse({"workload": jobs})
    with pytest.raises(InputError, match="--cores"):
        resolve(scenario, jobs)
    jobs.machine_cores = 64
    assert resolve(scenario, jobs).clusters[0].total_cores == 64
    given = parse({"workload": jobs, "cluster": {"cores": 8}})
    assert resolve(given, jobs) is given
    with pytest.raises(InputError, match="a cluster without nodes or cores: 'b'"):
        parse({"workload": jobs, "clusters": [{"name": "a", "cores": 8}, {"name": "b"}]})


def test_cluster_file(tmp_path: Path) -> None:
    path = written(tmp_path, "cluster:\n  nodes: 4x2\n")
    assert load_cluster(path) == {"nodes": "4x2"}
    assert load_cluster(written(tmp_path, "name: seth\ncores: 240\n")) == {"name": "seth", "cores": 240}
    with pytest.raises(InputError) as caught:
        load_cluster(written(tmp_path, "cluster:\n  name: x\n  coars: 4\n"))
    assert caught.value.line == 3
    assert "did you mean 'cores'" in str(caught.value)


def test_every_field_is_described() -> None:
    seen: list[type] = []

    def visit(model: type) -> None:
        from walltime.scenario.reading.problems import model_of

        if model in seen:
            return
        seen.append(model)
        for name, field in model.model_fields.items():  # type: ignore[attr-defined]
            assert field.description, f"{model.__name__}.{name}"
            if inner := model_of(field.annotation):
                visit(inner)

    visit(Scenario)
    assert len(seen) >= 8
