"""Workflows like those of scientific applications, made by WfCommons: an optional package.

T. Coleman et al., "WfCommons: a framework for enabling scientific workflow research and development", Future Generation
Computer Systems 128, 2022. Its recipes are learnt from recorded runs; a workflow is drawn with a number of tasks.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.workload.formats.workflows import read_workflow
from walltime.workload.workflow import Workflow


def list_recipes() -> list[str]:
    """The names of WfCommons' recipes, such as montage; raises InputError where the package is not installed."""
    return sorted(_recipes())


def draw_workflow(recipe: str, tasks: int, seed: int = 0) -> Workflow:
    """A workflow with about so many tasks, by the name of a recipe; the same arguments give the same workflow.

    Raises InputError where the package is not installed, where there is no such recipe, and where the recipe needs more
    tasks.
    """
    known = _recipes()
    if recipe not in known:
        raise InputError("no such recipe of WfCommons", value=recipe, choices=sorted(known))
    from wfcommons import WorkflowGenerator

    with tempfile.TemporaryDirectory() as folder, _seeded(seed, recipe, tasks):
        path = Path(folder) / f"{recipe}-{tasks}.json"
        try:
            WorkflowGenerator(known[recipe].from_num_tasks(tasks)).build_workflow().write_json(path)
        except (ValueError, IndexError) as error:
            raise InputError(f"WfCommons makes no such {recipe} workflow ({error}); tasks", value=tasks) from None
        found = read_workflow(path)
    return Workflow(f"{recipe}-{tasks}", found.tasks, None, found.notes)


def _recipes() -> dict[str, Any]:
    """The recipes by their names in small letters."""
    try:
        from wfcommons.wfchef import recipes
    except ImportError:
        raise InputError(
            "recipes of workflows need the package wfcommons, which is not installed: pip install 'walltime[workflows]'"
        ) from None
    names = [name for name in dir(recipes) if name.endswith("Recipe")]
    return {name.removesuffix("Recipe").lower(): getattr(recipes, name) for name in names}


@contextmanager
def _seeded(seed: int, recipe: str, tasks: int) -> Iterator[None]:
    """WfCommons draws from Python's and NumPy's global generators: lend it seeded ones, and put back what was there."""
    number = int(stream(seed, f"recipe {recipe}", tasks).integers(2**32))
    kept = random.getstate(), np.random.get_state()
    random.seed(number)
    np.random.seed(number)
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
