"""What a Parquet file says about its own sizes, checked before a library believes it.

The library allocates what the headers tell: a page of -1 values becomes a request for 2^61 bytes, which ends the whole
process, and no exception tells why. So the footer and the header of every page are read here, and a number that cannot
be is refused. What the pages hold is not looked at; the library refuses what is wrong there by itself.

Both are written in Thrift's compact protocol (https://parquet.apache.org/docs/file-format/): fields with numbers, in
structs. Only the numbers that matter here have names.
"""

from __future__ import annotations

import os
from typing import Any, BinaryIO

from walltime.core.errors import InputError

_MAGIC = b"PAR1"
_HEADER = 1 << 16  # more than the header of any page needs, unless it carries long statistics
_LARGEST_PAGE = 1 << 30
_DEEPEST = 32

# Fields of Thrift structs, by number.
_FILE_ROWS, _FILE_GROUPS = 3, 4
_GROUP_COLUMNS, _GROUP_ROWS = 1, 3
_CHUNK_META = 3
_META_VALUES, _META_SIZE, _META_DATA, _META_DICTIONARY = 5, 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED, _PAGE_DATA, _PAGE_DICTIONARY, _PAGE_DATA_2 = 2, 3, 5, 7, 8
_VALUES, _NULLS, _ROWS, _LEVELS_1, _LEVELS_2 = 1, 2, 3, 5, 6


class DamagedError(ValueError):
    """A file that is not what it says it is."""


def check_parquet(stream: BinaryIO, path: str | os.PathLike[str]) -> None:
    """Raise InputError for a Parquet file whose sizes cannot be true."""
    try:
        _check_file(stream)
    except (DamagedError, IndexError) as error:
        reason = str(error) if isinstance(error, DamagedError) else "it ends too early"
        raise InputError(f"the Parquet file is damaged: {reason}", file=os.fspath(path)) from None


def _check_file(stream: BinaryIO) -> None:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - 8))
    tail = stream.read(8)
    if size < 12 or tail[4:] != _MAGIC:
        raise DamagedError("it does not end as one")
    length = int.from_bytes(tail[:4], "little")
    if length > size - 12:
        raise DamagedError(f"its footer is said to have {length:,} bytes")
    stream.seek(size - 8 - length)
    footer = _Thrift(stream.read(length)).struct()
    end = size - 8 - length
    rows = 0
    for group in _structs(footer, _FILE_GROUPS):
        count = _whole(group, _GROUP_ROWS, "rows")
        rows += count
        for chunk in _structs(group, _GROUP_COLUMNS):
            meta = chunk.get(_CHUNK_META)
            if not isinstance(meta, dict):
                raise DamagedError("a column has no description")
            _check_chunk(stream, meta, count, end)
    if rows != _whole(footer, _FILE_ROWS, "rows"):
        raise DamagedError("its parts have not as many rows as the whole")


def _check_chunk(stream: BinaryIO, meta: dict[int, Any], rows: int, end: int) -> None:
    """The pages of one column of one group of rows."""
    values = _whole(meta, _META_VALUES, "values")
    size = _whole(meta, _META_SIZE, "bytes")
    first = _META_DICTIONARY if meta.get(_META_DICTIONARY) else _META_DATA
    place = _whole(meta, first, "bytes before a column")
    if values < rows or place + size > end:
        raise DamagedError("a column does not fit into it")
    last, found = place + size, 0
    while place < last:
        stream.seek(place)
        thrift = _Thrift(stream.read(min(_HEADER, last - place)))
        header = thrift.struct()
        packed = _whole(header, _PAGE_PACKED, "bytes in a page")
        place += thrift.at + packed
        if place > last:
            raise DamagedError("a page is longer than its column")
        found += _check_page(header)
        if found > values:
            break
    if found != values:
        raise DamagedError("the pages of a column have not as many values as the column")


def _check_page(header: dict[int, Any]) -> int:
    """How many values of its column a page has; none where it is a dictionary."""
    unpacked = _whole(header, _PAGE_UNPACKED, "bytes in a page")
    if unpacked > _LARGEST_PAGE:
        raise DamagedError(f"a page is said to have {unpacked:,} bytes")
    if isinstance(page := header.get(_PAGE_DICTIONARY), dict):
        if _whole(page, _VALUES, "values in a dictionary") > unpacked:
            raise DamagedError("a dictionary does not fit into its page")
        return 0
    if isinstance(page := header.get(_PAGE_DATA), dict):
        return _whole(page, _VALUES, "values in a page")
    if isinstance(page := header.get(_PAGE_DATA_2), dict):
        values = _whole(page, _VALUES, "values in a page")
        levels = sum(_whole(page, field, "bytes in a page") for field in (_LEVELS_1, _LEVELS_2))
        if _whole(page, _NULLS, "nulls") > values or _whole(page, _ROWS, "rows") > values or levels > unpacked:
            raise DamagedError("a page does not fit its own description")
        return values
    return 0  # of another kind, which readers pass over


def _structs(struct: dict[int, Any], field: int) -> list[dict[int, Any]]:
    found = struct.get(field, [])
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise DamagedError("its footer has not the fields of one")
    return found


def _whole(struct: dict[int, Any], field: int, what: str) -> int:
    value = struct.get(field)
    if type(value) is not int or value < 0:
        raise DamagedError(f"{'no' if value is None else value} {what}")
    return value


class _Thrift:
    """Structs in the compact protocol, as mappings from the numbers of fields to whole numbers, bytes, lists, structs.

    IndexError where the bytes end too early.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        found: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            found[number] = self._value(head & 15, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind == 7:
            return self._skip(8)
        if kind == 8:
            return self._skip(self._varint())
        if kind in (9, 10):
            return self._list(depth)
        if kind == 12 and depth < _DEEPEST:
            return self.struct(depth + 1)
        raise DamagedError("its description cannot be read")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        length = head >> 4 if head >> 4 < 15 else self._varint()
        if length > len(self.data) - self.at:  # an element has a byte at least
            raise IndexError
        if head & 15 in (1, 2):
            return [self._byte() == 1 for _ in range(length)]
        return [self._value(head & 15, depth + 1) for _ in range(length)]

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while shift < 70:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        raise DamagedError("its description cannot be read")

    def _zigzag(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)

    def _skip(self, length: int) -> bytes:
        if length > len(self.data) - self.at:
            raise IndexError
        self.at += length
        return self.data[self.at - length : self.at]
