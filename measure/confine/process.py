"""The one function that runs other programs."""

import contextlib
import os
import select
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

OUTPUT_LIMIT_BYTES = 64 * 1024
RESULT_LIMIT_BYTES = 64 * 1024 * 1024
RESULT_FD = "{result_fd}"
CONTROL_FD = "{control_fd}"
KILL_GRACE_S = 10.0
# Before a program that an outsider killed is run again: for want of memory, it needs some to be freed.
PAUSES_S = (1.0, 30.0)


class Limits(NamedTuple):
    """Limits of one process, inherited by its children. None leaves the system's own limit.

    The last three bind confined processes only: none is left to guess what a compiler or CMake of one's own may need.
    """

    timeout_s: float
    address_space_bytes: int | None = None
    file_size_bytes: int | None = None
    cpu_s: int | None = None  # of each process; None: as much as the timeout, rounded up
    processes: int = 64  # and threads, of all that the program starts
    open_files: int = 256


class Output(NamedTuple):
    """What came through one pipe, cut at its limit."""

    data: bytes
    cut: bool

    def text(self) -> str:
        """Return the output as text; bytes that are no UTF-8 are shown escaped."""
        return self.data.decode("utf-8", "backslashreplace") + ("\n[cut here]" if self.cut else "")


class Finished(NamedTuple):
    """How a process ended. ``exit_code`` is None when a signal ended it: a signal is no exit code."""

    argv: tuple[str, ...]
    exit_code: int | None
    signal: int | None
    timed_out: bool
    stdout: Output
    stderr: Output
    result: Output
    wall_ns: int
    sandbox: str | None = None  # what confined it
    killed_retries: int = 0  # earlier runs of it that an outsider killed

    def how(self) -> str:
        """Say in a few words how the process ended."""
        if self.timed_out:
            return f"killed after {self.wall_ns / 1e9:.0f} s"
        if self.signal is not None:
            again = f", {self.killed_retries + 1} times in a row" if self.killed_retries else ""
            return f"ended by {signal.Signals(self.signal).name}{again}"
        return f"exit status {self.exit_code}"


def was_killed(finished: Finished) -> bool:
    """Return whether SIGKILL ended a program, which neither our timeout (no signal) nor a limit (SIGXCPU) is."""
    return finished.signal == signal.SIGKILL


def run(  # noqa: PLR0913 - all that a process is given
    argv: Sequence[str],
    limits: Limits,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    confinement: Sequence[str] = (),
    held: Sequence[int] = (),
    killed: Callable[[Finished], bool] = was_killed,
) -> Finished:
    """Run ``argv`` in a session of its own, without a shell, and return how it ended.

    The word ``{result_fd}`` in ``argv`` becomes the number of a pipe whose content is returned as ``result``.
    Output beyond the limit is read and dropped, so that no candidate fills a disk or blocks on a full pipe. At
    the timeout, and at any exception here, the whole process group is killed.

    ``confinement`` are words that run csrc/confine with the program behind them, as ``measure.confine.sandbox`` makes
    them; ``{control_fd}`` in them becomes its socket. It sets the limits, and when this function returns, no process
    that descends from the program is left. Without it, util-linux prlimit sets them.

    A program that an outsider killed, such as the kernel for want of memory, has shown nothing about itself: it is
    run again, at most twice. ``killed_retries`` keeps count; killed three times in a row is how it ended.

    Args:
        argv: the program and its words.
        limits: of each run.
        cwd: where it starts.
        env: its environment, that of this process by default.
        stdin: what it reads.
        confinement: see above.
        held: descriptors that the program and all that it starts hold open, such as those of locks.
        killed: whether an end counts as an outsider's doing.

    Raises:
        OSError: when the program cannot be started.
    """
    retries = 0
    finished = _run_once(argv, limits, cwd, env, stdin, confinement, held)
    while retries < len(PAUSES_S) and killed(finished):
        time.sleep(PAUSES_S[retries])
        retries += 1
        finished = _run_once(argv, limits, cwd, env, stdin, confinement, held)
    return finished._replace(killed_retries=retries)


def _run_once(  # noqa: PLR0913, PLR0917 - all that a process is given
    argv: Sequence[str],
    limits: Limits,
    cwd: Path | None,
    env: Mapping[str, str] | None,
    stdin: bytes,
    confinement: Sequence[str],
    held: Sequence[int],
) -> Finished:
    begin_ns = time.monotonic_ns()
    read_fd, write_fd = os.pipe()
    control, far = socket.socketpair()
    words = tuple(word.replace(RESULT_FD, str(write_fd)) for word in argv)
    wrapper = [word.replace(CONTROL_FD, str(far.fileno())) for word in confinement] or _limited(limits)
    with control, os.fdopen(read_fd, "rb", buffering=0) as result_pipe:
        with far, os.fdopen(write_fd, "wb", buffering=0):
            passed = (write_fd, *held, far.fileno()) if confinement else (write_fd, *held)
            child = _start([*wrapper, *words], passed, cwd, env)
        with child:
            try:
                outputs, timed_out = _communicate(child, result_pipe, stdin, limits.timeout_s)
            finally:
                _end(child, control if confinement else None)
            return_code = child.wait()
        if confinement:
            return_code = _told(control, return_code, outputs[1])
    return Finished(
        argv=words,
        exit_code=None if timed_out or return_code < 0 else return_code,
        signal=-return_code if return_code < 0 and not timed_out else None,
        timed_out=timed_out,
        stdout=outputs[0],
        stderr=outputs[1],
        result=outputs[2],
        wall_ns=time.monotonic_ns() - begin_ns,
    )


def _start(
    argv: Sequence[str], passed: tuple[int, ...], cwd: Path | None, env: Mapping[str, str] | None
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        argv,
        cwd=cwd,
        env=None if env is None else dict(env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=passed,
        start_new_session=True,
    )


def _limited(limits: Limits) -> list[str]:
    """Return the words that set the limits and then become the program itself (util-linux prlimit)."""
    words = ["prlimit", "--core=0"]
    if limits.address_space_bytes is not None:
        words.append(f"--as={limits.address_space_bytes}")
    if limits.file_size_bytes is not None:
        words.append(f"--fsize={limits.file_size_bytes}")
    return [*words, "--"]


class _Pipe:
    """One pipe from the child: what came, up to a bound; the rest is dropped."""

    def __init__(self, stream: IO[bytes], bound: int) -> None:
        self.stream = stream
        self.bound = bound
        self.kept = bytearray()
        os.set_blocking(stream.fileno(), False)

    def read(self) -> bool:
        """Read once; return False at the end of the pipe or when nothing is there now."""
        try:
            data = os.read(self.stream.fileno(), 1 << 16)
        except BlockingIOError:
            return False
        if len(self.kept) <= self.bound:
            self.kept += data
        return bool(data)

    def drain(self) -> Output:
        """Read what is there, though no more than is kept, and return all that came."""
        while len(self.kept) <= self.bound and self.read():
            pass
        return Output(bytes(self.kept[: self.bound]), len(self.kept) > self.bound)


def _communicate(
    child: "subprocess.Popen[bytes]", result_pipe: IO[bytes], stdin: bytes, timeout_s: float
) -> tuple[tuple[Output, Output, Output], bool]:
    """Feed ``stdin``, read three pipes until the child has ended, and say whether the time ran out.

    The child's end is seen on a pidfd and not on its pipes: a grandchild may hold those open for ever.
    """
    if child.stdin is None or child.stdout is None or child.stderr is None:
        raise ValueError("the child must have been started with three pipes")
    stdout, stderr = _Pipe(child.stdout, OUTPUT_LIMIT_BYTES), _Pipe(child.stderr, OUTPUT_LIMIT_BYTES)
    result = _Pipe(result_pipe, RESULT_LIMIT_BYTES)
    os.set_blocking(child.stdin.fileno(), False)
    deadline = time.monotonic() + timeout_s
    pidfd = os.pidfd_open(child.pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(pidfd, selectors.EVENT_READ)
            selector.register(child.stdin, selectors.EVENT_WRITE)
            for pipe in (stdout, stderr, result):
                selector.register(pipe.stream, selectors.EVENT_READ, pipe)
            ended = _until_ended(selector, pidfd, child.stdin, memoryview(stdin), deadline)
    finally:
        os.close(pidfd)
    return (stdout.drain(), stderr.drain(), result.drain()), not ended


def _until_ended(
    selector: selectors.BaseSelector, pidfd: int, stdin: IO[bytes], rest: memoryview, deadline: float
) -> bool:
    """Serve the pipes until the child has ended; return False when the deadline comes first."""
    while (left_s := deadline - time.monotonic()) > 0:
        for key, _ in selector.select(left_s):
            if key.fd == pidfd:
                return True
            if isinstance(key.data, _Pipe):
                if not key.data.read():
                    selector.unregister(key.fileobj)
            else:
                rest = _feed(selector, stdin, rest)
    return False


def _feed(selector: selectors.BaseSelector, pipe: IO[bytes], rest: memoryview) -> memoryview:
    try:
        rest = rest[os.write(pipe.fileno(), rest) :] if rest else rest
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        rest = memoryview(b"")
    if not rest:
        selector.unregister(pipe)
        pipe.close()
    return rest


def _end(child: "subprocess.Popen[bytes]", control: socket.socket | None) -> None:
    """Kill whatever is left: by the confining process, given some time for it, and by the child's group."""
    if control and child.poll() is None:
        control.shutdown(socket.SHUT_WR)
        _wait(child, KILL_GRACE_S)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _wait(child: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Wait for a child's end without reaping it."""
    pidfd = os.pidfd_open(child.pid)
    try:
        select.select([pidfd], [], [], seconds)
    finally:
        os.close(pidfd)


def _told(control: socket.socket, return_code: int, stderr: Output) -> int:
    """Return what the confining process says of the program's end, a signal as a negative number.

    Without a word on it, that process was killed, and the program with it; ``return_code`` is what is left to say so
    before the program's start, a number of bubblewrap's where its child was killed.

    Raises:
        OSError: when the program was not started.
    """
    os.set_blocking(control.fileno(), False)
    with contextlib.suppress(BlockingIOError, ConnectionResetError):
        lines = control.recv(4096).decode("utf-8", "backslashreplace").splitlines()
        for kind, _, rest in (line.partition(" ") for line in lines):
            if kind == "error":
                raise OSError(rest)
            if kind in {"exit", "signal"}:
                return int(rest) if kind == "exit" else -int(rest)
        if lines or return_code in (-signal.SIGKILL, 128 + signal.SIGKILL):
            return -signal.SIGKILL
    said = stderr.text().strip().splitlines()
    raise OSError(f"its sandbox does not start{': ' + said[-1] if said else ''}")
