"""What packages say of themselves agrees with pyproject.toml, where the version is written."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

import walltime

ROOT = Path(__file__).parents[3]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NAMES = {"matplotlib": "matplotlib-base"}
"""Packages that have another name among conda's."""


def split(requirement: str) -> tuple[str, str]:
    found = re.fullmatch(r"([A-Za-z0-9_.-]+?) *([<>=].*)?", requirement)
    assert found is not None, requirement
    return NAMES.get(found[1], found[1]).lower(), found[2] or ""


def test_the_version_is_written_once():
    version = PROJECT["project"]["version"]
    assert walltime.__version__ == version
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == version
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## (Unreleased \()?{re.escape(version)}\b", changes, re.M), "a section of the changelog"


def test_the_conda_recipe_asks_for_what_pip_would():
    text = (ROOT / "conda/meta.yaml").read_text(encoding="utf-8")
    assert PROJECT["project"]["version"] not in re.findall(r"version: (.*)", text)
    plain = re.sub(r"{%.*?%}", "", text)
    recipe = yaml.safe_load(re.sub(r"{{.*?}}", "x", plain))
    run = {split(item) for item in recipe["requirements"]["run"]} - {("python", "")}
    assert run == {split(item) for item in PROJECT["project"]["dependencies"]}
    host = {split(item) for item in recipe["requirements"]["host"]} - {("python", ""), ("pip", "")}
    assert host == {split(item) for item in PROJECT["build-system"]["requires"]}
    assert recipe["build"]["entry_points"] == [
        f"{name} = {target}" for name, target in PROJECT["project"]["scripts"].items()
    ]
