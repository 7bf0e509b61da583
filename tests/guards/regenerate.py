"""Makes the guards anew: `python tests/guards/regenerate.py [--reason TEXT]`, or `make guards REASON='...'`.

`digests.txt` has the digest of every guarded scenario, `contract.txt` what others build on. What is new is written. For
what has changed or vanished a reason is asked for, and put with the names into `CHANGES.md`; without one nothing is
written, and what has changed is printed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
DIGESTS, CONTRACT, CHANGES = HERE / "digests.txt", HERE / "contract.txt", HERE / "CHANGES.md"
_MARKS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


def read_lines(path: Path) -> list[str]:
    """The lines of a file of guards. Of a file that git could not merge: those of the branch that was there first."""
    kept, skipping = [], False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(_MARKS):
            skipping = line.startswith(("=======", "|||||||"))
        elif not skipping and line:
            kept.append(line)
    return kept


def read_digests(path: Path) -> dict[str, str]:
    """Digests by the names of their scenarios."""
    found: dict[str, str] = {}
    for line in read_lines(path):
        name, _, digest = line.partition(" ")
        found[name] = digest
    return found


def main() -> int:
    """1 where something has changed and no reason was given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reason", default="", help="why digests changed or parts of the contract vanished")
    reason = " ".join(parser.parse_args().reason.split())
    sys.path[:0] = [str(HERE.parent), str(HERE.parent / "property")]
    import contract
    import guarded

    with tempfile.TemporaryDirectory() as folder:
        digests = {name: guarded.measure(run, Path(folder)) for name, run in guarded.scenarios()}
    before = read_digests(DIGESTS) if DIGESTS.exists() else {}
    changed = [name for name, digest in before.items() if digests.get(name) != digest]
    lines = contract.lines()
    vanished = sorted(set(read_lines(CONTRACT) if CONTRACT.exists() else []) - set(lines))
    for what, names in (("changed", changed), ("vanished", vanished)):
        sys.stdout.write(f"{len(names)} {what}{':' if names else ''} {', '.join(names)}".rstrip() + "\n")
    if (changed or vanished) and not reason:
        sys.stdout.write("nothing is written; give the reason: make guards REASON='...'\n")
        return 1
    _write(DIGESTS, [f"{name} {digest}" for name, digest in digests.items()])
    _write(CONTRACT, lines)
    if changed or vanished:
        named = ", ".join(f"`{name}`" for name in [*changed, *vanished])
        _write(CHANGES, [*CHANGES.read_text(encoding="utf-8").splitlines(), f"- {reason}: {named}"])
    return 0


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
