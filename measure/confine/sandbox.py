"""Runs what others wrote: candidates' code, and compilers over candidates' sources.

Three ways, the best that this host allows, named in the evidence:

- ``bubblewrap``: name spaces of its own; of the file system only what a :class:`View` names, read-only but for its
  folders to write; no network.
- ``landlock``: the same view enforced by the kernel's Landlock, no TCP, no network at all where user name spaces are
  allowed. For hosts without bubblewrap, and for those that forbid it its name spaces, such as containers.
- ``none``: limits alone.

In each, csrc/confine is the program's parent: it sets the limits and kills all that descends from it. Where this
process runs as root the program runs as a user whom nobody else is, since root's processes cannot be limited in
number.
"""

import atexit
import contextlib
import hashlib
import itertools
import os
import platform
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from measure.confine.process import CONTROL_FD, Finished, Limits, was_killed
from measure.confine.process import run as run_process
from measure.errors import SandboxError, ToolMissingError

Kind = Literal["bubblewrap", "landlock", "none"]
SOURCES = Path(__file__).resolve().parents[2] / "csrc" / "confine"
COMPILERS = ("gcc", "cc", "clang")
COMPILE_FLAGS = ("-std=c11", "-O2", "-D_GNU_SOURCE")
PROBE_LIMITS = Limits(timeout_s=60)
# What programs of the system need of it. Folders that are links in a system (/lib to /usr/lib) are links there, too.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")
CONFINE = "/confine"
TEMPORARY_BYTES = 64 << 20
# What confine needs to make the program another user's, and to kill it.
CAPABILITIES = ("CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_SETPCAP", "CAP_DAC_READ_SEARCH")
# A range that no system gives to anybody (systemd's list of user numbers): 64 for each possible process number.
FIRST_USER = 1_879_048_192
USERS_PER_PROCESS = 64
COUNTS_BY_NAME_SPACE = (5, 14)  # kernels from here on count processes by user and user name space


class View(NamedTuple):
    """What a program sees besides the system's own programs and libraries, under the same names; absolute paths."""

    cwd: Path  # where it starts; nothing is to be seen there unless it is named below
    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()


class Sandbox(NamedTuple):
    """A way to confine programs on this host."""

    kind: Kind
    confine: Path  # the program of csrc/confine

    def run(  # noqa: PLR0913 - all that a process is given
        self,
        argv: Sequence[str],
        limits: Limits,
        view: View,
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        killed: Callable[[Finished], bool] = was_killed,
    ) -> Finished:
        """Run ``argv`` as ``measure.confine.process.run`` does, confined.

        Raises:
            SandboxError: when the program cannot be started.
        """
        uid = _free_user() if os.geteuid() == 0 else None
        if uid is not None:
            _check_readable(self, view)
            _give(view.write, uid)
        words = [*_view_words(self, view), *confine_words(self, limits, view, uid), "--"]
        try:
            finished = run_process(argv, limits, cwd=view.cwd, env=env, stdin=stdin, confinement=words, killed=killed)
        except OSError as error:
            raise SandboxError(f"{Path(argv[0]).name}: cannot be run confined ({self.kind}): {error}") from error
        finally:
            if uid is not None:
                _give(view.write, 0, whose=uid)
        return finished._replace(sandbox=self.kind)

    def refused(self) -> str | None:
        """Return why this way does not work on this host, None where it does."""
        try:
            finished = self.run(["true"], PROBE_LIMITS, View(Path("/")))
        except SandboxError as error:
            return str(error)
        return None if finished.exit_code == 0 else f"{self.kind}: {finished.how()}"


def run(  # noqa: PLR0913 - all that a process is given
    argv: Sequence[str],
    limits: Limits,
    view: View,
    *,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    killed: Callable[[Finished], bool] = was_killed,
) -> Finished:
    """Run ``argv`` confined in the best way of this host.

    Raises:
        SandboxError: when the program cannot be started.
        ToolMissingError: when there is no compiler to make the sandbox with.
    """
    return of_this_host().run(argv, limits, view, env=env, stdin=stdin, killed=killed)


@lru_cache
def of_this_host() -> Sandbox:
    """Return the best way that works here.

    Raises:
        ToolMissingError: when there is no compiler.
        SandboxError: when none works, or csrc/confine does not compile.
    """
    refusals = []
    for box in ways():
        if (refusal := box.refused()) is None:
            return box
        refusals.append(refusal)
    raise SandboxError("; ".join(refusals))


@lru_cache
def ways() -> tuple[Sandbox, ...]:
    """Return all ways, best first, whether they work here or not.

    Raises:
        ToolMissingError, SandboxError: as ``of_this_host`` does.
    """
    confine = _compiled()
    return Sandbox("bubblewrap", confine), Sandbox("landlock", confine), Sandbox("none", confine)


def end_orphans(folder: Path) -> None:
    """End sandboxes that speak of a folder which nobody but the caller uses now.

    bubblewrap makes its inner process before that one is bound to its life: killed in that instant, as with the run
    above it, it leaves the inner one asleep for ever.
    """
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            inside = any(word == str(folder) or word.startswith(f"{folder}/") for word in words)
            if words[0] == "bwrap" and inside:
                os.kill(int(process.name), signal.SIGKILL)


def confine_words(box: Sandbox, limits: Limits, view: View, uid: int | None) -> list[str]:
    """Return the command line of csrc/confine, up to the program's."""
    wanted = {
        "as": limits.address_space_bytes,
        "cpu": int(limits.timeout_s) + 1 if limits.cpu_s is None else limits.cpu_s,
        "fsize": limits.file_size_bytes,
        "nproc": _processes(box, limits, uid),
        "nofile": limits.open_files,
        "uid": uid,
    }
    words = [word for name, value in wanted.items() if value is not None for word in (f"--{name}", str(value))]
    if box.kind != "bubblewrap":
        words.append("--isolate")
    if box.kind == "landlock":
        words.append("--landlock")
        words += [word for path in (*SYSTEM, *SYSTEM_FILES, *view.read) for word in ("--read", str(path))]
        words += [word for path in view.write for word in ("--write", str(path))]
    # What is private to root, such as a checkout below /root, is read all the same, where a view is a bound to it.
    if box.kind != "none" and uid is not None:
        words.append("--keep-reading")
    confine = CONFINE if box.kind == "bubblewrap" else str(box.confine)
    return [confine, "--control", CONTROL_FD, *words]


def _view_words(box: Sandbox, view: View) -> list[str]:
    """Return the command line of bubblewrap, up to that of confine; none without it."""
    if box.kind != "bubblewrap":
        return []
    mounts = [(path, "--ro-bind") for path in view.read] + [(path, "--bind") for path in view.write]
    # A folder goes before what lies in it, and what may be written after what may be read.
    mounts.sort(key=lambda mount: len(mount[0].parts))
    words = [
        "bwrap",
        *_name_spaces(),
        "--die-with-parent",
        "--as-pid-1",
        *_system(),
        "--proc",
        "/proc",
        "--dev",
        "/dev",
    ]
    words += ["--size", str(TEMPORARY_BYTES), "--tmpfs", "/tmp"]  # noqa: S108 - the sandbox's own
    # Made by a mount, the folders above would be as closed as what is mounted.
    words += [word for path in (view.cwd, *(path.parent for path, _ in mounts)) for word in ("--dir", str(path))]
    words += [word for path, how in mounts for word in (how, str(path), str(path))]
    words += ["--ro-bind", str(box.confine), CONFINE]
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(view.cwd), "--"]


def _check_readable(box: Sandbox, view: View) -> None:
    """Refuse paths that only root can read, where there is no view to bound a right to read them all the same.

    Raises:
        SandboxError: with the command that helps.
    """
    for path in view.read if box.kind == "none" else ():
        wanted = 0o005 if path.is_dir() else 0o004
        closed = [above for above in path.resolve().parents if not above.stat().st_mode & 0o001]
        if path.exists() and (closed or path.stat().st_mode & wanted != wanted):
            raise SandboxError(
                f"{path}: candidates do not run as root, but only root can read this: chmod -R o+rX {path}"
            )


def _name_spaces() -> list[str]:
    """Root needs no user name space, in which it would be root to the kernel's limits still."""
    if os.geteuid() != 0:
        return ["--unshare-all"]
    spaces = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    return [*spaces, "--cap-drop", "ALL", *(word for name in CAPABILITIES for word in ("--cap-add", name))]


@lru_cache
def _system() -> tuple[str, ...]:
    words: list[str] = []
    for place in map(Path, SYSTEM):
        if place.is_symlink():
            words += ["--symlink", str(place.readlink()), str(place)]
        elif place.is_dir():
            words += ["--ro-bind", str(place), str(place)]
    return (*words, *(word for name in SYSTEM_FILES for word in ("--ro-bind-try", name, name)))


def _processes(box: Sandbox, limits: Limits, uid: int | None) -> int:
    """Return the limit on processes; where the kernel counts all of this user's, those there are come on top."""
    release = re.match(r"(\d+)\.(\d+)", platform.release())
    counted = release is not None and tuple(map(int, release.groups())) >= COUNTS_BY_NAME_SPACE
    if uid is not None or (box.kind == "bubblewrap" and counted):
        return limits.processes
    return limits.processes + sum(_threads(os.getuid()))


def _threads(uid: int) -> Iterator[int]:
    """Yield the number of threads of each process of a user."""
    for entry in os.scandir("/proc"):
        try:
            if entry.name.isdigit() and entry.stat().st_uid == uid:
                yield sum(1 for _ in Path(entry, "task").iterdir())
        except OSError:  # it has ended
            continue


_count = itertools.count()


def _free_user() -> int:
    """Return the number of a user for one program, so that of those that run at one time each is another user's."""
    return FIRST_USER + os.getpid() * USERS_PER_PROCESS + next(_count) % USERS_PER_PROCESS


def _give(folders: Sequence[Path], uid: int, whose: int = 0) -> None:
    """Make a user the owner of all that is another's in some folders, and of the folders."""
    for folder in folders:
        for place, names, files in os.walk(folder):
            for path in (Path(place), *(Path(place, name) for name in (*names, *files))):
                if path.lstat().st_uid == whose:
                    os.chown(path, uid, uid, follow_symlinks=False)


def _compiled() -> Path:
    """Return csrc/confine, compiled where it is not kept from another time."""
    compiler = next((name for name in COMPILERS if shutil.which(name)), None)
    if compiler is None:
        raise ToolMissingError("the C compiler gcc is not installed; install it, for example with: apt install gcc")
    state = hashlib.sha256(repr((compiler, COMPILE_FLAGS, platform.machine(), platform.libc_ver())).encode())
    for file in sorted(SOURCES.glob("*.[ch]")):
        state.update(file.read_bytes())
    program = _cache() / f"confine-{state.hexdigest()[:16]}"
    if not program.is_file():
        _compile(compiler, program)
    return program


def _compile(compiler: str, program: Path) -> None:
    sources = sorted(str(file) for file in SOURCES.glob("*.c"))
    with tempfile.TemporaryDirectory(prefix=".confine-", dir=program.parent) as scratch:
        made = Path(scratch) / program.name
        finished = run_process([compiler, *COMPILE_FLAGS, *sources, "-o", str(made)], PROBE_LIMITS)
        if finished.exit_code != 0:
            said = finished.stderr.text().strip().splitlines() or [finished.how()]
            raise SandboxError(f"csrc/confine does not compile: {said[0]}")
        made.replace(program)


def _cache() -> Path:
    """Return a folder of this user's for what can be made again; without one, a folder that goes with this process."""
    try:
        place = os.environ.get("XDG_CACHE_HOME")
        folder = (Path(place) if place else Path.home() / ".cache") / "katalog"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    except (OSError, RuntimeError):  # no such user, no such home, or not to be written
        pass
    lasting = tempfile.TemporaryDirectory(prefix="katalog-confine-")
    atexit.register(lasting.cleanup)
    return Path(lasting.name)
