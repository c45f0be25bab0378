"""Many machines: a Dask scheduler, its workers, what comes back, and a script for Slurm."""
