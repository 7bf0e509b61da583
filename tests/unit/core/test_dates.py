"""Dates: zones, summer time, and a place on a workload's clock."""

import copy
import pickle

import pytest

from walltime.core.dates import Date, is_date, read_date, read_moment, show_date
from walltime.core.errors import InputError
from walltime.core.time import SECOND, parse_duration

NOON = 1_791_979_200  # 2026-10-14 12:00 UTC, by `date`


@pytest.mark.parametrize(
    ("text", "zone", "seconds"),
    [
        ("2026-10-14T12:00", None, NOON),
        ("2026-10-14 12:00:30", "UTC", NOON + 30),
        ("2026-10-14T14:00", "Europe/Prague", NOON),  # summer time
        ("2026-12-14T13:00", "Europe/Prague", NOON + 61 * 86_400),
        ("2026-10-14T14:00+02:00", "Asia/Tokyo", NOON),  # its own zone
        ("2026-10-14", None, NOON - 43_200),
        ("2026-10-25T02:30", "Europe/Prague", read_date("2026-10-25T00:30", None)),  # the first of two
    ],
)
def test_a_date_is_read_in_its_zone(text, zone, seconds):
    assert read_date(text, zone) == seconds


def test_an_hour_that_is_left_out_is_refused():
    with pytest.raises(InputError, match="clocks are put forward"):
        read_date("2026-03-29T02:30", "Europe/Prague")


@pytest.mark.parametrize(("text", "zone"), [("2026-13-01", None), ("2026-10-14T25:00", None), ("2026-10-14", "Mars")])
def test_what_is_no_date_is_refused(text, zone):
    with pytest.raises(InputError):
        read_date(text, zone)


def test_a_duration_in_slurms_words_is_no_date():
    assert not is_date("1-12:00:00")
    assert not is_date("20261014")
    assert is_date("2026-10-14T08:00")


def test_a_date_finds_its_place_on_a_clock():
    date = Date("2026-10-14T14:00")
    assert date.since(NOON - 3600, "Europe/Prague") == 3600
    assert show_date(NOON, "Europe/Prague") == "2026-10-14 14:00:00"
    with pytest.raises(InputError, match="before the workload's time zero, which is 2026-10-14 15:00:00"):
        date.since(NOON + 3600, "Europe/Prague")
    with pytest.raises(InputError, match="does not say when"):
        date.since(None, "Europe/Prague")


def test_a_date_keeps_its_text_when_it_is_copied():
    date = Date("2026-10-14T14:00")
    for other in (pickle.loads(pickle.dumps(date)), copy.deepcopy(date)):
        assert (other, other.text) == (date, date.text)


@pytest.mark.parametrize(
    ("text", "seconds"), [("10d1h", 867_600), ("1d 12h 30m", 131_400), ("2h30min", 9000), ("1w2d", 777_600)]
)
def test_durations_of_several_units(text, seconds):
    assert parse_duration(text) == seconds * SECOND


@pytest.mark.parametrize("text", ["1h1d", "1h2h", "1d1x", "1d1", "d1h"])
def test_durations_that_are_none(text):
    with pytest.raises(InputError):
        parse_duration(text)


def test_a_moment_is_seconds_a_duration_or_a_date():
    clock = read_date("2026-10-25T00:00", "Europe/Prague"), "Europe/Prague"
    assert read_moment(90) == read_moment("90s") == 90
    assert read_moment("10d1h") == 241 * 3600
    assert read_moment("2026-10-25T04:00", *clock) == 5 * 3600  # an hour comes twice
    assert read_moment("2026-10-25T04:00+00:00", *clock) == 6 * 3600
    with pytest.raises(InputError, match="does not say when its time zero was"):
        read_moment("2026-10-25T04:00")


def test_the_hour_that_comes_twice_is_shown_with_its_offset():
    summer, winter = 1_792_886_400.0 + 1800, 1_792_890_000.0 + 1800
    assert show_date(summer, "Europe/Prague") == "2026-10-25 02:30:00+02:00"
    assert show_date(winter, "Europe/Prague") == "2026-10-25 02:30:00+01:00"
    assert show_date(winter + 1800, "Europe/Prague") == "2026-10-25 03:00:00"
    assert show_date(summer, None) == "2026-10-25 00:30:00"
    for moment in (summer, winter):
        assert read_date(show_date(moment, "Europe/Prague"), "Europe/Prague") == moment
