"""The command ends without Python's own end, and nothing is lost by that."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import crowd, start, swf

POLICY = """\
import atexit
import threading
import time
from pathlib import Path

from walltime import Policy

atexit.register(Path("left").write_text, "in order")


def linger():
    time.sleep(1)
    Path("finished").write_text("too")


class Mine(Policy):
    def schedule(self, p):
        if {threaded} and not any(thread.name == "mine" for thread in threading.enumerate()):
            threading.Thread(target=linger, name="mine").start()
        while (job := p.head()) >= 0 and p.fits(job):
            p.start(job)
"""


@pytest.mark.parametrize("threaded", [False, True])
def test_what_a_policy_has_still_to_do_is_done(tmp_path: Path, threaded: bool) -> None:
    (tmp_path / "jobs.swf").write_text(swf(crowd()))
    (tmp_path / "mine.py").write_text(POLICY.format(threaded=threaded))
    process = start(tmp_path, "run", "jobs.swf", "--policy", "mine:Mine", "--output", "out")
    told, complaint = process.communicate()
    assert (process.returncode, complaint) == (0, "")
    assert told.endswith("Written: out\n")
    assert (tmp_path / "left").read_text() == "in order"
    assert (tmp_path / "finished").exists() == threaded


def test_the_exit_code_is_that_of_the_work(tmp_path: Path) -> None:
    process = start(tmp_path, "run", "nowhere.swf")
    told, complaint = process.communicate()
    assert (process.returncode, told) == (2, "")
    assert complaint == "Error: nowhere.swf: no such file\n"
