"""Texts in CSV files that a spreadsheet would take for a formula: written so that it does not run them.

A text that begins with = + - @, a tab or a line break gets an apostrophe in front, which spreadsheets read as "this is
a text". One that begins with an apostrophe gets another, so that reading takes off exactly what writing put on.
"""

from __future__ import annotations

import polars as pl

_RISKY = r"^[=+\-@\t\r\n']"


def guard(table: pl.DataFrame) -> pl.DataFrame:
    """The table as it is written to a CSV file."""
    return table.with_columns(
        pl.when(text.str.contains(_RISKY)).then(pl.concat_str(pl.lit("'"), text)).otherwise(text).alias(name)
        for name in _texts(table)
        for text in (pl.col(name).cast(pl.String),)
    )


def unguard(table: pl.DataFrame) -> pl.DataFrame:
    """The table as it was before `guard`."""
    return table.with_columns(pl.col(name).str.replace(r"^'", "") for name in _texts(table))


def _texts(table: pl.DataFrame) -> list[str]:
    return [name for name, kind in table.schema.items() if kind in (pl.String, pl.Categorical, pl.Enum)]
