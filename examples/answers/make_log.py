"""A log of twelve weeks on a small machine with GPUs, drawn at random: `python make_log.py log.csv`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

DAY = 86_400
WEEKS = 12
USERS = {"gpu": ("ada", "ben", "cleo", "dov"), "cpu": ("eve", "fay", "gus")}


def main(path: str) -> None:
    """Write the log as a table."""
    random = np.random.Generator(np.random.Philox(7))
    jobs = []
    for day in range(7 * WEEKS + 1):
        busy = 1.0 if day % 7 < 5 else 0.3  # weekends are quiet
        for queue, rate in (("gpu", 26), ("cpu", 14)):
            for _ in range(random.poisson(rate * busy)):
                submit = day * DAY + int(3600 * np.clip(random.normal(13, 3.5), 0, 23.9))
                run = int(np.clip(random.lognormal(8.6, 1.1), 60, 2 * DAY))
                asked = min(2 * DAY, 3600 * -(-2 * run // 3600))
                gpus = int(random.choice((1, 1, 2, 4))) if queue == "gpu" else 0
                cores = 8 * gpus or int(random.choice((4, 16, 32)))
                jobs.append((submit, run, asked, cores, gpus, queue, str(random.choice(USERS[queue]))))
    rows = ["job_id,submit,run_time,requested_time,cores,gpus,queue,user"]
    rows += [",".join(map(str, (number, *job))) for number, job in enumerate(sorted(jobs), 1)]
    Path(path).write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
