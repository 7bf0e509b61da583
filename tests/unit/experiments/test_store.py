"""The store: what is registered, shared, removed, copied; what is wrong with it is found."""

from __future__ import annotations

import sqlite3
import sys

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from small import done, finish_all, make, registered

from walltime.core.errors import InputError
from walltime.experiments.leases import Leases, process_name
from walltime.experiments.maintenance import back_up, find_abandoned, restore, verify
from walltime.experiments.planning import ExperimentPlan
from walltime.experiments.schema import REVISION, cells, figures, metadata, runners, runs
from walltime.experiments.store import Store

GRID = {"policy": ["fcfs", "easy"], "cluster.cores": [8, 16]}
FILES = {"by_size.parquet": b"size", "result/jobs.parquet": b"jobs"}


def register(store, **keys):
    experiment = make(**keys)
    return store.register(experiment, ExperimentPlan(experiment).specifications())


def count(store, table):
    return store.database.read(lambda c: c.execute(sa.select(sa.func.count()).select_from(table)).scalar())


def test_the_migrations_make_the_tables_that_the_code_uses(open_store):
    with open_store() as store:
        found = store.database.read(lambda c: compare_metadata(MigrationContext.configure(c), metadata))
        assert found == []
        revision = store.database.read(lambda c: c.execute(sa.text("SELECT version_num FROM alembic_version")).scalar())
        assert revision == REVISION


def test_a_store_of_a_later_version_is_refused(tmp_path):
    Store(tmp_path / "store", create=True).close()
    with sqlite3.connect(tmp_path / "store" / "store.sqlite") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(InputError, match="later version"):
        Store(tmp_path / "store")


@pytest.mark.service
def test_a_server_that_is_not_there_is_told_at_once():
    pytest.importorskip("psycopg")
    with pytest.raises(InputError, match="cannot be reached"):
        Store("postgresql://walltime@127.0.0.1:9/none")


def test_a_missing_driver_is_named_with_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InputError, match=r"pip install 'walltime\[postgres\]'"):
        Store("postgresql://walltime@127.0.0.1:9/none")


def test_what_is_no_store_is_refused(tmp_path):
    with pytest.raises(InputError, match="no store here"):
        Store(tmp_path / "nothing")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="this is a file"):
        Store(tmp_path / "file", create=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("x")
    with pytest.raises(InputError, match="not empty"):
        Store(tmp_path / "full", create=True)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "store.sqlite").write_text("this is not a database, however long it may be" * 50)
    with pytest.raises(InputError, match="damaged"):
        Store(tmp_path / "broken")
    with pytest.raises(InputError, match="PostgreSQL"):
        Store("mysql://host/name")


def test_registering_twice_changes_nothing(open_store):
    store, number = registered(open_store, grid=GRID)
    before = (count(store, cells), count(store, runs))
    assert register(store, repetitions=4, grid=GRID) == number
    assert (count(store, cells), count(store, runs)) == before == (4, 16)


def test_an_edited_experiment_keeps_what_is_done(open_store):
    store, number = registered(open_store, seeds=2, grid={"policy": ["fcfs", "easy"]})
    finish_all(store, number)
    again = register(store, repetitions=3, grid={"policy": ["easy", "sjf"]})
    assert again == number
    assert store.count(number) == {"waiting": 4, "running": 0, "done": 2, "failed": 0}


def test_experiments_share_the_runs_that_are_the_same(open_store):
    store, number = registered(open_store, seeds=2, grid={"policy": ["fcfs", "easy"]})
    finish_all(store, number)
    other = register(store, name="other", repetitions=2, grid={"p": {"key": "policy", "values": ["easy", "sjf"]}})
    assert store.count(other) == {"waiting": 2, "running": 0, "done": 2, "failed": 0}
    assert store.remove("small") == 2
    assert store.count(other)["done"] == 2
    assert store.remove("other") == 4
    assert [count(store, table) for table in metadata.sorted_tables] == [0] * len(metadata.sorted_tables)


def test_two_cells_of_the_same_scenario_are_one_run(open_store):
    store, number = registered(open_store, seeds=1, grid={"size": {"key": "cluster.cores", "values": {"a": 8, "b": 8}}})
    assert count(store, runs) == 1
    finish_all(store, number)
    assert store.table("small")["size"].to_list() == ["a", "b"]
    assert store.table("small")["mean_wait"].to_list() == [1.0, 1.0]


def test_a_table_has_labels_seeds_states_and_figures(open_store):
    store, number = registered(open_store, seeds=2, grid=GRID)
    leases = Leases(store)
    leases.finish([done(task) for task in leases.take(number, 3)])
    table = store.table("small", {"policy": "fcfs"})
    assert table.select("policy", "cluster.cores", "seed", "state", "mean_wait").rows() == [
        ("fcfs", "8", 0, "done", 1.0),
        ("fcfs", "8", 1, "done", 1.0),
        ("fcfs", "16", 0, "done", 1.0),
        ("fcfs", "16", 1, "waiting", None),
    ]
    with pytest.raises(InputError, match="no such axis"):
        store.table("small", {"polcy": "fcfs"})
    with pytest.raises(InputError, match="did you mean 'fcfs'"):
        store.table("small", {"policy": "fcf"})
    with pytest.raises(InputError, match="did you mean 'small'"):
        store.table("smal")


def test_one_run_by_the_beginning_of_its_digest(open_store):
    store, number = registered(open_store, seeds=1)
    finish_all(store, number, files=FILES, wall=1.5)
    digest = store.table("small")["run"][0]
    found = store.run(digest[:8])
    assert (found["state"], found["wall"], found["files"]) == ("done", 1.5, dict.fromkeys(FILES, 4))
    assert found["specification"]["scenario"]["cluster"]["cores"] == 8
    with pytest.raises(InputError, match="no run"):
        store.run("zz")


# Faults, and their care


@pytest.fixture
def kept(open_store):
    """A store with four runs that are done, each with files."""
    store, number = registered(open_store)
    finish_all(store, number, files=FILES)
    assert verify(store) == []
    return store, number


def spoil_contents(path, store, digest):
    path.write_bytes(b"mess")


def spoil_length(path, store, digest):
    path.write_bytes(path.read_bytes() + b"x")


def spoil_presence(path, store, digest):
    path.unlink()


def spoil_figures(path, store, digest):
    own = sa.select(runs.c.id).where(runs.c.digest == digest).scalar_subquery()
    store.database.write(lambda c: c.execute(figures.delete().where(figures.c.run_id == own)))


def spoil_state(path, store, digest):
    store.database.write(lambda c: c.execute(runs.update().where(runs.c.digest == digest).values(state="running")))


@pytest.mark.parametrize("spoil", [spoil_contents, spoil_length, spoil_presence, spoil_figures, spoil_state])
def test_a_fault_is_found_and_repaired_by_running_again(kept, spoil):
    store, number = kept
    digest = store.table("small")["run"][2]
    spoil(store.results.folder_of(digest) / "by_size.parquet", store, digest)
    faults = verify(store)
    assert {fault.run for fault in faults} == {digest}
    assert verify(store, repair=True) == faults
    assert verify(store) == []
    assert store.count(number) == {"waiting": 1, "running": 0, "done": 3, "failed": 0}
    finish_all(store, number, files=FILES)
    assert verify(store) == []
    assert store.count(number)["done"] == 4


def test_files_of_no_run_are_found_and_removed(kept):
    store, _ = kept
    (store.results.folder_of("ab" * 32)).mkdir(parents=True)
    (store.results.folder / "cd").mkdir(exist_ok=True)
    (store.results.folder / "cd" / ".draft-x-1-99").mkdir()
    assert len(verify(store)) == 2
    verify(store, repair=True)
    assert verify(store) == []


def test_runs_of_a_runner_that_is_gone_are_no_fault(open_store):
    store, number = registered(open_store)
    leases = Leases(store)
    leases.take(number, 2)
    assert find_abandoned(store) == 0
    gone = process_name().rpartition("/")[0] + "/1"  # the number of this process, but one that began earlier
    store.database.write(lambda c: c.execute(runners.update().values(process=gone)))
    assert find_abandoned(store) == 2
    assert verify(store) == []
    assert Leases(store).reap() == 2


def test_a_backup_is_a_store_and_comes_back(kept, tmp_path):
    store, _ = kept
    Leases(store).take(register(store, name="second", repetitions=6), 1)
    copy, faults = back_up(store, tmp_path / "copy")
    assert faults == []
    with Store(copy) as opened, Store(tmp_path / "new", create=True) as new:
        assert opened.table("small").equals(store.table("small"))
        assert opened.count(opened.find("second").id) == {"waiting": 2, "running": 0, "done": 4, "failed": 0}
        restore(copy, new)
        assert verify(new) == []
        assert new.table("small").equals(store.table("small"))
        finish_all(new, new.find("second").id)
        with pytest.raises(InputError, match="not empty"):
            restore(copy, new)
    with pytest.raises(InputError, match="never replaces"):
        back_up(store, tmp_path / "copy")


def test_a_backup_of_a_damaged_store_says_so(kept, tmp_path):
    store, _ = kept
    digest = store.table("small")["run"][0]
    (store.results.folder_of(digest) / "by_size.parquet").write_bytes(b"mess")
    _, faults = back_up(store, tmp_path / "copy")
    assert [fault.run for fault in faults] == [digest]


def test_an_experiment_that_is_being_run_is_not_removed(kept):
    store, _ = kept
    Leases(store).take(register(store, name="second", seeds=[99]), 1)
    with pytest.raises(InputError, match="being run"):
        store.remove("second")
