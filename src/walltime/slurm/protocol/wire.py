"""Slurm's way of putting values on a wire: big-endian integers, strings with a length and a final zero."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

NO_VAL = 0xFFFFFFFE
INFINITE = 0xFFFFFFFF
NOTHING = {8: 0xFE, 16: 0xFFFE, 32: NO_VAL, 64: 0xFFFFFFFFFFFFFFFE}
"""What "not given" looks like, by the integer's width in bits."""


def u8(value: int) -> bytes:
    return value.to_bytes(1, "big")


def u16(value: int) -> bytes:
    return value.to_bytes(2, "big")


def u32(value: int) -> bytes:
    return (value & 0xFFFFFFFF).to_bytes(4, "big")


def u64(value: int) -> bytes:
    return (value & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "big")


def number(value: float) -> bytes:
    """A double, sent as an integer of millionths."""
    return struct.pack(">d", value * 1_000_000)


def text(value: str | None) -> bytes:
    if value is None:
        return b"\0\0\0\0"
    raw = value.encode() + b"\0"
    return u32(len(raw)) + raw


def texts(values: Iterable[str]) -> bytes:
    packed = [text(value) for value in values]
    return u32(len(packed)) + b"".join(packed)


def blob(value: bytes) -> bytes:
    return u32(len(value)) + value


def listed(items: Iterable[bytes]) -> bytes:
    """A list of packed things; an absent list is `ABSENT`."""
    packed = list(items)
    return u32(len(packed)) + b"".join(packed)


ABSENT = u32(NO_VAL)


class BodyLayout:
    """A message's body as a table of fields: `name:width` for an integer, `name:s` text, `name:a` texts.

    An integer that is not given is 0; with a third mark, as in `name:32:none`, it is the protocol's "not given".
    """

    def __init__(self, fields: str) -> None:
        self.fields = [tuple(field.split(":")) for field in fields.split()]
        self.names = {field[0] for field in self.fields}

    def pack(self, values: Mapping[str, int | str | list[str] | None]) -> bytes:
        """The body with these values; a name that is no field is a programming error."""
        unknown = values.keys() - self.names
        assert not unknown, f"no such fields: {sorted(unknown)}"
        parts = []
        for name, kind, *mark in self.fields:
            value = values.get(name)
            if kind == "s":
                assert value is None or isinstance(value, str)
                parts.append(text(value))
            elif kind == "a":
                assert value is None or isinstance(value, list)
                parts.append(texts(value or []))
            else:
                width = int(kind)
                assert value is None or isinstance(value, int)
                absent = NOTHING[width] if mark else 0
                parts.append((absent if value is None else value).to_bytes(width // 8, "big"))
        return b"".join(parts)


class Reader:
    """Takes values off a message, one after the other."""

    def __init__(self, data: bytes, place: int = 0) -> None:
        self.data = data
        self.place = place

    def take(self, size: int) -> bytes:
        if self.place + size > len(self.data):
            raise ValueError(f"the message ends after {len(self.data)} bytes, {self.place + size} were expected")
        self.place += size
        return self.data[self.place - size : self.place]

    def u8(self) -> int:
        return self.take(1)[0]

    def u16(self) -> int:
        return int.from_bytes(self.take(2), "big")

    def u32(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def u64(self) -> int:
        return int.from_bytes(self.take(8), "big")

    def text(self) -> str | None:
        size = self.u32()
        return self.take(size)[:-1].decode(errors="replace") if size else None

    def texts(self) -> list[str]:
        return [self.text() or "" for _ in range(self.u32())]

    def integers(self, width: int) -> list[int]:
        size = width // 8
        return [int.from_bytes(self.take(size), "big") for _ in range(self.u32())]
