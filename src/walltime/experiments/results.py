"""Files that are kept of runs: a folder for each, which appears whole or not at all, with checksums in the database."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from walltime.core.files import sync, writing

_DRAFT = ".draft-"


class Results:
    """The folder of all results: `ab/abcdef…/by_size.parquet`, by the digest of the run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def folder_of(self, digest: str) -> Path:
        """The folder of one run."""
        return self.folder / digest[:2] / digest

    def draft(self, digest: str, fence: int, files: Mapping[str, bytes]) -> Path | None:
        """The files safely on disk under another name, to be put in place later; None where there is none.

        Raises InputError for a disk that takes no more, and leaves nothing then.
        """
        if not files:
            return None
        draft = self.folder / digest[:2] / f"{_DRAFT}{digest}-{fence}-{os.getpid()}"
        try:
            with writing(draft, "a result cannot be written"):
                shutil.rmtree(draft, ignore_errors=True)
                draft.mkdir(parents=True)
                for name, data in files.items():
                    self._write(draft / name, data)
                sync(draft)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        return draft

    def put(self, draft: Path | None, digest: str) -> None:
        """Give the draft its name; what an attempt that was never noted left there is replaced."""
        if draft is None:
            return
        target = self.folder_of(digest)
        with writing(target, "a result cannot be written"):
            if target.exists():
                shutil.rmtree(target)
            os.rename(draft, target)
            sync(target.parent)

    def discard(self, draft: Path | None) -> None:
        """Remove a draft that is not wanted any more."""
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)

    def remove(self, digest: str) -> None:
        """Remove what is kept of a run."""
        shutil.rmtree(self.folder_of(digest), ignore_errors=True)

    def digests(self) -> Iterator[str]:
        """The runs of which something is there."""
        for group in sorted(self.folder.glob("??")):
            yield from (entry.name for entry in sorted(group.iterdir()) if not entry.name.startswith("."))

    def drafts(self) -> Iterator[Path]:
        """What was begun and neither put in place nor discarded."""
        yield from sorted(self.folder.glob(f"??/{_DRAFT}*"))

    def _write(self, file: Path, data: bytes) -> None:
        file.parent.mkdir(exist_ok=True)
        with open(file, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())


def checksum_of(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
