"""Files that appear whole, and what the system says when they cannot."""

import errno
import os
from pathlib import Path

import polars as pl
import pytest

from walltime.core.files import write_parquet


def test_parquet_on_a_full_disk_is_what_the_system_says():
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        write_parquet(pl.DataFrame({"x": range(1000)}), full)


def test_parquet_is_what_was_written(tmp_path):
    table = pl.DataFrame({"x": range(1000), "y": [None] * 1000})
    write_parquet(table, tmp_path / "t.parquet", metadata={"a": "b"})
    assert pl.read_parquet(tmp_path / "t.parquet").equals(table)
