"""Several cores of one machine: each measures its own instances, in a process of its own, from one run folder."""

import contextlib
import ctypes
import multiprocessing
import os
import signal
import statistics
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import NamedTuple

from evidence.types import BuildInstance, ParallelControl
from measure.errors import DriverError, MeasureError, UsageError
from measure.timing.trials import Rig, Task, Tell, core_of, expected_s, operations, perform, remaining

STOP_TIMEOUT_S = 30.0
CONTROL_TRIALS = 5
PR_SET_PDEATHSIG = 1  # of Linux's prctl

Phase = Callable[[Rig, Sequence[BuildInstance], Tell], None]


class Told(NamedTuple):
    """What a worker says: an amount of work done, or how it failed."""

    amount: float
    text: str
    error: MeasureError | None = None


def balance(costs_s: Mapping[str, float], cores: Sequence[int], fixed: Mapping[str, int]) -> dict[int, list[str]]:
    """Share out instances over cores so that none has much more to do than the others.

    The dearest instance goes first, to the core with the least work so far. One that was begun on a core stays there:
    all operations of an instance are measured on one core.

    Args:
        costs_s: seconds of work left, by instance.
        cores: the measuring cores.
        fixed: the core on which an instance was begun.

    Raises:
        UsageError: when there is no core.
    """
    if not cores:
        raise UsageError("no core to measure on")
    shares: dict[int, list[str]] = {core: [] for core in cores}
    load_s = dict.fromkeys(cores, 0.0)
    for name in sorted(costs_s, key=lambda name: (fixed.get(name) not in shares, -costs_s[name], name)):
        core = fixed[name] if fixed.get(name) in shares else min(cores, key=lambda core: (load_s[core], core))
        shares[core].append(name)
        load_s[core] += costs_s[name]
    return shares


def name_of(built: BuildInstance) -> str:
    """Return ``candidate/label``."""
    return f"{built.candidate}/{built.label}"


def costs_left_s(rig: Rig, instances: Sequence[BuildInstance]) -> dict[str, float]:
    """Return the seconds of timed work left of each instance; equal shares of one where nothing is calibrated."""
    left = {name_of(built): 1e-3 for built in instances}
    for step, task in remaining(rig, instances):
        left[name_of(task.built)] += expected_s(rig, step, task)
    return left


def begun_on(rig: Rig, instances: Sequence[BuildInstance]) -> dict[str, int]:
    """Return the core of each instance that has been measured on one, be it only by a calibrating call that counts."""
    found: dict[str, int] = {}
    for operation, built in operations(rig, instances).items():
        core = core_of(rig, operation, built)
        if core is not None:
            found.setdefault(name_of(built), core)
    return found


def share_out(rig: Rig, cores: Sequence[int], instances: Sequence[BuildInstance], phase: Phase, tell: Tell) -> None:
    """Run a phase over instances: here where there is one core, else on all cores at once."""
    if len(cores) == 1:
        phase(rig._replace(cpu=cores[0]), instances, tell)
        return
    by_name = {name_of(built): built for built in instances}
    shares = balance(costs_left_s(rig, instances), cores, begun_on(rig, instances))
    _on_cores(rig, {core: [by_name[name] for name in names] for core, names in shares.items()}, tell, phase)


def control(rig: Rig, cores: Sequence[int], tasks: Iterable[Task]) -> ParallelControl | None:
    """Measure what parallel work does to a figure, on the first of some trials that goes well; None where none does."""
    for task in tasks:
        with contextlib.suppress(DriverError):
            return _control(rig, cores, task)
    return None


def _control(rig: Rig, cores: Sequence[int], task: Task) -> ParallelControl:
    """Time one trial's call alone, and again while the other cores work.

    Raises:
        DriverError: when the trial does not go well, or another core's work ended.
    """
    fork = multiprocessing.get_context("fork")
    here = rig._replace(cpu=cores[0])
    alone_s = _call_s(here, task)
    others = [fork.Process(target=_keep_busy, args=(rig._replace(cpu=core), task)) for core in cores[1:]]
    try:
        for other in others:
            other.start()
        together_s = _call_s(here, task)
        if not all(other.is_alive() for other in others):
            raise DriverError(f"{task.operation}: fails beside itself in the control run")
    finally:
        _end(others)
    return ParallelControl(operation=str(task.operation), cpus=tuple(cores), alone_s=alone_s, together_s=together_s)


def _call_s(rig: Rig, task: Task) -> float:
    """Return the median over some trials of the mean time of one call."""
    trials = [trial for _ in range(CONTROL_TRIALS) for trial in perform(rig, task, 0).process.trials]
    if len(trials) < CONTROL_TRIALS:
        raise DriverError(f"{task.operation}: fails in the control run")
    return statistics.median(trial.seconds / trial.measurements for trial in trials)


def _keep_busy(rig: Rig, task: Task) -> None:
    _be_ended()
    with contextlib.suppress(MeasureError):
        while True:
            perform(rig, task, 0)


class _Work(NamedTuple):
    """What a worker process does."""

    rig: Rig
    instances: Sequence[BuildInstance]
    phase: Phase


def _on_cores(rig: Rig, shares: Mapping[int, Sequence[BuildInstance]], tell: Tell, phase: Phase) -> None:
    """Run one phase on all cores at once; the first failure ends them all and is raised here.

    Workers are forked, so that each holds the lock of the run folder: after a kill of this process nobody else may
    write there before they have ended, too.
    """
    fork = multiprocessing.get_context("fork")
    workers: dict[Connection, ForkProcess] = {}
    try:
        for core, instances in shares.items():
            here, there = fork.Pipe(duplex=False)
            work = _Work(rig._replace(cpu=core), instances, phase)
            workers[here] = fork.Process(target=_work, args=(work, there, _off(shares)))
            workers[here].start()
            there.close()
        _listen(list(workers), tell)
        # They are about to end by themselves: told to end in that very moment, one would do so with another status.
        for worker in workers.values():
            worker.join(STOP_TIMEOUT_S)
    finally:
        _end(workers.values())
    lost = [worker.exitcode for worker in workers.values() if worker.exitcode]
    if lost:
        raise MeasureError(f"a worker ended with status {lost[0]}; what was finished is kept, start again to go on")


def _off(shares: Mapping[int, object]) -> set[int]:
    """Return where the workers themselves may run: off the measuring cores, where there are others."""
    usable = os.sched_getaffinity(0)
    return usable - shares.keys() or usable


def _listen(pipes: list[Connection], tell: Tell) -> None:
    while pipes:
        for pipe in wait(pipes):
            if not isinstance(pipe, Connection):
                continue
            try:
                told: Told = pipe.recv()
            except EOFError:
                pipes.remove(pipe)
                continue
            if told.error:
                raise told.error
            tell(told.amount, told.text)


def _end(workers: Collection[ForkProcess]) -> None:
    """Let each worker end its driver process and itself."""
    for worker in workers:
        if worker.is_alive():
            worker.terminate()
    for worker in workers:
        worker.join(STOP_TIMEOUT_S)
        if worker.is_alive():
            worker.kill()
            worker.join()


def _be_ended() -> None:
    """Let this process be ended with all that it started: by its parent, and at once where that is killed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    parent = multiprocessing.parent_process()
    if parent is None or os.getppid() != parent.pid:
        sys.exit(0)


def _work(work: _Work, pipe: Connection, own_cores: set[int]) -> None:
    """Be a worker."""
    _be_ended()
    os.sched_setaffinity(0, own_cores)
    try:
        work.phase(work.rig, work.instances, lambda amount, text: pipe.send(Told(amount, text)))
    except MeasureError as error:
        pipe.send(Told(0, "", error))
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(0)
    finally:
        pipe.close()
