"""What may import what: the layers, the declaration files, and what `import walltime` costs."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import walltime

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "walltime"
DECLARATIONS = sorted(SOURCE.rglob("*.pxd"))
HEAVY = ("polars", "pydantic", "typer", "rich", "yaml", "numpy", "matplotlib", "sqlalchemy", "alembic")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in a process of its own, with the package that is being tested."""
    path = os.pathsep.join(filter(None, [str(Path(walltime.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]))
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, text=True, capture_output=True, check=False
    )


def test_the_architecture_page_has_the_layers_of_the_contract():
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    line = " > ".join(layer.replace("walltime.", "") for layer in contracts[0]["layers"])
    page = (ROOT / "docs" / "background" / "architecture.md").read_text(encoding="utf-8")
    assert f"```\n{line}\n```" in page, line


def test_every_file_that_the_architecture_page_names_is_there():
    page = (ROOT / "docs" / "background" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+(?:\.py|/))`", page))
    places = (SOURCE, SOURCE / "workload", SOURCE / "analysis", SOURCE / "policies", ROOT)
    missing = sorted(name for name in named if not any((place / name).exists() for place in places))
    assert len(named) > 40
    assert not missing, missing


def test_the_architecture_page_names_all_that_a_source_may_ask_of_the_engine():
    page = (ROOT / "docs" / "background" / "architecture.md").read_text(encoding="utf-8")
    told = page.split("the interface `Engine`:")[1].split("- **One function")[0]
    tree = ast.parse((SOURCE / "kernel" / "source.py").read_text(encoding="utf-8"))
    engine = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Engine")
    methods = {node.name for node in engine.body if isinstance(node, ast.FunctionDef)} - {"__init__"}
    assert set(re.findall(r"`(\w+)`", told)) == methods


def test_every_folder_is_on_the_map_and_every_module_in_a_layer():
    page = (ROOT / "docs" / "background" / "architecture.md").read_text(encoding="utf-8")
    house = page.split("## The house")[1].split("## Imports")[0]
    folders = {file.parent.name for file in SOURCE.rglob("*/__init__.py")} - {SOURCE.name, "versions"}
    assert not (missing := sorted(name for name in folders if f"{name}/" not in house)), missing
    layers = re.split(r"\W+", page.split("## Imports point one way")[1].split("```")[1])
    modules = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert modules - {"__init__", "__main__", *layers} == set()


def test_no_room_has_more_than_some_twenty_modules():
    rooms = {folder: len(list(folder.glob("*.py"))) for folder in SOURCE.rglob("*") if folder.is_dir()}
    crowded = {str(folder.relative_to(SOURCE)): count for folder, count in rooms.items() if count > 22}
    assert not crowded, crowded


def test_the_folders_of_unit_tests_are_those_of_the_source():
    here = Path(__file__).parent
    folders = {test.parent.relative_to(here) for test in here.rglob("test_*.py")}
    others = {Path("tools")}  # the project's own, which are no part of the package
    assert len(folders) > 30
    strange = sorted(str(folder) for folder in folders - others if not (SOURCE / folder).is_dir())
    assert not strange, strange


def module_of(path: Path) -> str:
    return ".".join(["walltime", *path.relative_to(SOURCE).with_suffix("").parts])


def imported(path: Path) -> set[str]:
    """The modules of ours that a Python file imports from, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.split(".")[0] == "walltime"}


def cimported(path: Path) -> set[str]:
    """The modules of ours that a declaration file takes declarations from."""
    text = path.read_text(encoding="utf-8")
    return set(re.findall(r"^\s*(?:from\s+|cimport\s+)(walltime[\w.]*)", text, re.M))


def compiled() -> set[str]:
    """The modules that setup.py compiles."""
    for node in ast.walk(ast.parse((ROOT / "setup.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COMPILED":
            return {f"walltime.{name}" for name in ast.literal_eval(node.value)}
    raise AssertionError("setup.py has no list COMPILED")


def test_imports_point_one_way() -> None:
    done = run("-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"[1-9]\d* kept, 0 broken", done.stdout)


@pytest.mark.parametrize("path", DECLARATIONS, ids=module_of)
def test_a_declaration_file_takes_from_ours_only_what_its_module_imports(path: Path) -> None:
    """import-linter reads .py files alone: so it sees the edges of the .pxd files too."""
    assert cimported(path) <= imported(path.with_suffix(".py"))


def test_edges_of_a_declaration_file_are_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.pxd"
    page.write_text(
        "from walltime.kernel.jobs cimport JobTable\ncimport walltime.kernel.heap\nfrom libc cimport math\n"
    )
    assert cimported(page) == {"walltime.kernel.jobs", "walltime.kernel.heap"}


def test_declaration_files_are_those_of_the_compiled_modules() -> None:
    kinds = {path: set(re.findall(r"^cp?def (\w+)", path.read_text(), re.M)) for path in DECLARATIONS}
    inline = {path for path, found in kinds.items() if found and found <= {"extern", "inline"}}
    assert {module_of(path) for path in DECLARATIONS if path not in inline} == compiled()
    assert {path.name for path in inline} == {"arrays.pxd", "node_bits.pxd", "prefetch.pxd", "random.pxd"}


def test_a_module_with_uses_of_cython_is_compiled() -> None:
    using = {
        module_of(path)
        for path in SOURCE.rglob("*.py")
        if re.search(r"^@cython\.cclass|^@cython\.cfunc|^@cython\.ccall", path.read_text(encoding="utf-8"), re.M)
    }
    assert using <= compiled()


def test_the_twin_is_no_part_of_the_package() -> None:
    assert not list(SOURCE.rglob("reference*.py"))
    for path in SOURCE.rglob("*.py"):
        assert not re.search(r"^\s*(from|import) twin\b", path.read_text(encoding="utf-8"), re.M), path


def test_importing_walltime_imports_nothing_heavy() -> None:
    done = run("-c", "import sys, walltime; print(*sorted(name for name in sys.modules if '.' not in name))")
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    assert "walltime" in loaded
    assert not {name for name in HEAVY if name in loaded}


def test_what_walltime_offers_is_there() -> None:
    """Everything in __all__ can be asked for, although nothing of it is imported at first."""
    for name in walltime.__all__:
        assert getattr(walltime, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = walltime.nonsense
    assert set(walltime.__all__) == set(dir(walltime))


def declared_members() -> dict[str, tuple[str | None, set[str]]]:
    """Of each class in a declaration file: the class that it stands on, and its fields and methods."""
    found: dict[str, tuple[str | None, set[str]]] = {}
    for path in DECLARATIONS:
        members: set[str] | None = None
        for line in path.read_text(encoding="utf-8").splitlines():
            line = line.partition("#")[0].rstrip()
            if head := re.match(r"cdef class (\w+)(?:\((\w+)\))?:", line):
                members = set()
                found[head[1]] = (head[2], members)
            elif line and not line.startswith(" "):
                members = None
            elif line and members is not None:
                members |= set(re.findall(r"(\w+)(?:\[[^\]]*\])?$", line) + re.findall(r"(\w+)\(", line))
    return found


def test_compiled_classes_use_only_fields_that_are_declared():
    """Another one would be looked up by its name at run time, slowly, and fail there if a class above declares it."""
    declared = declared_members()
    classes = {}
    for path in DECLARATIONS:
        source = path.with_suffix(".py")
        for node in ast.parse(source.read_text(encoding="utf-8")).body if source.exists() else ():
            if isinstance(node, ast.ClassDef) and node.name in declared:
                classes[node.name] = (source, node)
    unknown = []
    for name, (source, node) in classes.items():
        known: set[str] = set()
        level: str | None = name
        while level in declared:
            known |= declared[level][1]
            if level in classes:
                known |= {part.name for part in classes[level][1].body if isinstance(part, ast.FunctionDef)}
            level = declared[level][0]
        for part in ast.walk(node):
            own = isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self"
            if own and part.attr not in known and not part.attr.startswith("__"):
                unknown.append(f"{source.relative_to(SOURCE)}:{part.lineno} {name}.{part.attr}")
    assert len(classes) > 80
    assert not unknown, unknown
