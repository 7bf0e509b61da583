"""Stores for the tests: each test of a store runs on SQLite, and as a test of services on PostgreSQL."""

from __future__ import annotations

import pytest

from walltime.experiments.store import Store


class Opener:
    """Opens a store of the test, as often as it likes."""

    def __init__(self, place, results) -> None:
        self.place = str(place)
        self.results = results
        self.opened: list[Store] = []

    def __call__(self) -> Store:
        self.opened.append(Store(self.place, results=self.results, create=True))
        return self.opened[-1]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.service)])
def open_store(request, tmp_path):
    """A function that opens one new store."""
    server = None if request.param == "sqlite" else request.getfixturevalue("postgres")
    opener = Opener(server.new_database() if server else tmp_path / "store", tmp_path / "results")
    yield opener
    for store in opener.opened:
        store.close()
