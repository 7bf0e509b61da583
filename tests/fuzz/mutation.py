"""Valid files made wrong, the same for the same seed: bytes, tokens, digits, nesting, truncation, copies."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

_TOKEN = re.compile(rb"[^\s|;:,=\[\]{}()<>\"'/]+")
_DIGITS = re.compile(rb"\d+")
WORDS = [
    *(b"", b"0", b"-1", b"-0", b"1.5", b"1e9", b"1e400", b"nan", b"inf", b"-inf", b"0x10", b"1_0", b"+5", b"00012"),
    *(b"2147483648", b"4294967296", b"9007199254740993", b"9223372036854775807", b"9223372036854775808", b"9" * 30),
    *(b"9" * 400, b"9" * 5000, b"null", b"true", b"~", b"[]", b"{}", b'""', b"''", b"[[]]", b"{a: {}}", b"*a", b"&a x"),
    *(b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800", b'"\\ud800"', "é🙂".encode(), b"\xe2\x80\xa8", b"\r", b"\t"),
    *(b"2024-02-31", b"2024-01-01T25:00:00", b"1-99999999", b"1:2:3:4:5", b"12:00", b"5d", b"4G", b"9999999999d"),
    *(b"1_[0-9:0]", b"7_[1-99999999]", b"n[1-99999999]", b"n[0-9][0-9][0-9][0-9][0-9][0-9][0-9]", b"%", b"#", b"\\"),
    *(b"a:b", b"os:system", b"../x", b"/dev/zero", b"x" * 300, b"=1+1", b"<<: *a", b"UNLIMITED", b"INFINITE", b"-"),
]
"""Words that readers have stumbled over."""
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**70, 10**400, 0.5, -0.0, 1e300, float("inf"), float("nan")),
    *("", "x", "1", "-1", "1e400", "inf", "5d", "4G", "a:b", "\ud800", "\0", "é🙂", "n[1-99999999]", "9" * 400),
    *([], {}, [[]], [None], [1, "x"], {"": 0}, {"x": {"x": {}}}, [[[[[]]]]]),
]


def mutate_bytes(raw: bytes, dice: random.Random) -> bytes:
    """The file after one to three changes of its bytes."""
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        raw = dice.choice(_CHANGES)(raw, dice)
    return raw


def mutate_tree(raw: bytes, dice: random.Random) -> bytes:
    """A JSON file after one or two changes of its values: another type, one more, one less."""
    data = json.loads(raw)
    for _ in range(dice.choice((1, 1, 2))):
        places = list(_places(data))
        if not places:
            break
        holder, key = dice.choice(places)
        action = dice.randrange(8)
        if action == 0:
            del holder[key]
        elif action == 1 and isinstance(holder, list):
            holder.insert(key, holder[key])
        elif action == 2 and isinstance(holder, dict):
            holder[str(dice.choice(("", "x", key + "s", key[:-1])))] = holder.pop(key)
        elif action == 3:
            other, name = dice.choice(places)
            holder[key] = json.loads(json.dumps(other.get(name) if isinstance(other, dict) else (other or [0])[0]))
        elif action == 4 and type(holder[key]) in (int, float) and abs(holder[key]) < 10**300:
            holder[key] = dice.choice((-holder[key], holder[key] + 0.5, holder[key] * 1000, str(holder[key])))
        else:
            holder[key] = json.loads(json.dumps(dice.choice(VALUES)))
    text = json.dumps(data)
    return text.encode()


def _places(data: Any) -> Any:
    """Every (container, key) of the data."""
    waiting = [data]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, dict | list):
            for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
                yield holder, key
                waiting.append(holder[key])


def _flip(raw: bytes, dice: random.Random) -> bytes:
    if not raw:
        return b"\xff"
    place = dice.randrange(len(raw))
    return raw[:place] + bytes([dice.choice((0, 255, 127, 128, 10, dice.randrange(256)))]) + raw[place + 1 :]


def _delete(raw: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(raw) + 1)
    return raw[:place] + raw[place + dice.choice((1, 2, 5, 20, 100)) :]


def _copy(raw: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(raw) + 1)
    piece = raw[place : place + dice.choice((1, 4, 20, 100))]
    return raw[:place] + piece * dice.choice((1, 2, 50)) + raw[place:]


def _truncate(raw: bytes, dice: random.Random) -> bytes:
    return raw[: dice.randrange(len(raw) + 1)]


def _insert(raw: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(raw) + 1)
    return raw[:place] + dice.choice(WORDS) + raw[place:]


def _nest(raw: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(raw) + 1)
    opening, closing = dice.choice(((b"[", b"]"), (b"{", b"}"), (b"(", b")"), (b"<a>", b"</a>"), (b'{"a":', b"}")))
    depth = dice.choice((2, 30, 2000))
    return raw[:place] + opening * depth + closing * dice.choice((0, depth)) + raw[place:]


def _lines(raw: bytes, dice: random.Random) -> bytes:
    lines = raw.splitlines(keepends=True) or [b""]
    one, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    action = dice.randrange(3)
    if action == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif action == 1:
        del lines[one]
    else:
        lines.insert(other, lines[one])
    return b"".join(lines)


def _replace(pattern: re.Pattern[bytes]) -> Callable[[bytes, random.Random], bytes]:
    def change(raw: bytes, dice: random.Random) -> bytes:
        found = list(pattern.finditer(raw))
        if not found:
            return _insert(raw, dice)
        match = dice.choice(found)
        word = dice.choice(WORDS) if dice.random() < 0.8 else dice.choice(found)[0]
        return raw[: match.start()] + word + raw[match.end() :]

    return change


_CHANGES = [_flip, _delete, _copy, _truncate, _insert, _nest, _lines, *[_replace(_TOKEN)] * 3, *[_replace(_DIGITS)] * 3]
