"""Single files that appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from walltime.core.errors import InputError


def check_file(target: Path, *, force: bool) -> Path:
    """The path, if a file may be written there; raises InputError."""
    if target.is_dir():
        raise InputError("this is a folder; a file is to be written", file=target)
    if target.exists() and not force:
        raise InputError("this file is already there; --force replaces it", file=target)
    if not target.absolute().parent.is_dir():
        raise InputError("there is no such folder to write into", file=target.absolute().parent)
    return target


def write_whole(target: Path, data: bytes) -> Path:
    """Writes the file so that whoever looks sees all of it or nothing; raises InputError."""
    partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
    try:
        partial.write_bytes(data)
        os.replace(partial, target)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", file=target) from error
    finally:
        partial.unlink(missing_ok=True)
    return target
