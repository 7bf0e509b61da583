"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "experiments",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("file", sa.Text),
        sa.Column("definition", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("changed", sa.Float, nullable=False),
    )
    op.create_table(
        "specifications",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False, unique=True),
        sa.Column("text", sa.Text, nullable=False),
    )
    _create_runs()
    op.create_table(
        "cells",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("experiment_id", _ID, sa.ForeignKey("experiments.id"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("labels", sa.Text, nullable=False),
        sa.UniqueConstraint("experiment_id", "number"),
    )
    op.create_table(
        "levels",
        sa.Column("cell_id", _ID, sa.ForeignKey("cells.id"), primary_key=True),
        sa.Column("axis", sa.Text, primary_key=True),
        sa.Column("label", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "members",
        sa.Column("cell_id", _ID, sa.ForeignKey("cells.id"), primary_key=True),
        sa.Column("run_id", _ID, sa.ForeignKey("runs.id"), primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_index("members_run", "members", ["run_id"])
    op.create_table(
        "figures",
        sa.Column("run_id", _ID, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Float, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "files",
        sa.Column("run_id", _ID, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "runners",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("host", sa.Text, nullable=False),
        sa.Column("process", sa.Text, nullable=False),
        sa.Column("beat", sa.BigInteger, nullable=False),
        sa.Column("started", sa.Float, nullable=False),
        sqlite_autoincrement=True,
    )


def _create_runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False, unique=True),
        sa.Column("specification_id", _ID, sa.ForeignKey("specifications.id"), nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("runner_id", _ID),
        *(sa.Column(name, sa.Text) for name in ("result", "fault", "error", "log")),
        *(sa.Column(name, sa.Float) for name in ("started", "finished", "wall", "cpu")),
        sa.Column("memory", sa.BigInteger),
        sa.Column("host", sa.Text),
        sa.Column("version", sa.Text),
    )
    for name, column, state in (("runs_waiting", "id", "waiting"), ("runs_held", "runner_id", "running")):
        where = sa.text(f"state = '{state}'")
        op.create_index(name, "runs", [column], sqlite_where=where, postgresql_where=where)
    op.create_index("runs_specification", "runs", ["specification_id"])


def downgrade() -> None:
    """Drop them, and all that is in them."""
    for table in ("runners", "files", "figures", "members", "levels", "cells", "runs", "specifications", "experiments"):
        op.drop_table(table)
