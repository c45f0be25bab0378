"""Whatever a candidate does, its process ends with a status and leaves no process and no file.

Each way to confine programs is tried as this user and, where that is root, as an ordinary one. Nothing here can harm
the machine if confinement fails: the program makes at most 300 processes, and connects to this test alone.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from evidence.types import FlagSet
from measure.build import compiler
from measure.build.library import build_with
from measure.confine import sandbox
from measure.confine.process import Limits
from measure.confine.sandbox import Sandbox

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ORDINARY_USER = 1_850_000_001  # nobody's
IS_ROOT = os.geteuid() == 0


class Case(NamedTuple):
    """A way to confine, and as whom."""

    box: Sandbox
    user: int | None  # None: as this process
    folder: Path  # of the program to write to
    home: Path  # of that user
    program: Path

    def run(self, *words: str, timeout_s: float = 20, cpu_s: int = 20) -> dict[str, Any]:
        """Run the hostile program, and prove that nothing is left of it."""
        mark = uuid.uuid4().hex
        env = {**os.environ, "HOSTILE_MARK": mark, "PYTHONPATH": str(ROOT)}
        argv = self.argv(timeout_s, cpu_s, *words)
        ended = subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=60)
        assert marked_processes(mark) == []
        assert list(self.folder.iterdir()) == list(self.home.iterdir()) == []
        assert ended.returncode == 0, ended.stderr
        return dict(json.loads(ended.stdout))

    def argv(self, timeout_s: float, cpu_s: int, *words: str) -> list[str]:
        """Return the command line that runs the hostile program confined."""
        box = (self.box.kind, str(self.box.confine), str(self.folder))
        become = [] if self.user is None else ["setpriv", "--reuid", str(self.user), "--clear-groups"]
        runner = [sys.executable, str(HERE / "hostile" / "run_confined.py")]
        return [*become, *runner, *box, str(timeout_s), str(cpu_s), str(self.program), *words]


def marked_processes(mark: str) -> list[int]:
    """Return the processes that bear a mark in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:  # it has ended, or is another user's
            continue
    return found


def ends(pid: int) -> bool:
    """Wait for a process's end, for a while."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    with os.fdopen(pidfd, "rb", buffering=0) as end:
        return bool(select.select([end], [], [], 30)[0])


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("hostile") / "hostile"
    words = [
        "gcc",
        "-std=c11",
        "-D_GNU_SOURCE",
        "-Wall",
        "-Wextra",
        str(HERE / "hostile" / "hostile.c"),
        "-o",
        str(target),
    ]
    subprocess.run(words, check=True)
    return target


@pytest.fixture(params=["bubblewrap", "landlock", "none"])
def box(request: pytest.FixtureRequest) -> Sandbox:
    """A way to confine; one that this host lacks is skipped."""
    box = next(box for box in sandbox.ways() if box.kind == request.param)
    if refusal := box.refused():
        pytest.skip(refusal)
    return box


@pytest.fixture(params=["this", "ordinary"])
def case(box: Sandbox, request: pytest.FixtureRequest, program: Path, tmp_path: Path) -> Case:
    user = ORDINARY_USER if request.param == "ordinary" else None
    if user is not None and not IS_ROOT:
        pytest.skip("only root becomes another user; this one is ordinary")
    place = public(tmp_path)
    copies = [Path(shutil.copy(file, place)) for file in (program, box.confine)]
    folder, home = place / "folder", place / "home"
    for made in (folder, home):
        made.mkdir(mode=0o755)
        if user is not None:
            os.chown(made, user, user)
    return Case(box._replace(confine=copies[1]), user, folder, home, copies[0])


def public(folder: Path) -> Path:
    """Let every user reach a folder of the test."""
    for above in (folder, *folder.parents):
        if above.stat().st_uid == os.getuid() and above.stat().st_mode & 0o001 == 0:
            above.chmod(above.stat().st_mode | 0o011)
    return folder


def test_the_case_itself_runs_and_says_how_it_was_confined(case: Case) -> None:
    ended = case.run("nothing")
    assert (ended["exit_code"], ended["sandbox"]) == (125, case.box.kind)


def test_what_the_driver_needs_works_confined_where_it_works_at_all(case: Case) -> None:
    cpu = str(min(os.sched_getaffinity(0)))
    become = ["setpriv", "--reuid", str(ORDINARY_USER), "--clear-groups"] if IS_ROOT else []
    outside = subprocess.run([*become, str(case.program), "measure", cpu], check=False, timeout=60).returncode
    if outside:
        pytest.skip(f"does not work outside either (status {outside})")
    assert case.run("measure", cpu)["exit_code"] == 0


def test_a_process_bomb_ends_at_the_limit(case: Case) -> None:
    ended = case.run("bomb")
    assert ended["exit_code"] == 0
    assert 0 < int(ended["text"]) < 100


def test_an_allocation_beyond_the_limit_is_refused(case: Case) -> None:
    assert case.run("allocate")["exit_code"] == 3


def test_endless_output_is_cut_and_ended(case: Case) -> None:
    ended = case.run("print", timeout_s=0.5)
    assert (ended["timed_out"], ended["cut"], ended["bytes"]) == (True, True, 65536)


def test_an_endless_loop_is_ended_by_the_clock(case: Case) -> None:
    ended = case.run("loop", timeout_s=0.5)
    assert (ended["timed_out"], ended["exit_code"], ended["signal"]) == (True, None, None)


@pytest.mark.slow
def test_an_endless_loop_is_ended_by_its_own_time(case: Case) -> None:
    """One that ignores SIGXCPU is killed some seconds later: the limit ended it, and no outsider."""
    ended = case.run("loop", timeout_s=40, cpu_s=1)
    assert (ended["timed_out"], ended["signal"]) == (False, signal.SIGXCPU)


def test_a_process_that_stops_itself_is_ended(case: Case) -> None:
    assert case.run("stop", timeout_s=0.5)["timed_out"]


def test_a_file_in_the_home_directory_is_refused(case: Case) -> None:
    if case.box.kind == "none" and (case.user is not None or not IS_ROOT):
        pytest.skip(
            "neither bubblewrap nor Landlock: a user's program may write what the user may; the record says none"
        )
    assert case.run("write", str(case.home / "file"))["exit_code"] == 5


def test_a_connection_does_not_reach_the_machine(case: Case) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ended = case.run("connect", str(server.getsockname()[1]))
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert ended["exit_code"] == 6


def test_a_process_that_left_its_session_does_not_stay(case: Case) -> None:
    ended = case.run("stay")
    assert ended["exit_code"] == 0
    assert ended["wall_ns"] < 10e9


def test_a_program_cannot_kill_who_watches_it(case: Case) -> None:
    if case.box.kind == "none" and (case.user is not None or not IS_ROOT):
        pytest.skip("without bubblewrap and Landlock a user's program may kill whatever is the user's")
    assert case.run("kill-parent")["exit_code"] == 0


def test_nothing_outlives_who_started_it(case: Case) -> None:
    fifo, mark = case.folder / "fifo", uuid.uuid4().hex
    os.mkfifo(fifo)
    if case.user is not None:
        os.chown(fifo, case.user, case.user)
    env = {**os.environ, "HOSTILE_MARK": mark, "PYTHONPATH": str(ROOT)}
    end = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    with (
        subprocess.Popen(case.argv(60, 60, "hold", str(fifo)), env=env) as runner,
        os.fdopen(end, "rb", buffering=0) as pipe,
    ):
        assert select.select([pipe], [], [], 30)[0]
        assert pipe.read(1) == b"x"
        runner.kill()
        assert select.select([pipe], [], [], 30)[0]
        assert pipe.read(1) == b""
    assert all(map(ends, marked_processes(mark)))


@pytest.mark.skipif(not IS_ROOT, reason="only root's programs have the right that this would abuse")
def test_no_file_outside_the_view_is_opened_by_its_number(case: Case) -> None:
    secret = case.folder.parent / "secret"
    secret.write_text("secret")
    secret.chmod(0o600)
    assert case.run("handle", file_handle(secret))["exit_code"] == 7


def file_handle(file: Path) -> str:
    """Return the kernel's handle of a file, as C lays it out, in hexadecimal."""
    handle = ctypes.create_string_buffer(b"\x80\x00\x00\x00", 136)
    mount = ctypes.c_int()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.name_to_handle_at(-100, os.fsencode(file), handle, ctypes.byref(mount), 0):
        pytest.skip(f"no file handles here: {os.strerror(ctypes.get_errno())}")
    return handle.raw.hex()


Evil = Callable[[str], str]


@pytest.fixture
def compile_reason(toy: Callable[..., Any], box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Evil:
    """Compile a source under tight limits; return why that failed, having proved that nothing is left."""
    job = toy()
    mark = uuid.uuid4().hex
    environment = compiler._environment

    def compiled(source: str) -> str:
        (job.fetched.folder / "evil.c").write_text(source)
        monkeypatch.setattr(sandbox, "of_this_host", lambda: box)
        monkeypatch.setattr(compiler, "COMPILE_LIMITS", Limits(1.5, 400 << 20, 1 << 20))
        monkeypatch.setattr(compiler, "_environment", lambda scratch: environment(scratch) | {"HOSTILE_MARK": mark})
        built = build_with(job, FlagSet.GUIDE)
        assert built.library is None
        assert marked_processes(mark) == []
        assert list(job.out.rglob(".build-*")) == []
        return built.reason or ""

    if IS_ROOT and box.kind == "none":
        public(job.fetched.folder.parent)
    return compiled


def test_a_source_that_never_ends_is_refused(compile_reason: Evil) -> None:
    """The compiler ends for want of memory, in time, or because there is no such file."""
    assert compile_reason('#include "/dev/zero"\n').startswith("evil.c: ")


def test_a_compilation_that_needs_for_ever_is_ended(compile_reason: Evil) -> None:
    doubled = "\n".join(f"#define M{n + 1} M{n} M{n}" for n in range(40))
    reason = compile_reason(f"#define M0 x++;\n{doubled}\nvoid evil(int x) {{ M40 }}\n")
    assert reason.startswith("evil.c: ")


def test_a_source_cannot_take_in_a_file_of_the_machine(compile_reason: Evil, box: Sandbox, tmp_path: Path) -> None:
    if box.kind == "none" and not IS_ROOT:
        pytest.skip("without bubblewrap and Landlock a user's compiler may read what the user may")
    (tmp_path / "secret.h").write_text("#error secret\n")
    (tmp_path / "secret.h").chmod(0o600)
    reason = compile_reason(f'#include "{tmp_path}/secret.h"\n')
    assert "secret.h: " in reason
    assert "#error" not in reason
