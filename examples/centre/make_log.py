"""Writes a log of the centre as `sacct -P` prints one: arrays, steps, hetjobs, cancellations, failures, GPUs.

    python make_log.py week.sacct --jobs 1500 --seed 1

Who submits what is drawn at random; when each job starts comes from a simulation of this site under EASY backfilling:
so the waits in the log are those of a machine like it.
"""

import argparse
import csv
import io
import random
from datetime import datetime, timedelta
from pathlib import Path

import walltime
from walltime.site.importing.scenario import import_site

HERE = Path(__file__).parent
FILES = [HERE / name for name in ("slurm.conf", "associations.dump", "qos.txt", "gres.conf")]
BEGIN = datetime(2026, 10, 5)
FIELDS = (
    *("JobID", "JobIDRaw", "User", "Group", "Account", "Partition", "QOS", "JobName", "Submit", "Eligible", "Start"),
    *("End", "Elapsed", "Timelimit", "State", "ExitCode", "ReqCPUS", "AllocCPUS", "NNodes", "ReqMem", "ReqTRES"),
    *("AllocTRES", "NodeList"),
)
USERS = {
    **{"ada": "astro", "alan": "astro", "anna": "astro", "carl": "chem", "clara": "chem", "ben": "bio"},
    **{"bella": "bio", "ida": "industry", "ivan": "industry"},
}
LIMITS = (600, 1800, 3600, 7200, 4 * 3600, 12 * 3600, 86_400, 2 * 86_400)
ROOM = 32
"""Cores of a node."""


def draw_job(dice: random.Random, at: float) -> dict:
    """One submission: what it asks for, for how long it runs, and how it ends."""
    kind = dice.choices(("gpu", "short", "main"), (0.2, 0.25, 0.55))[0]
    limit = dice.choice(LIMITS[:4] if kind == "short" else LIMITS[2:7] if kind == "gpu" else LIMITS[1:])
    nodes = dice.choice((1, 1, 1, 1, 2, 4)) if kind != "main" else dice.choice((1, 1, 1, 2, 4, 8, 16, 40))
    cores = ROOM * nodes if nodes > 1 or dice.random() < 0.5 else dice.choice((1, 2, 4, 8, 16))
    gpus = nodes * dice.choice((1, 2, 4)) if kind == "gpu" else 0
    user = dice.choice(list(USERS))
    state = dice.choices(("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "PENDING"), (0.78, 0.08, 0.06, 0.04, 0.04))[0]
    share = 1.0 if state == "TIMEOUT" else min(dice.lognormvariate(-1.2, 0.9), 0.98)
    quality = "urgent" if user == "bella" and dice.random() < 0.3 else dice.choices(("normal", "idle"), (0.85, 0.15))[0]
    asked = {
        "partition": kind,
        "cores": cores,
        "nodes": nodes,
        "gpus": gpus,
        "memory": cores * 3 * 1024,
        "limit": limit,
    }
    run = max(20, round(limit * share))
    return asked | {"submit": at, "user": user, "qos": quality, "run": run, "state": state}


def draw_jobs(count: int, dice: random.Random, days: float) -> list[dict]:
    """Submissions over some days, more of them in the day than in the night, one in twelve an array."""
    jobs: list[dict] = []
    while len(jobs) < count:
        hour = dice.random() * 24 * days
        if dice.random() > (1.0 if 8 <= hour % 24 < 19 else 0.35):
            continue
        job = draw_job(dice, round(hour * 3600))
        size = dice.randint(4, 30) if job["nodes"] == 1 and dice.random() < 1 / 12 else 1
        jobs += [job | {"task": task if size > 1 else None, "size": size} for task in range(size)]
    return sorted(jobs[:count], key=lambda one: one["submit"])


def schedule(jobs: list[dict]) -> list[float]:
    """When each job starts: on the site's machine, with its limits, under EASY."""
    text = io.StringIO()
    names = ("submit", "run_time", "requested_time", "cores", "nodes", "gpus", "user", "account", "queue", "qos")
    table = csv.writer(text)
    table.writerow(names)
    for job in jobs:
        account = USERS[job["user"]]
        table.writerow((job["submit"], job["run"], job["limit"], job["cores"], job["nodes"], job["gpus"] or "",
                        job["user"], account, job["partition"], job["qos"]))  # fmt: skip
    scenario = import_site(FILES).data
    scenario["cluster"]["scheduler"] = {"order": "fcfs", "backfill": "easy"}
    scenario.pop("slurm", None)
    import polars as pl

    columns = pl.read_csv(io.StringIO(text.getvalue())).to_dict(as_series=False)
    scenario["workload"] = walltime.Workload.from_columns(**columns)
    return walltime.simulate(scenario).jobs["start"].to_list()


def write_log(path: Path, jobs: list[dict], starts: list[float], dice: random.Random) -> None:
    """The lines of every job and of its steps."""
    numbers: dict[tuple, int] = {}
    raw = 4_100_000
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("|".join(FIELDS) + "\n")
        for job, start in zip(jobs, starts, strict=True):
            raw += dice.randint(1, 3)
            key = (job["user"], job["submit"], job["limit"], job["cores"])
            first = numbers.setdefault(key, raw) if job["task"] is not None else raw
            label = f"{first}_{job['task']}" if job["task"] is not None else str(raw)
            for line in lines_of(job, start, label, raw, dice):
                file.write("|".join(str(line.get(name, "")) for name in FIELDS) + "\n")


def lines_of(job: dict, start: float | None, label: str, raw: int, dice: random.Random) -> list[dict]:
    """A job as sacct tells it; some of the larger ones as two parts of a heterogeneous job."""
    state, end = job["state"], None if start is None else start + job["run"]
    if state == "PENDING" or start is None:  # withdrawn before it started
        state, start, end = "CANCELLED by 5001", None, job["submit"] + dice.randint(60, 7200)
    elif state == "CANCELLED":
        state = "CANCELLED by 5001"
    elif job["nodes"] == 1 and dice.random() < 0.004:
        state = "NODE_FAIL"
    line = {
        **{"JobID": label, "JobIDRaw": raw, "User": job["user"], "Group": USERS[job["user"]]},
        **{"Account": USERS[job["user"]], "Partition": job["partition"], "QOS": job["qos"], "JobName": "run"},
        **{"Submit": show(job["submit"]), "Eligible": show(job["submit"]), "Start": show(start), "End": show(end)},
        **{"Elapsed": clock(0 if start is None else job["run"]), "Timelimit": clock(job["limit"]), "State": state},
        **{"ExitCode": "1:0" if state == "FAILED" else "0:0"},
    }
    if job["limit"] == LIMITS[-1] and dice.random() < 0.03:
        line["Timelimit"] = "UNLIMITED"
    if job["nodes"] == 4 and job["gpus"] == 0 and dice.random() < 0.1:
        halves = [job | {"nodes": 2, "cores": job["cores"] // 2, "memory": job["memory"] // 2} for _ in range(2)]
        parts = [line | {"JobID": f"{label}+{part}", "JobIDRaw": raw + part} for part in range(2)]
        return [one | amounts(half, start) for one, half in zip(parts, halves, strict=True)]
    whole = line | amounts(job, start)
    return [whole, *(steps(whole) if start is not None else [])]


def amounts(job: dict, start: float | None) -> dict:
    tres = f"billing={job['cores']},cpu={job['cores']},mem={job['memory']}M,node={job['nodes']}"
    tres += f",gres/gpu={job['gpus']}" if job["gpus"] else ""
    held = {"AllocCPUS": job["cores"], "AllocTRES": tres} if start is not None else {"AllocCPUS": 0}
    return {"ReqCPUS": job["cores"], "NNodes": job["nodes"], "ReqMem": f"{job['memory']}M", "ReqTRES": tres} | held


def steps(line: dict) -> list[dict]:
    """The steps of a job, which are lines of their own."""
    kept = {
        name: line[name] for name in ("Account", "Submit", "Start", "End", "Elapsed", "State", "AllocCPUS", "NNodes")
    }
    return [kept | {"JobID": f"{line['JobID']}.{step}", "JobIDRaw": f"{line['JobIDRaw']}.{step}", "JobName": name}
            for step, name in (("batch", "batch"), ("extern", "extern"), ("0", "solver"))]  # fmt: skip


def show(seconds: float | None) -> str:
    return "Unknown" if seconds is None else (BEGIN + timedelta(seconds=round(seconds))).isoformat()


def clock(seconds: float) -> str:
    days, rest = divmod(round(seconds), 86_400)
    text = f"{rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}"
    return f"{days}-{text}" if days else text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--jobs", type=int, default=1500)
    parser.add_argument("--days", type=float, default=3)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    dice = random.Random(given.seed)
    jobs = draw_jobs(given.jobs, dice, given.days)
    write_log(given.output, jobs, schedule(jobs), dice)
    print(f"{given.output}: {len(jobs)} jobs")


if __name__ == "__main__":
    main()
