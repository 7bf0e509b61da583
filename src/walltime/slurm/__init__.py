"""The real Slurm controller, unmodified, running in virtual time as a second engine."""
