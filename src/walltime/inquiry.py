"""Questions about one job that take simulations to answer: why did it wait, when would it start?"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from walltime import api
from walltime.analysis.explanation import Cause, Explanation, Foreseen, Overtaker, Standing
from walltime.core.errors import InputError, UnsupportedError
from walltime.core.time import SECOND, format_duration, microseconds

SAMPLES = 200
"""How often the job's place and its foreseen start are noted over its wait."""


def explain(result: api.Result | str | Path, job: str | int) -> Explanation:
    """Why the job waited: simulates the result's scenario again and watches the job.

    `result` is a Result or its folder, `job` the job's name or number. Raises InputError for a job that the result does
    not have, or a result of another engine.
    """
    done = result if isinstance(result, api.Result) else api.load(result)
    if done.scenario is None:
        raise InputError("a result without a scenario cannot be simulated again")
    if done.scenario.engine != "native":
        raise InputError("only what the native engine simulated can be explained", value=done.scenario.engine)
    row = _find_job(done, job)
    witness, again = _watch(done, row)
    return _account(done, row, witness, again)


def _find_job(done: api.Result, job: str | int) -> dict[str, Any]:
    """The row of the job in the result's table, by name or by number."""
    import polars as pl

    jobs, wanted = done.jobs, str(job).strip()
    found = jobs.filter(pl.col("name").cast(pl.String) == wanted) if "name" in jobs.columns else jobs.clear()
    if not found.height and wanted.lstrip("-").isdigit():
        found = jobs.filter(pl.col("job_id") == int(wanted))
    if found.height:
        return dict(found.row(0, named=True))
    known = [str(value) for value in jobs["job_id"].to_list()]
    known += [str(value) for value in jobs["name"].drop_nulls().to_list()] if "name" in jobs.columns else []
    near = difflib.get_close_matches(wanted, dict.fromkeys(known), n=5, cutoff=0.5) or known[:5]
    raise InputError("the result has no such job", value=wanted, choices=near)


def _watch(done: api.Result, row: dict[str, Any]) -> tuple[Any, api.Result]:
    """Simulate again with a witness of the job."""
    from walltime.engine import native
    from walltime.engine.witness import Witness
    from walltime.scenario import resolve

    scenario = done.scenario
    assert scenario is not None
    if problems := native.unsupported(scenario):
        raise UnsupportedError(native.NAME, problems)
    eligible = row["eligible"] if row["eligible"] is not None else row["submit"]
    last = row["start"] if row["start"] is not None else row["end"]
    wait = (float(last) - float(eligible)) if last is not None else 86_400.0
    witness = Witness(int(row["job_id"]), microseconds(max(wait, 0.0)) // SAMPLES)
    workload = scenario.read_workload()
    resolved = resolve(native.complete(scenario), workload)
    clock = _Clock()
    record = native.run(resolved, workload, clock, observers=[witness])
    witness.finish(clock.simulation.now if resolved.until is None else microseconds(resolved.until))
    return witness, api.Result(resolved, record, done.label)


class _Clock:
    """Keeps hold of the simulation, to know when it ended."""

    simulation: Any = None

    def attach(self, simulation: Any) -> None:
        self.simulation = simulation

    def progress(self, now: int, submitted: int, ended: int) -> None:
        pass


def _account(done: api.Result, row: dict[str, Any], witness: Any, again: api.Result) -> Explanation:
    names = {int(number): str(name) for number, name in _names(again)}
    causes = tuple(
        Cause(one.kind, one.start / SECOND, one.end / SECOND, _words(one, names), _facts(one)) for one in witness.reasons
    )
    seen = [(time, start, "promised") for time, start in witness.promises]
    if not seen:
        seen = [(time, start, "planned") for time, start in witness.plans]
    facts = {
        "user": row.get("user"),
        "queue": row.get("queue"),
        "cores": row["cores"],
        "requested": format_duration(row["requested_time"]),
        "state": row["state"],
    }
    eligible = next((time for time, state in witness.moves if state == "waiting"), None)
    until = causes[-1].end if causes else None if eligible is None else eligible / SECOND
    return Explanation(
        str(row.get("name") or row["job_id"]),
        facts,
        float(row["submit"]),
        None if eligible is None else eligible / SECOND,
        row["start"],
        row["end"],
        until,
        causes,
        tuple(
            Overtaker(
                names.get(one.job_id, str(one.job_id)),
                one.time / SECOND,
                one.cores,
                one.submit / SECOND,
                one.estimate / SECOND,
                one.behind,
                one.later,
            )
            for one in witness.passed
        ),
        tuple(Foreseen(time / SECOND, start / SECOND, how) for time, start, how in seen),
        tuple(Standing(one.time / SECOND, one.ahead, one.waiting, one.parts) for one in witness.samples),
        tuple(_notes(done, again, seen, witness)),
        dict(done.record.facts.get("origin") or {}),
    )


def _names(again: api.Result) -> list[tuple[int, str]]:
    jobs = again.jobs
    if "name" not in jobs.columns:
        return []
    return [(number, name) for number, name in jobs.select("job_id", "name").iter_rows() if name is not None]


def _facts(one: Any) -> dict[str, Any]:
    facts = {name: value for name, value in one.detail.items() if name != "text"}
    if "promised" in facts:
        facts["promised"] = facts["promised"] / SECOND
    return facts


def _words(one: Any, names: dict[int, str]) -> str:
    """A cause for a person."""
    from walltime.engine.witness import KINDS

    detail = one.detail
    who = detail.get("who")
    if one.kind == "limit":
        return str(detail["text"])
    if one.kind == "resources":
        free, most, needs = detail["free"], detail["most_free"], detail["needs"]
        amount = f"{free:,}" if free == most else f"{free:,} to {most:,}"
        if most >= needs:
            return f"it needs {needs:,} cores; {amount} were free, but not where and as it needs them"
        return f"it needs {needs:,} cores; {amount} were free"
    if one.kind == "reservation" and who is not None:
        return f"it would have delayed job {names.get(who, who)}, which has a reservation"
    if one.kind == "priority":
        others = f" and {detail['ahead'] - 1:,} more" if detail["ahead"] > 1 else ""
        return f"it fitted, but stood behind job {names.get(who, who)}{others}, and nobody is overtaken"
    return KINDS[one.kind]


def _notes(done: api.Result, again: api.Result, seen: list[Any], witness: Any) -> list[str]:
    notes = []
    if again.digest != done.digest:
        version = done.provenance.get("version")
        notes.append(
            f"simulated again, the schedule is another one than the result's (made by version {version}, digest "
            f"{done.digest[:12]} then and {again.digest[:12]} now); this is the account of the new one"
        )
    if not seen and witness.reasons:
        notes.append("its start was not foreseen: nothing was promised, and the machine is divided into parts")
    restarts = sum(state == "running" for _, state in witness.moves) - 1
    if restarts > 0:
        notes.append(f"it was started {restarts + 1} times; this is the wait before its first start")
    return notes
