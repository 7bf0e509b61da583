"""How fast Walltime is, in CPU time: `python -m benchmarks [NAME ...]`. What is measured: docs/background/speed.md."""
