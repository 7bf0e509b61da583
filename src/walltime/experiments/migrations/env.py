"""What Alembic runs: the migrations on a connection that the store has opened already."""

from alembic import context

from walltime.experiments.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
context.run_migrations()
