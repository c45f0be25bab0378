"""The job script of a campaign on the nodes of a Slurm cluster; it is printed, never submitted."""

import shlex
from collections.abc import Sequence
from typing import NamedTuple

HELP = "print a Slurm job script that measures on many nodes; submits nothing"
SCRIPT = """\
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --array=0-{workers}
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --exclusive
#SBATCH --hint=nomultithread
#SBATCH --output={name}-%A_%a.log

# Task 0 builds, hands out the timing, counts helper calls and publishes. Each other task is one worker on a node of its
# own, which ends with task 0. Without srun: a step would be bound to the core that is to be kept free.
# Whoever reaches port {port} of task 0's node, or a worker, runs programs under this account: for nodes where nobody
# else can, or with TLS (tls:// instead of tcp:// below, and dask's configuration).
set -euo pipefail
cd -- {folder}
mkdir -p -- {runs}
place={runs}/slurm-$SLURM_ARRAY_JOB_ID.address

if [ "$SLURM_ARRAY_TASK_ID" -ne 0 ]; then
    for _ in $(seq {wait_s}); do [ -s "$place" ] && break; sleep 1; done
    [ -s "$place" ] || {{ echo "task 0 did not start within {wait_s} s" >&2; exit 1; }}
    exec {python} -m measure worker --scheduler "$(cat -- "$place")"{cpu}
fi

host=$(hostname)
{python} -m distributed.cli.dask_scheduler --host "$host" --port {port} --no-dashboard &
scheduler=$!
trap 'kill "$scheduler"; rm -f -- "$place"' EXIT
echo "tcp://$host:{port}" > "$place.new"
mv -- "$place.new" "$place"
{python} -m measure run --scheduler "tcp://$host:{port}" {words}
"""
PORT = 8786
WAIT_S = 3600


class Array(NamedTuple):
    """What a script is made for."""

    workers: int
    folder: str  # the checkout
    python: str
    system_id: str
    runs: str
    cpu: str | None
    words: Sequence[str]  # options of `run`


def script(array: Array) -> str:
    """Return the text of a job script."""
    return SCRIPT.format(
        name=f"katalog-{array.system_id}",
        workers=array.workers,
        folder=shlex.quote(array.folder),
        runs=shlex.quote(array.runs),
        python=shlex.quote(array.python),
        cpu=f" --cpu {shlex.quote(array.cpu.partition(',')[0])}" if array.cpu else "",
        words=shlex.join(array.words),
        port=PORT,
        wait_s=WAIT_S,
    )
