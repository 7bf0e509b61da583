"""The compiled scanner of sacct against an obvious reader in plain Python, over random logs."""

import datetime

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from walltime.core.errors import InputError
from walltime.workload.formats.sacct.reader import read_sacct

SECOND = 1_000_000
EPOCH = datetime.datetime(1970, 1, 1)
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
COLUMNS = ["JobID", "User", "Submit", "Start", "End", "Elapsed", "Timelimit", "State", "NCPUS", "ReqCPUS", "NNodes",
           "ReqMem", "AllocTRES", "Extra"]  # fmt: skip


def clock(seconds):
    days, rest = divmod(seconds, 86_400)
    text = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{text}" if days else text


@st.composite
def records(draw):
    """A line's fields by name; as untidy as real ones."""
    submit = datetime.datetime(2024, 2, 28) + datetime.timedelta(seconds=draw(st.integers(0, 200_000)))
    start = submit + datetime.timedelta(seconds=draw(st.integers(0, 50_000)))
    run = draw(st.integers(0, 300_000))
    number = draw(st.integers(1, 10**6))
    form = draw(st.sampled_from(["{}", "{}", "{}", "{}_7", "{}.batch", "{}.0", "{}_[3-9]"]))
    memory = draw(st.sampled_from(["", "0", "?"]) | st.builds(
        lambda amount, unit, per: f"{amount}{unit}{per}", st.integers(1, 999), st.sampled_from(["", *UNITS]),
        st.sampled_from(["", "n", "c"])))  # fmt: skip
    cores, gpus = draw(st.integers(0, 64)), draw(st.integers(0, 4))
    tres = draw(st.sampled_from(["", f"cpu={cores},gres/gpu={gpus},mem=3G", f"billing=9,cpu={cores},mem=3G,node=1",
                                 f"cpu={cores},license/a@b={gpus},license/x=2,node=1"]))  # fmt: skip
    return {
        "JobID": form.format(number),
        "User": draw(st.sampled_from(["", "ann", "bo", "Jörg"])),
        "Submit": draw(st.sampled_from([submit.isoformat()] * 9 + ["Unknown"])),
        "Start": draw(st.sampled_from([start.isoformat()] * 5 + ["Unknown", "None", ""])),
        "End": draw(st.sampled_from([(start + datetime.timedelta(seconds=run)).isoformat()] * 5 + ["Unknown"])),
        "Elapsed": clock(run),
        "Timelimit": draw(st.sampled_from(["UNLIMITED", "Partition_Limit", ""]) | st.integers(1, 10**6).map(clock)),
        "State": draw(st.sampled_from(["COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", "CANCELLED", "CANCELLED by 12",
                                       "RUNNING", "PENDING", "REQUEUED", "OUT_OF_MEMORY", "PREEMPTED"])),
        "NCPUS": str(cores),
        "ReqCPUS": str(draw(st.integers(0, 64))),
        "NNodes": str(draw(st.integers(0, 8))),
        "ReqMem": memory,
        "AllocTRES": tres,
        "Extra": draw(st.sampled_from(["", "x", "1:0"])),
    }  # fmt: skip


def seconds(text):
    return None if not text[:1].isdigit() else int((datetime.datetime.fromisoformat(text) - EPOCH).total_seconds())


def length(text):
    if not text[:1].isdigit():
        return None
    days, _, rest = text.rpartition("-")
    hours, minutes, last = map(int, rest.split(":"))
    return int(days or 0) * 86_400 + hours * 3600 + minutes * 60 + last


def expected(record):
    """The job that a record stands for, as a dictionary; None where it is dropped."""
    if "." in record["JobID"] or record["State"] in ("RUNNING", "PENDING", "REQUEUED"):
        return None
    submit, start, end = (seconds(record[name]) for name in ("Submit", "Start", "End"))
    run, limit = length(record["Elapsed"]), length(record["Timelimit"])
    if record["Timelimit"] == "UNLIMITED":
        limit = 365 * 86_400
    tres = dict(item.split("=") for item in record["AllocTRES"].split(",") if item)
    cores = int(record["NCPUS"]) or int(tres.get("cpu", 0)) or int(record["ReqCPUS"])
    nodes = int(record["NNodes"])
    cancelled = record["State"].startswith("CANCELLED") and run == 0
    if submit is None or (not run and not cancelled) or "[" in record["JobID"] or cores < 1:
        return None
    if cancelled and (limit is None or end is None or end < submit):
        return None
    return {
        "submit": submit,
        "run_time": -1 if cancelled else run * SECOND,
        "requested_time": -1 if limit is None else limit * SECOND,
        "cores": cores,
        "nodes": nodes if 0 < nodes <= cores else -1,
        "memory": memory(record["ReqMem"], cores, nodes) or (3 << 30 if "mem" in tres else -1),
        "gpus": int(tres.get("gres/gpu", 0)),
        "licences": ",".join(
            f"{name[8:].replace('@', '_')}:{count}"
            for name, count in tres.items()
            if name.startswith("license/") and count != "0"
        ),
        "cancel": end if cancelled else -1,
        "recorded_wait": -1 if cancelled or start is None else (start - submit) * SECOND,
        "user": record["User"],
    }


def memory(text, cores, nodes):
    if not text[:1].isdigit():
        return 0
    times = {"n": max(nodes, 1), "c": cores}.get(text[-1], 1)
    text = text.rstrip("nc")
    unit = UNITS.get(text[-1], UNITS["M"])
    return int(text.rstrip("KMGT")) * unit * times


@settings(max_examples=150, deadline=None)
@given(st.lists(records(), min_size=1, max_size=12), st.permutations(COLUMNS), st.booleans())
def test_scanner_and_twin_agree(tmp_path_factory, lines, order, closed):
    path = tmp_path_factory.mktemp("log") / "log.sacct"
    end = "|\n" if closed else "\n"
    rows = [order, *([line[name] for name in order] for line in lines)]
    path.write_text("".join("|".join(row) + end for row in rows), encoding="utf-8")
    jobs = sorted((job for job in map(expected, lines) if job), key=lambda job: job["submit"])
    if not jobs:
        try:
            read_sacct(path)
        except InputError:
            return
        raise AssertionError("there is no job in this log")
    found = read_sacct(path)
    assert len(found) == len(jobs)
    zero = int(found.origin.epoch)
    for name in ("run_time", "requested_time", "cores", "nodes", "memory", "gpus", "recorded_wait"):
        assert found.column(name).tolist() == [job[name] for job in jobs], name
    assert (found.column("submit") // SECOND + zero).tolist() == [job["submit"] for job in jobs]
    cancel = found.column("cancel")
    assert np.where(cancel < 0, -1, cancel // SECOND + zero).tolist() == [job["cancel"] for job in jobs]
    names = [*found.label_names("user"), ""]
    assert [names[code] for code in found.column("user")] == [job["user"] for job in jobs]
    licences = [*found.label_names("licences"), ""]
    assert [licences[code] for code in found.column("licences")] == [job["licences"] for job in jobs]
