"""The registry: names, imports, parameters, and how each mistake is explained."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from walltime.core import plugins
from walltime.core.entry_points import installed
from walltime.core.errors import InputError, PolicyError
from walltime.policy import registry
from walltime.policy.registry import Entry, Preset, Registry, build, check, preset
from walltime.policy.signatures import parameters_of, summary_of
from walltime.scenario import Part, load, parse

MODULE = """
from walltime.policy.api import Policy

class Depth(Policy):
    "Looks at some jobs."
    def __init__(self, depth, slack=0.5, *, strict=False):
        if depth < 0:
            raise ValueError("depth must not be negative")
        self.depth, self.slack = depth, slack
    def schedule(self, p):
        pass

class Open(Policy):
    def __init__(self, **anything):
        self.anything = anything
    def schedule(self, p):
        pass

def choose(scheduling_pass, share=1):
    return []

ready = Depth(3)
"""


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own_parts.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(plugins, "_allowed", plugins._Allowed())
    plugins.allow_plugins(tmp_path)
    yield tmp_path  # type: ignore[misc]
    sys.modules.pop("own_parts", None)


def part(name: str, **parameters: Any) -> Part:
    return Part(name=name, parameters=parameters)


def test_built_in_names_are_unique_and_described() -> None:
    found = registry.entries()
    assert {(entry.kind, entry.name) for entry in found} >= {
        ("order", "fcfs"),
        ("backfill", "easy"),
        ("rhythm", "event"),
    }
    assert all(entry.summary for entry in found)
    assert all(item.summary for item in registry.presets())


def test_every_built_in_can_be_built() -> None:
    required: dict[str, Any] = {"value": "wait * cores", "factor": 2, "weights": {"load": -1}}
    for entry in registry.entries():
        if entry.name == "cp-sat" and importlib.util.find_spec("ortools") is None:
            continue  # built among the tests of services, which install it
        given = {name: required[name] for name, item in entry.parameters().items() if item.default is item.empty}
        given |= {"time": "1h"} if entry.name == "split" else {}  # by time or by cores: one of both
        assert build(entry.kind, part(entry.name, **given)) is not None


def test_presets_name_registered_parts() -> None:
    for item in registry.presets():
        scenario = parse({"workload": "a.swf", "cluster": {"cores": 4, "scheduler": preset(item.name)}})
        check(scenario)


def test_preset_of_a_module_attribute_is_a_backfill() -> None:
    assert preset("own:Policy") == {"order": "fcfs", "backfill": "own:Policy"}
    with pytest.raises(InputError, match="unknown policy: 'esay'; did you mean 'easy'"):
        preset("esay")


def test_duplicate_names_are_errors() -> None:
    table = Registry()
    table.add(Entry("order", "x", "a:B"))
    table.add(Entry("backfill", "x", "a:B"))
    with pytest.raises(InputError, match=r"same name, a:B and c:D: 'order\.x'"):
        table.add(Entry("order", "x", "c:D"))
    table.add(Preset("p", {}, "one"))
    with pytest.raises(InputError, match="already"):
        table.add(Preset("p", {}, "two"))
    with pytest.raises(InputError, match="unknown kind"):
        table.add(Entry("ordr", "x", "c:D"))


def test_unknown_name_gets_the_choices() -> None:
    with pytest.raises(InputError, match=r"unknown backfill part: 'esy'; did you mean 'easy'\? \(choices: none, easy"):
        build("backfill", part("esy"))


def test_class_is_instantiated_with_parameters(parts: Path) -> None:
    made = build("backfill", part("own_parts:Depth", depth=4))
    assert (made.depth, made.slack) == (4, 0.5)
    assert build("backfill", part("own_parts:Open", a=1)).anything == {"a": 1}


def test_instance_is_used_as_it_is(parts: Path) -> None:
    made = build("backfill", part("own_parts:ready"))
    assert made.depth == 3
    assert build("backfill", part("own_parts:ready")) is made
    with pytest.raises(InputError, match="it takes none"):
        build("backfill", part("own_parts:ready", depth=2))
    assert build("backfill", Part(name="x", instance=made)) is made


def test_function_is_wrapped_where_one_will_do(parts: Path) -> None:
    from walltime.policy.api import FunctionPolicy
    from walltime.policy.functions import FunctionBroker, FunctionEstimate, FunctionOrder

    assert isinstance(build("backfill", part("own_parts:choose")), FunctionPolicy)
    assert isinstance(build("backfill", part("own_parts:choose", share=2)), FunctionPolicy)
    assert isinstance(build("order", part("own_parts:choose", share=2)), FunctionOrder)
    assert isinstance(build("estimate", part("own_parts:choose")), FunctionEstimate)
    with pytest.raises(InputError, match="no such parameter: 'shar'; did you mean 'share'"):
        build("backfill", part("own_parts:choose", shar=2))
    assert isinstance(build("broker", part("own_parts:choose")), FunctionBroker)
    with pytest.raises(InputError, match="takes a class or an object"):
        build("execution", part("own_parts:choose"))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "needs the parameter depth"),
        ({"depth": 1, "slak": 2}, "no such parameter: 'slak'; did you mean 'slack'"),
        ({"depth": -1}, "depth must not be negative"),
        ({"depth": "two"}, "own_parts:Depth"),
    ],
)
def test_wrong_parameters_are_explained(parts: Path, parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        build("backfill", part("own_parts:Depth", **parameters))


def test_import_errors_are_explained(parts: Path) -> None:
    (parts / "broken_syntax.py").write_text("x = 1\ndef f(:\n")
    (parts / "broken_inside.py").write_text("x = 1\n\ny = x / 0\n")
    (parts / "broken_import.py").write_text("import nothing_of_that_name\n")
    for name, words, line in [
        ("nowhere_to_be_found:X", "no module named 'nowhere_to_be_found'", None),
        ("own_parts:Dept", "nothing of this name in own_parts: 'Dept'; did you mean 'Depth'", None),
        ("broken_syntax:X", "syntax error", 2),
        ("broken_inside:X", "ZeroDivisionError", 3),
        ("broken_import:X", "nothing_of_that_name", 1),
        ("own parts:X", "module:attribute", None),
        ("own_parts:", "module:attribute", None),
    ]:
        plugins.allow(name)
        with pytest.raises(InputError) as caught:
            build("backfill", part(name))
        assert words in str(caught.value), name
        assert caught.value.line == line
        if line:
            assert name.partition(":")[0] + ".py" in str(caught.value.file)


def test_check_tells_the_line_of_the_scenario(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("workload: a.swf\ncluster:\n  cores: 4\n  scheduler:\n    backfill: esy\n")
    with pytest.raises(InputError, match="did you mean 'easy'") as caught:
        check(load(path))
    assert (caught.value.file, caught.value.line) == (str(path), 5)


def forget() -> None:
    """What packages offer is looked for again."""
    installed.cache_clear()
    registry.registry.cache_clear()


def test_entry_points_of_packages_are_found(parts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = parts / "own_parts-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-parts\nVersion: 1.0\n")
    points = info / "entry_points.txt"
    points.write_text("[walltime.parts]\nbackfill.deep = own_parts:Depth\n")
    importlib.invalidate_caches()
    forget()
    try:
        entry = registry.registry().find("backfill", "deep")
        assert list(entry.parameters()) == ["depth", "slack", "strict"]
        assert entry.describe() == "Looks at some jobs."
        assert build("backfill", part("deep", depth=1)).depth == 1
        points.write_text("[walltime.parts]\nbackfill.easy = own_parts:Depth\n")
        forget()
        with pytest.raises(InputError, match="same name"):
            registry.registry()
        points.write_text("[walltime.parts]\neasy = own_parts:Depth\n")
        forget()
        with pytest.raises(InputError, match=r"own-parts registers a part that is not named kind\.name"):
            registry.registry()
    finally:
        forget()


def test_parameters_of_a_compiled_class_come_from_its_documentation() -> None:
    signature = "Deep(int depth: cython.int = 1, need, str kind: str = 'a, b', *, weights=(1, 2), **rest) -> None"
    text = f"{signature}\n\nLooks deep."
    compiled = type("Deep", (), {"__doc__": text, "__signature__": 3})  # inspect refuses it, as it does a compiled one
    found = parameters_of(compiled)
    assert list(found) == ["depth", "need", "kind", "weights", "rest"]
    defaults = {name: item.default for name, item in found.items() if item.default is not item.empty}
    assert defaults == {"depth": 1, "kind": "a, b", "weights": (1, 2)}
    assert summary_of(compiled) == "Looks deep."


CHECKED = """
from walltime.policy.api import Estimate, Order, Policy

class Fraction(Order):
    def key(self, jobs, slot):
        return jobs.cores[slot] / 1000

class Nothing(Order):
    def key(self, jobs, slot):
        return None

class Dynamic(Order):
    dynamic = True

    def keys(self, jobs, slots, now, keys):
        for i, slot in enumerate(slots):
            keys[i] = int(jobs.cores[slot])

class Negative(Estimate):
    def estimate(self, jobs, slot):
        return -5

class Stop(Policy):
    def schedule(self, p):
        raise SystemExit(0)
"""


def run_with(parts: Path, **scheduler: Any) -> Any:
    import walltime

    (parts / "checked_parts.py").write_text(CHECKED)
    jobs = walltime.Workload.from_columns(
        submit=[0, 1, 1, 1], run_time=[5] * 4, requested_time=[5] * 4, cores=[4, 3, 2, 1]
    )
    settings = {f"cluster__scheduler__{kind}": f"checked_parts:{name}" for kind, name in scheduler.items()}
    try:
        return walltime.simulate(jobs, cores=4, policy="fcfs", **settings).jobs["start"].to_list()
    finally:
        sys.modules.pop("checked_parts", None)


@pytest.mark.parametrize("order", ["Fraction", "Dynamic"])
def test_a_key_of_any_number_orders_the_queue(parts: Path, order: str) -> None:
    assert run_with(parts, order=order) == [0, 10, 5, 5]


@pytest.mark.parametrize(
    ("scheduler", "complaint"),
    [
        ({"order": "Nothing"}, "Nothing: the key of job 1 is None, not a number"),
        ({"estimate": "Negative"}, "Negative: estimates job 1 at -5"),
        ({"backfill": "Stop"}, "Stop: tried to end the program at 0 s"),
    ],
)
def test_what_a_part_returns_is_looked_at(parts: Path, scheduler: dict[str, str], complaint: str) -> None:
    with pytest.raises(PolicyError, match=complaint):
        run_with(parts, **scheduler)


def test_a_part_of_another_kind_is_refused(parts: Path) -> None:
    with pytest.raises(
        InputError, match=r"the class Fraction is not a walltime\.policy\.api\.Policy, which backfill takes"
    ):
        run_with(parts, backfill="Fraction")


def test_a_rank_beyond_what_the_core_counts_is_refused():
    with pytest.raises(InputError, match="rank of urgent"):
        registry.build("preempt", Part(name="qos", ranks={"urgent": 10**30}))


WRONG = [
    *(10**400, -(10**400), 2**63, -(2**63) - 1, 1e308, float("nan"), float("inf"), -1, 0.5, True, None),
    *("x", "9" * 5000, b"x", [], [10**400], [["a"]], {}, {"a": 10**400}, {"a": "b"}),
]


@pytest.mark.parametrize(
    "entry", [entry for entry in registry.entries() if entry.target], ids=lambda entry: f"{entry.kind}-{entry.name}"
)
def test_no_value_of_a_parameter_is_a_fault(entry):
    """Each parameter of each part takes a value or refuses it in words, whatever a file says."""
    for name in entry.parameters():
        for value in WRONG:
            with contextlib.suppress(InputError):
                build(entry.kind, Part.model_validate({"name": entry.name, name: value}))


@pytest.mark.parametrize(
    ("kind", "part", "words"),
    [
        ("estimate", {"name": "factor", "factor": 10**400}, "a number is out of range"),
        ("order", {"name": "multifactor", "qos": 5}, "qos is a mapping from names to priorities: 5"),
    ],
)
def test_what_a_parameter_cannot_be_is_told(kind, part, words):
    with pytest.raises(InputError, match=words):
        build(kind, Part.model_validate(part))
