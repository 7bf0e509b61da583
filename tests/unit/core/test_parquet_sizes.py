"""Parquet files that lie about their sizes: every byte of one made wrong, without an end to the process."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from walltime.core.errors import InputError
from walltime.core.parquet import check_parquet

TABLE = pl.DataFrame({"submit": [0.0, 5.0, None], "cores": [1, 2, 3], "user": ["ann", None, "ann"]})
ALL = """
import random, sys
from pathlib import Path
from walltime.core.errors import InputError
from walltime.core.reading import reading

path, raw = Path(sys.argv[1]), Path(sys.argv[1]).read_bytes()
understood = refused = 0
dice = random.Random(7)
for place in range(len(raw)):
    for value in {0, 1, 127, 255, raw[place] ^ 1 << dice.randrange(8)} - {raw[place]}:
        path.write_bytes(raw[:place] + bytes([value]) + raw[place + 1 :])
        try:
            with reading(path) as file:
                file.table()
            understood += 1
        except InputError:
            refused += 1
print(understood, refused)
"""


def written(table: pl.DataFrame, **options: object) -> bytes:
    file = io.BytesIO()
    table.write_parquet(file, **options)  # type: ignore[arg-type]
    return file.getvalue()


@pytest.mark.parametrize("compression", ["zstd", "uncompressed", "snappy"])
def test_whole_files_are_left_alone(compression: str) -> None:
    nested = pl.DataFrame({"a": [[1, 2], [], None], "b": [{"x": 1}, None, {"x": 3}], "c": [None, None, None]})
    long = pl.DataFrame({"a": range(3000), "b": [f"u{i % 7}" for i in range(3000)]})
    for table in (TABLE, TABLE.head(0), nested, long):
        raw = written(table, compression=compression, row_group_size=1000, data_page_size=512)
        check_parquet(io.BytesIO(raw), "x.parquet")


def test_no_wrong_byte_ends_the_process(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(written(TABLE, compression="uncompressed"))
    done = subprocess.run([sys.executable, "-c", ALL, str(path)], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr[-2000:]
    understood, refused = map(int, done.stdout.split())
    assert understood > 100
    assert refused > 1000


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda raw: raw[:-1], "does not end as one"),
        (lambda raw: raw[:-8] + b"\xff\xff\xff\x7f" + raw[-4:], "its footer is said to have"),
        (lambda raw: raw[:4] + b"\x15\x00\x15\x01" + raw[8:], "-1 bytes in a page"),
        (lambda raw: raw[: len(raw) // 2] + raw[-8:], "its footer|ends too early"),
        (lambda raw: raw[:-40] + b"\x1c" * 32 + raw[-8:], "damaged"),
    ],
)
def test_what_is_wrong_is_told(change, what: str) -> None:
    with pytest.raises(InputError, match=what) as caught:
        check_parquet(io.BytesIO(change(written(TABLE, compression="uncompressed"))), "x.parquet")
    assert caught.value.file == "x.parquet"
