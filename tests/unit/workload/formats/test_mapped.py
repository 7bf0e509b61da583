"""Dates in tables with names of their own: as people write them, in a zone or with one."""

import pytest

from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.workload.formats import read

COLUMNS = {"submit": "when", "run_time": "elapsed"}


def read_dates(tmp_path, *dates, timezone="Europe/Prague"):
    path = tmp_path / "jobs.csv"
    path.write_text("when,elapsed,cores\n" + "".join(f"{date},60,4\n" for date in dates))
    return read(path, columns=COLUMNS, timezone=timezone)


def test_a_date_may_lack_seconds_and_have_a_zone(tmp_path):
    """The first is an hour before clocks are put back, when 2:30 comes twice: the earlier one is meant."""
    dates = ("2026-10-25T01:30", "2026-10-25 02:30:00", "2026-10-25T02:00Z", "2026-10-25 04:30:00.5", "2026-10-26")
    jobs = read_dates(tmp_path, *dates)
    submit = jobs.column("submit")
    assert ((submit - submit[0]) // SECOND).tolist() == [0, 3600, 9000, 14_400, 24 * 3600 - 1800]
    assert jobs.origin.epoch + submit[0] / SECOND == 1792884600  # 23:30 in UTC


def test_an_hour_that_is_left_out_and_what_is_no_date_are_refused_with_their_row(tmp_path):
    with pytest.raises(InputError, match=r"row 2: no such hour in Europe/Prague"):
        read_dates(tmp_path, "2026-03-29T01:30", "2026-03-29T02:30")
    with pytest.raises(InputError, match=r"row 3: not a date and time"):
        read_dates(tmp_path, "2026-03-28T01:30", "", "soon")
