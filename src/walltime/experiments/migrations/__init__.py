"""How the tables of a store came to be, step by step: Alembic's migrations, in `versions`."""
