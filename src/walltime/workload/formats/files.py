"""Files as every format needs them: opened with errors for a person, gzip seen through, written all or nothing."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from walltime.core.errors import InputError

_GZIP = b"\x1f\x8b"


@contextmanager
def reading(path: str | Path) -> Iterator[BinaryIO]:
    """A stream of the file's bytes, unpacked where they are gzip's (by content, not by name); errors as InputError."""
    try:
        with open(path, "rb") as raw:
            if raw.peek(2)[:2] == _GZIP:
                with gzip.open(raw) as unpacked:
                    yield unpacked  # type: ignore[misc]
            else:
                yield raw
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except IsADirectoryError:
        raise InputError("this is a folder, not a file", file=path) from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(f"damaged gzip file ({error})", file=path) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", file=path) from None


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path beside `path`, which takes its place when the block ends well and vanishes when it does not."""
    target = Path(path)
    if target.is_dir():
        raise InputError("this is a folder, not a file", file=path)
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        draft.touch(exist_ok=False)
        yield draft
        os.replace(draft, target)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", file=path) from None
    finally:
        draft.unlink(missing_ok=True)
