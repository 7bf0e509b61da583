"""The words of each release, against the strings in its own programs."""

import pytest

from walltime.site.options import FOREIGN, RENAMED, WORDS


@pytest.fixture(scope="module")
def strings(each):
    """Everything in the controller and its plug-ins, in small letters."""
    files = [each.controller, *sorted(each.plugins.glob("*.so*"))]
    strange = ("openapi", "data_parser", "serializer", "rest_auth")  # other programs' plug-ins
    return b"\0".join(path.read_bytes().lower() for path in files if not path.name.startswith(strange))


@pytest.fixture
def words(each):
    return WORDS[each.dialect.release]


def test_every_word_is_in_the_programs(words, strings):
    lists = [*words.lines.values(), *words.parameters.values(), words.settings]
    assert [word for known in lists for word in known if word.lower().encode() not in strings] == []


def test_words_that_are_told_as_foreign_are_not(words, strings):
    known = {word.rstrip("=") for word in words.parameters["SchedulerParameters"]}
    foreign = [word for word in FOREIGN if word not in known]
    assert [word for word in foreign if word.encode() in strings] == []


def test_old_names_are_no_words(words):
    for old, new in RENAMED.items():
        known = {word.rstrip("=") for word in words.parameters["SchedulerParameters"]}
        assert old not in known
        assert new in known
