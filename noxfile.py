"""The user's entry points. `nox` measures (quick plan) and renders; `nox --list` names the rest."""

import os
import shutil

import nox
from nox.command import CommandFailed

nox.needs_version = ">=2025.5"
nox.options.sessions = ["measure", "render"]
nox.options.error_on_missing_interpreters = True
nox.options.reuse_venv = "yes"

PYTHON = ["measure", "evidence", "render", "tests", "noxfile.py"]


@nox.session
def measure(session: nox.Session) -> None:
    """Measure candidates and publish the evidence; what follows `--` goes to `python -m measure run`."""
    need(session, "gcc", "cmake")
    install(session, "measure")
    session.run("python", "-m", "measure", "run", *session.posargs)


@nox.session
def render(session: nox.Session) -> None:
    """Make the pages from the evidence and build the site into site/."""
    install(session, "render")
    session.run("python", "-m", "render", "pages")
    mkdocs(session, "build", "--strict")


@nox.session(default=False)
def serve(session: nox.Session) -> None:
    """Make the pages and serve the site on this machine."""
    install(session, "render")
    session.run("python", "-m", "render", "pages")
    mkdocs(session, "serve")


@nox.session(default=False)
def verify(session: nox.Session) -> None:
    """Prove the data folder, and that the pages are what the renderer makes of it now."""
    install(session, "render")
    session.run("python", "-m", "evidence", "verify")
    session.run("python", "-m", "render", "pages", "--check")


@nox.session(default=False)
def tests(session: nox.Session) -> None:
    """Run all tests; what follows `--` goes to pytest (`-m "not slow"` for the quick ones)."""
    need(session, "gcc", "cmake", "chromium")
    install(session, "test")
    # A file's tests stay together: what they share is made once.
    words = ["-n", "auto", "--dist", "loadfile", *session.posargs]
    session.run("pytest", *words, env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session(default=False)
def tests_c(session: nox.Session) -> None:
    """Run the tests of the C side alone."""
    need(session, "gcc", "cmake")
    install(session, "test")
    session.run("pytest", "tests/csrc", *session.posargs)


@nox.session(default=False)
def lint(session: nox.Session) -> None:
    """Check style and types."""
    install(session, "dev")
    session.run("ruff", "check", *PYTHON)
    session.run("ruff", "format", "--check", *PYTHON)
    session.run("mypy")


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measure the instrument: the driver, a campaign on one core and two, the renderer at scale; then name misses."""
    need(session, "gcc", "cmake")
    install(session, "test")
    session.run("cmake", "-S", "csrc", "-B", "build/csrc", "-DCMAKE_BUILD_TYPE=Release", external=True)
    session.run("cmake", "--build", "build/csrc", external=True)
    for phase in ("build", "kat"):
        session.run("python", "-m", "measure", phase, "--runs", "build/bench", "--only", "^kem-kyber/Kyber512$")
    library = "build/bench/local/quick/kem-kyber/lib/libKyber512.so"
    cpu = session.posargs[0] if session.posargs else str(max(os.sched_getaffinity(0)))
    benches = (
        ("driver_bench.py", "build/csrc/driver", "build/csrc/bare_loop", library, cpu),
        ("campaign_bench.py",),
        ("render_bench.py", *session.posargs[1:]),
    )
    missed = [name for name, *words in benches if not succeeds(session, "python", f"tests/bench/{name}", *words)]
    if missed:
        session.error(f"lines missed in {', '.join(missed)}")


# ---------------------------------------------------------------------------------------------------------------


def install(session: nox.Session, extra: str) -> None:
    """Install the project with one of its extras, in the versions that are known to work together."""
    session.install("-e", f".[{extra}]", "-c", "constraints.txt")


def need(session: nox.Session, *programs: str) -> None:
    """Stop with one line where a program is missing that no Python package brings."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        session.error(f"not installed: {', '.join(missing)}; on Debian or Ubuntu: apt-get install {' '.join(missing)}")


def succeeds(session: nox.Session, *words: str) -> bool:
    """Run a program whose failure is no reason to leave others out; return whether it went well."""
    try:
        session.run(*words)
    except CommandFailed:
        return False
    return True


def mkdocs(session: nox.Session, *words: str) -> None:
    """Run mkdocs from the folder of its configuration."""
    session.run("mkdocs", *words, env={"NO_MKDOCS_2_WARNING": "1"})


if __name__ == "__main__":
    nox.main()
