"""A process ends within its limits, with everything it started, and its output is kept but bounded."""

import contextlib
import hashlib
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from measure.confine import process
from measure.confine.process import OUTPUT_LIMIT_BYTES, RESULT_FD, Limits, Output, run

LIMITS = Limits(timeout_s=30)


def python(code: str, *words: str, limits: Limits = LIMITS, **options):
    return run([sys.executable, "-c", code, *words], limits, **options)


def open_descriptors() -> set[str]:
    return {entry.name for entry in Path("/proc/self/fd").iterdir()}


def alive(pid: int) -> bool:
    """Say whether a process runs; one that ended and that nobody waited for does not."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_exit_status_output_result_and_time_are_returned():
    code = "import os, sys; os.write(int(sys.argv[1]), b'R'); print('out'); print('err', file=sys.stderr); sys.exit(7)"
    finished = python(code, RESULT_FD)
    assert (finished.exit_code, finished.signal, finished.timed_out) == (7, None, False)
    assert (finished.stdout.data, finished.stderr.data, finished.result.data) == (b"out\n", b"err\n", b"R")
    assert finished.argv[-1].isdigit()
    assert 0 < finished.wall_ns < 30e9
    assert finished.how() == "exit status 7"


def test_a_signal_is_no_exit_code():
    finished = python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (finished.exit_code, finished.signal) == (None, signal.SIGSEGV)
    assert finished.how() == "ended by SIGSEGV"


def test_a_hang_is_killed_at_the_timeout_and_keeps_what_it_printed():
    finished = python("import time; print('before', flush=True); time.sleep(99)", limits=Limits(timeout_s=0.7))
    assert finished.timed_out
    assert (finished.exit_code, finished.signal) == (None, None)
    assert finished.stdout.data == b"before\n"
    assert finished.how() == "killed after 1 s"
    assert finished.wall_ns < 5e9


@pytest.mark.parametrize("closes", [True, False])
def test_a_child_of_the_child_does_not_outlive_it_and_holds_nothing_up(closes):
    code = (
        f"import subprocess, sys; p = subprocess.Popen(['sleep', '60'], close_fds={closes}, stdout=None); print(p.pid)"
    )
    finished = python(code)
    assert finished.exit_code == 0
    assert finished.wall_ns < 20e9
    deadline = time.monotonic() + 5
    while alive(int(finished.stdout.data)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(int(finished.stdout.data))


def test_output_beyond_the_limit_is_dropped_and_the_process_not_blocked():
    code = "import sys; sys.stdout.write('x' * 5_000_000); sys.stderr.write('y' * 5_000_000)"
    finished = python(code)
    assert finished.exit_code == 0
    for output in (finished.stdout, finished.stderr):
        assert len(output.data) == OUTPUT_LIMIT_BYTES
        assert output.cut
        assert output.text().endswith("\n[cut here]")


def test_output_of_just_the_limit_is_whole():
    finished = python(f"import sys; sys.stdout.write('x' * {OUTPUT_LIMIT_BYTES})")
    assert len(finished.stdout.data) == OUTPUT_LIMIT_BYTES
    assert not finished.stdout.cut


def test_a_large_result_comes_whole():
    code = "import os, sys\nwith open(int(sys.argv[1]), 'wb') as f: f.write(bytes(range(256)) * 20_000)"
    assert python(code, RESULT_FD).result == Output(bytes(range(256)) * 20_000, cut=False)


def test_stdin_is_given_whole_and_one_that_nobody_reads_is_no_error():
    data = os.urandom(1_000_000)
    code = "import sys, hashlib; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
    assert python(code, stdin=data).stdout.text().strip() == hashlib.sha256(data).hexdigest()
    assert python("pass", stdin=data).exit_code == 0
    assert python("import sys; print(len(sys.stdin.read()))").stdout.data == b"0\n"


def test_address_space_and_file_size_are_limited(tmp_path):
    limits = Limits(timeout_s=30, address_space_bytes=1 << 30, file_size_bytes=1000)
    memory = python("bytearray(2 << 30)", limits=limits)
    assert (memory.exit_code, b"MemoryError" in memory.stderr.data) == (1, True)
    written = python("with open('big', 'wb') as f: f.write(bytes(5000))", limits=limits, cwd=tmp_path)
    assert written.exit_code == 1
    assert (tmp_path / "big").stat().st_size <= 1000


def test_environment_and_folder_are_those_given(tmp_path):
    code = "import os; print(sorted(os.environ), os.getcwd())"
    finished = python(code, cwd=tmp_path, env={"ONLY": "this", "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"})
    assert finished.stdout.text().strip() == f"['LC_ALL', 'ONLY', 'PATH'] {tmp_path}"


def test_bytes_that_are_no_text_are_shown_escaped():
    assert Output(b"a\xffb", cut=False).text() == "a\\xffb"


def test_a_program_that_does_not_exist_is_reported_and_leaves_no_descriptor_open():
    before = open_descriptors()
    finished = run(["./no-such-program"], LIMITS)
    assert finished.exit_code == 127
    assert b"no-such-program" in finished.stderr.data
    assert open_descriptors() == before


def test_a_folder_that_does_not_exist_is_an_error_and_leaves_no_descriptor_open(tmp_path):
    before = open_descriptors()
    with pytest.raises(OSError, match="nowhere"):
        run(["true"], LIMITS, cwd=tmp_path / "nowhere")
    assert open_descriptors() == before


def test_no_descriptor_is_left_open_whatever_happens():
    before = open_descriptors()
    python("print(1)", RESULT_FD)
    python("import os; os.abort()")
    python("import time; time.sleep(9)", limits=Limits(timeout_s=0.2))
    assert open_descriptors() == before


def test_an_interruption_here_kills_the_child(monkeypatch):
    pids = []

    def interrupted(child, *_):
        pids.append(child.pid)
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "_communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        python("import time; time.sleep(60)")
    assert not alive(pids[0])


def test_processes_run_side_by_side_with_their_own_results():
    results = {}

    def work(number: int) -> None:
        code = "import os, sys; os.write(int(sys.argv[1]), sys.argv[2].encode())"
        results[number] = python(code, RESULT_FD, str(number)).result.data

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: str(number).encode() for number in range(12)}


def test_what_an_outsider_kills_is_run_again_twice(monkeypatch):
    monkeypatch.setattr(process, "PAUSES_S", (0.0, 0.0))
    finished = python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert (finished.signal, finished.killed_retries) == (signal.SIGKILL, 2)
    assert finished.how() == "ended by SIGKILL, 3 times in a row"


def test_a_second_run_may_do_better(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "PAUSES_S", (0.0, 0.0))
    code = "import os, sys; os.path.exists(sys.argv[1]) or (open(sys.argv[1], 'w'), os.kill(os.getpid(), 9))"
    finished = python(code, str(tmp_path / "was here"))
    assert (finished.exit_code, finished.signal, finished.killed_retries) == (0, None, 1)
