"""A confined program runs as an unconfined one does, but for what it is not to see and do."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from measure.confine import sandbox
from measure.confine.process import RESULT_FD, Limits
from measure.confine.sandbox import FIRST_USER, Sandbox, View, confine_words
from measure.errors import SandboxError

LIMITS = Limits(timeout_s=20, address_space_bytes=1 << 30, file_size_bytes=1000)
IS_ROOT = os.geteuid() == 0


@pytest.fixture(params=["bubblewrap", "landlock", "none"])
def box(request: pytest.FixtureRequest) -> Sandbox:
    """A way to confine; one that this host lacks is skipped."""
    box = next(box for box in sandbox.ways() if box.kind == request.param)
    if refusal := box.refused():
        pytest.skip(refusal)
    return box


def shell(box: Sandbox, script: str, *words: str, view: View | None = None, stdin: bytes = b""):
    env = {"PATH": "/usr/bin:/bin"}
    return box.run(["bash", "-c", script, "sh", *words], LIMITS, view or View(Path("/")), env=env, stdin=stdin)


def test_status_output_result_and_input_are_those_of_the_program(box: Sandbox) -> None:
    script = "cat; echo problem >&2; printf result >&$1; exit 139"
    finished = shell(box, script, RESULT_FD, stdin=b"input")
    assert (finished.exit_code, finished.signal, finished.timed_out) == (139, None, False)
    assert (finished.stdout.data, finished.stderr.data, finished.result.data) == (b"input", b"problem\n", b"result")
    assert finished.argv[:2] == ("bash", "-c")
    assert finished.sandbox == box.kind


def test_a_signal_is_no_exit_code(box: Sandbox) -> None:
    finished = shell(box, "kill -SEGV $$")
    assert (finished.exit_code, finished.signal) == (None, signal.SIGSEGV)


def test_a_program_that_is_not_there_is_an_error(box: Sandbox) -> None:
    with pytest.raises(SandboxError, match=r"no-such-program: cannot be run confined .*No such file"):
        box.run(["/usr/bin/no-such-program"], LIMITS, View(Path("/")))


def test_limits_hold(box: Sandbox) -> None:
    told = shell(box, "ulimit -c; ulimit -v; ulimit -n; ulimit -t").stdout.text().split()
    assert told == ["0", str(1 << 20), "256", "21"]


def test_a_folder_to_write_is_ones_own_and_comes_back(box: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    finished = shell(box, "cat old; echo new > old; mkdir -p a/b; echo x > a/b/c", view=View(tmp_path, (), (tmp_path,)))
    assert (finished.exit_code, finished.stderr.data) == (0, b"")
    assert (tmp_path / "old").read_text() == "new\n"
    assert {file.lstat().st_uid for file in (tmp_path, *tmp_path.rglob("*"))} == {os.geteuid()}


def test_what_is_to_be_read_is_read_only_and_what_is_beside_it_not_there(box: Sandbox, tmp_path: Path) -> None:
    if box.kind == "none":
        pytest.skip("has no view")
    shown, hidden = tmp_path / "shown", tmp_path / "hidden"
    for folder in (shown, hidden):
        folder.mkdir(mode=0o700)
        (folder / "file").write_text(folder.name)
    script = 'cat "$1/file"; echo x > "$1/file"; echo x > "$1/new"; cat "$2/file"; cat /etc/passwd; exit 0'
    finished = shell(box, script, str(shown), str(hidden), view=View(shown, (shown,)))
    assert finished.stdout.data == b"shown"
    assert [file.read_text() for file in (shown / "file", hidden / "file")] == ["shown", "hidden"]
    assert not (shown / "new").exists()


@pytest.mark.skipif(not IS_ROOT, reason="only root becomes another user")
def test_roots_programs_are_another_users_each(box: Sandbox) -> None:
    users = [int(shell(box, "id -u").stdout.data) for _ in range(2)]
    assert all(user >= FIRST_USER for user in users)
    assert users[0] != users[1]


@pytest.mark.skipif(not IS_ROOT, reason="only root becomes another user")
def test_without_a_view_what_only_root_reads_is_refused_with_the_command_that_helps(tmp_path: Path) -> None:
    box = sandbox.ways()[-1]
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    with pytest.raises(SandboxError, match=r"chmod -R o\+rX .*private"):
        box.run(["true"], LIMITS, View(Path("/"), (private,)))


def test_the_best_way_that_works_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    works = next(box for box in sandbox.ways() if box.refused() is None)
    assert sandbox.of_this_host() == works
    monkeypatch.setenv("PATH", "/nowhere")
    assert "bwrap" in (sandbox.ways()[0].refused() or "")


def test_a_users_own_processes_come_on_top_where_the_kernel_counts_them() -> None:
    def processes(kind: sandbox.Kind, uid: int | None) -> int:
        words = confine_words(Sandbox(kind, Path("confine")), LIMITS, View(Path("/")), uid)
        return int(words[words.index("--nproc") + 1])

    assert processes("none", 7) == LIMITS.processes
    assert processes("none", None) > LIMITS.processes


def test_what_confines_is_compiled_once_and_without_a_home_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    program = sandbox._compiled()
    assert list((tmp_path / "cache" / "katalog").iterdir()) == [program]
    made_ns = program.stat().st_mtime_ns
    assert sandbox._compiled().stat().st_mtime_ns == made_ns
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert sandbox._compiled().is_file()


def test_sandboxes_of_a_run_that_is_gone_are_ended(tmp_path: Path) -> None:
    words = ["bwrap", "-c", "import time; time.sleep(60)", str(tmp_path / "a" / "driver")]
    with subprocess.Popen(words, executable=sys.executable) as orphan:
        sandbox.end_orphans(tmp_path / "b")
        sandbox.end_orphans(tmp_path / "a" / "dri")
        assert orphan.poll() is None
        sandbox.end_orphans(tmp_path / "a")
        assert orphan.wait(timeout=30) == -signal.SIGKILL
