"""Runs on a Dask cluster: how it is reached, the runner's side of it, and a worker's. Needs the extra `distributed`."""
