"""Our list of keywords against the tables in Slurm's own library: nothing that a release reads is missing here."""

import struct

import pytest

from walltime.site.options import WORDS

FIRST = {
    "settings": "AccountingStorageBackupHost",
    "nodename": "BcastAddr",
    "partitionname": "AllocNodes",
}
"""A keyword of each of the library's tables of options."""
OLD = {"HashVal"}
"""Words of a table that no person writes."""


@pytest.fixture(scope="module")
def tables(each):
    """Every table of options in the library, as lists of keywords."""
    path = next(path for path in each.plugins.glob("libslurmfull.so"))
    return find_tables(path.read_bytes())


def find_tables(data: bytes) -> list[list[str]]:
    """Runs of equally spaced pointers to identifiers: the tables of keywords that Slurm parses by.

    An entry begins with the pointer to its name, and is 48 or more bytes long; where the library is loaded elsewhere,
    each pointer is a relative relocation (ELF64, x86-64 or AArch64).
    """
    pointers = read_pointers(data)
    names = {place: text for place, target in pointers.items() if (text := read_name(data, target))}
    found: list[list[str]] = []
    for stride in (32, 40, 48, 56, 64):
        for place in sorted(names):
            if place - stride in names:
                continue
            run = []
            while place in names:
                run.append(names[place])
                place += stride
            if len(run) > 8:
                found.append(run)
    return found


def read_pointers(data: bytes) -> dict[int, int]:
    (sections,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    pointers = {}
    for number in range(count):
        kind, offset, length = struct.unpack_from("<4xI16xQQ", data, sections + number * size)
        if kind == 4:  # relocations with an addend
            for at in range(offset, offset + length, 24):
                place, info, addend = struct.unpack_from("<QQq", data, at)
                if info & 0xFFFFFFFF in (8, 1027):
                    pointers[place] = addend
    return pointers


def read_name(data: bytes, at: int) -> str | None:
    """The identifier at an address of read-only data, which a library has at the same place in its file."""
    end = data.find(b"\0", at, at + 60)
    text = data[at:end] if 0 < at < len(data) and end > at else b""
    return text.decode() if text.isascii() and text.decode().isidentifier() and text[:1].isupper() else None


@pytest.mark.parametrize("kind", FIRST)
def test_every_keyword_of_the_library_is_on_our_list(each, tables, kind):
    words = WORDS[each.dialect.release]
    ours = {name.lower() for name in (words.settings if kind == "settings" else words.lines[kind])}
    theirs = max((run for run in tables if FIRST[kind] in run), key=len)
    assert len(theirs) > 15
    assert [name for name in theirs if name.lower() not in ours and name not in OLD] == []
