"""What needs a service is left out of `make test`, and is what `make test-services` runs; what a test took is noted."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT, text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_browsers_controllers_and_documents_that_run_slurm_are_services():
    files = ("tests/e2e/test_report_browser.py", "tests/unit/cluster/test_hostlist.py", "tests/e2e/test_docs.py")
    kept, left = (run("--collect-only", "-m", chosen, *files) for chosen in ("service", "not service"))
    for name in ("test_report_browser.py", "does_what_it_shows[docs/guides/slurm.md]"):
        assert name in kept
        assert name not in left
    for name in ("test_hostlist.py", "does_what_it_shows[docs/guides/nodes.md]"):
        assert name in left
        assert name not in kept


def test_a_run_says_what_it_ran_and_what_each_test_took(tmp_path):
    said = run("tests/unit/cluster/test_hostlist.py", "--cpu", str(tmp_path / "cpu.txt"))
    ran = int(re.search(r"^(\d+) cases ran, 0 failed, 0 were skipped", said, re.M)[1])
    noted = (tmp_path / "cpu.txt").read_text().splitlines()
    assert len(noted) == ran > 0
    tool = runpy.run_path(str(ROOT / "tests" / "longest.py"))
    fast = ["0.5 tests/a/x.py::one", "2.25 tests/b/y.py::two", "0.5 tests/a/x.py::one"]
    page = "\n".join(tool["make_page"]({"fast": fast, "checked": ["1.5 tests/a/x.py::one"]}))
    assert "2 tests on the fast build, 3 s; 1 tests on the checked build, 2 s" in page
    rows = ["| 2.2 | `b/y.py::two` | fast |", "| 1.5 | `a/x.py::one` | checked |", "| 1.0 | `a/x.py::one` | fast |"]
    assert page.endswith("\n".join(rows))
    assert "| `tests/a` | 1 | 2 |" in page
