"""Where an axis has its marks and what is written there: round numbers, durations, dates.

The page of the report does the same in JavaScript (`report/page/ticks.js`); a test compares the two.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime

from walltime.analysis.charts.chart import Axis, Clock

Tick = tuple[float, str]

_DURATIONS = (1, 10, 60, 600, 3600, 21_600, 86_400, 604_800, 2_592_000, 31_536_000)
_FINE_DURATIONS = (
    *(1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 43_200),
    *(86_400, 172_800, 604_800, 1_209_600, 2_592_000, 7_776_000, 15_552_000, 31_536_000),
)
_ROOM = 0.8
"""Of the usual distance between ticks: how near they may come where a logarithmic axis has them unevenly."""
_STEPS = (
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000, 604_800, 864_000, 1_728_000),
)
_DAY = 86_400
_UNITS = {_DAY: "d", 3600: "h", 60: "min", 1: "s"}


def find_ticks(axis: Axis, low: float, high: float, count: int, clock: Clock | None = None) -> list[Tick]:
    """About `count` ticks of an axis from low to high, at most one more, with their texts."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [(low, write(axis, low))] if math.isfinite(low) else []
    if axis.kind == "time":
        return _time_ticks(low, high, count, clock or Clock())
    if axis.log:
        return _log_ticks(axis, low, high, count)
    step = _duration_step(high - low, count) if axis.kind == "duration" else _round_step(high - low, count)
    if axis.kind == "count":
        step = max(step, 1.0)
    values = _multiples(low, high, step)
    if axis.kind == "duration":
        unit = _find_unit(max((abs(value) for value in values), default=0.0), step)
        return [(value, _write_in(value, unit).replace("-", "−")) for value in values]
    return [(value, write(axis, value, step)) for value in values]


def write(axis: Axis, value: float, step: float = 0.0) -> str:
    """A value in the axis' own way."""
    if axis.kind == "duration":
        text = write_duration(value)
    elif axis.kind == "share":
        text = f"{100 * value:,.{0 if step == 0 or step >= 0.01 else 1}f} %"
    else:
        text = write_number(value)
    return text.replace("-", "−")


def write_number(value: float) -> str:
    """A number as short as it can be read: 0.25, 12, 3,400, 1.5 M."""
    size = abs(value)
    for limit, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if size >= limit:
            return _trim(f"{value / limit:.4g}") + f" {letter}"
    if size >= 10_000:
        return f"{value:,.0f}"
    return _trim(f"{value:,.4g}" if size < 1000 else f"{value:,.0f}")


def write_duration(value: float) -> str:
    """A duration in its largest unit that keeps it short: 30 s, 10 min, 1.5 h, 3 d."""
    size = abs(value)
    for unit in (_DAY, 3600, 60):
        if size >= 2 * unit or (size >= unit and size % unit == 0):
            return _write_in(value, unit)
    return _write_in(value, 1)


def _find_unit(largest: float, step: float) -> int:
    """One unit for all durations of an axis: the largest of which the steps are halves or whole ones, where the largest
    duration is two or more."""
    return next((unit for unit in _UNITS if largest >= 2 * unit and 2 * step % unit == 0), 1)


def _write_in(value: float, unit: int) -> str:
    text = f"{value / unit:,.4g}" if abs(value) / unit < 10_000 else f"{value / unit:,.0f}"
    return _trim(text) + f" {_UNITS[unit]}"


def _trim(text: str) -> str:
    if "e" in text:
        return f"{float(text):,.0f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _round_step(span: float, count: int) -> float:
    """The smallest of 1, 2, 5 times a power of ten of which `count` reach over the span."""
    rough = span / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    return float(next((power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999999), power * 10))


def _duration_step(span: float, count: int) -> float:
    rough = span / max(count, 1)
    if rough <= 1:
        return _round_step(span, count)
    return next((float(step) for step in _STEPS if step >= rough), _DAY * _round_step(span / _DAY, count))


def _multiples(low: float, high: float, step: float) -> list[float]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _log_ticks(axis: Axis, low: float, high: float, count: int) -> list[Tick]:
    """1, 2 and 5 times powers of ten where there is room, else the powers; linear where neither has two to show.

    For durations the same with round ones. Neighbours among the fine ones are twice as large, or more.
    """
    if low <= 0:
        return []
    fine, coarse = _find_round(axis, low, high)
    roomy = math.log(2) / math.log(high / low) * count >= _ROOM
    if roomy and len(fine) > 2:
        return [(value, write(axis, value)) for value in fine]
    if len(coarse) < 2:
        plain = Axis(axis.label, axis.kind)
        return [(value, text) for value, text in find_ticks(plain, low, high, min(count, 3)) if value > 0]
    every = max(1, math.ceil(len(coarse) / max(count, 1)))
    return [(value, write(axis, value)) for value in coarse[::every]]


def _find_round(axis: Axis, low: float, high: float) -> tuple[list[float], list[float]]:
    """Round values of a logarithmic axis, many and few of them; of what is counted, whole ones."""
    if axis.kind == "duration":
        lists = [[float(value) for value in values] for values in (_FINE_DURATIONS, _DURATIONS)]
    else:
        powers = [10.0**power for power in range(math.floor(math.log10(low)), math.floor(math.log10(high) + 1e-9) + 1)]
        fine = [power * factor for power in powers for factor in (1, 2, 5)]
        lists = [[value for value in fine if value >= 1 or axis.kind != "count"], powers]
    inside = [[value for value in values if low * 0.999 <= value <= high * 1.001] for values in lists]
    return inside[0], inside[1]


def _time_ticks(low: float, high: float, count: int, clock: Clock) -> list[Tick]:
    step = next((step for step in _STEPS if step >= (high - low) / max(count, 1)), None)
    if clock.shift is None:
        size = float(step) if step else _DAY * _round_step((high - low) / _DAY, count)
        return [(value, _write_day(value, size)) for value in _multiples(low, high, size)]
    pieces = clock.pieces(low, high)
    begin = min(max(low, start) + shift for start, _, shift, _ in pieces)
    end = max(min(high, stop) + shift for _, stop, shift, _ in pieces)
    if step is None or step > 2 * _DAY:
        found = _month_starts(begin, end, count) if step is None or step > 7 * _DAY else []
        index = len(_STEPS) - 1 if step is None else _STEPS.index(step)
        for size in _STEPS[index : index - 2 : -1]:  # too short for months: days with equal distances
            found = found if len(found) > 1 else _multiples(begin, end, float(size)) or found
    else:
        found = _multiples(begin, end, float(step))
    fine = step is not None and step < _DAY
    years, whole = high - low > 300 * _DAY, all(_is_new_year(value) for value in found)
    texts = [(value, _write_date(value, fine, years, whole)) for value in found]
    if len(pieces) == 1:
        return [(value - pieces[0][2], text) for value, text in texts]
    low, high = low - 1e-6, high + 1e-6
    return [
        (value - shift, text)
        for start, stop, shift, _ in pieces
        for value, text in texts
        if max(start, low) <= value - shift <= high and value - shift < stop
    ]


def _is_new_year(value: float) -> bool:
    moment = datetime.fromtimestamp(value, UTC)
    return (moment.month, moment.day) == (1, 1)


def _write_day(value: float, step: float) -> str:
    """Days; where the ticks are closer than a day, with hours."""
    day, rest = divmod(value, _DAY)
    if step >= _DAY or (day and not rest):
        return f"{value / _DAY:,.0f}" if step >= _DAY else f"{day:,.0f} d"
    hours, left = divmod(rest, 3600)
    text = f"{hours:.0f}:{left // 60:02.0f}"
    return f"{text}:{left % 60:02.0f}" if step < 60 else text


def _write_date(value: float, fine: bool, years: bool, whole: bool) -> str:
    moment = datetime.fromtimestamp(value, UTC)
    if years:
        return f"{moment:%Y}" if whole else f"{moment:%b %Y}"
    if fine and (moment.hour or moment.minute or moment.second):
        return f"{moment:%H:%M:%S}" if moment.second else f"{moment:%H:%M}"
    return f"{moment.day} {moment:%b}"


def _month_starts(begin: float, end: float, count: int) -> list[float]:
    """First days of months, every so many of them."""
    months = (end - begin) / (30.4 * _DAY)
    steps = (1, 2, 3, 6, 12, 24, 60, 120, 1200, 12_000)
    place = next((number for number, step in enumerate(steps) if months / step <= count + 0.5), len(steps) - 1)
    found = _months(begin, end, steps[place])
    return found if len(found) > 1 or not place else _months(begin, end, steps[place - 1])


def _months(begin: float, end: float, every: int) -> list[float]:
    """The first days of every so many months, counted from the year zero."""
    first = datetime.fromtimestamp(begin, UTC)
    found: list[float] = []
    number = first.year * 12 + first.month - 1
    number += -number % every
    while True:
        moment = datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC).timestamp()
        if moment > end:
            return found
        if moment >= begin:
            found.append(moment)
        number += every
