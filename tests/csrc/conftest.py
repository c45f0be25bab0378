"""The driver, its units as a library, and toy libraries to measure: all compiled here, once per session."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import cffi
import pytest

HERE = Path(__file__).resolve().parent
CSRC = HERE.parents[1] / "csrc"
SHIM = ("metadata.c", "random_nist_aes.c")
STRICT_C99 = ("-std=c99", "-Wpedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC")
NAMES = ('-DKATALOG_CANDIDATE="kem-toy"', '-DKATALOG_INSTANCE="Toy-\\"1\\""', '-DKATALOG_BUILD_FLAGS="-O2"')

UNITS = """
struct counter_reason { char text[160]; };
struct perf_event_choice { uint32_t type; uint64_t config; uint64_t config1; };
struct counter_request { const char *name; int cpu; const struct perf_event_choice *event; };
struct counter_refusals { size_t count; const char *names[8]; struct counter_reason reasons[8]; };
struct counter_overhead { uint64_t count; uint64_t wall_ns; };
struct counter;
int counter_select(struct counter **out, const struct counter_request *request, struct counter_refusals *refusals);
void counter_close(struct counter *counter);
int counter_read(const struct counter *counter, uint64_t *count);
int counter_difference(uint64_t begin, uint64_t end, uint64_t *difference);
int counter_times(const struct counter *counter, uint64_t *enabled_ns, uint64_t *running_ns);
int counter_measure_overhead(const struct counter *counter, struct counter_overhead *overhead);
const char *counter_name(const struct counter *counter);
const char *counter_unit(const struct counter *counter);
uint64_t counter_hz(const struct counter *counter);
int counter_user_only(const struct counter *counter);
const char *counter_known_name(size_t index);
struct perf_event_choice perf_core_cycles(const char *devices, int cpu);
long perf_pmu_type(const char *devices, const char *prefix, int cpu);
int perf_cpu_listed(const char *list, int cpu);
int fixed_rate_confirms(uint64_t measured_hz, uint64_t stated_hz);

struct failure { int kind; char message[1024]; };
const char *failure_kind_name(int kind);
int failure_exit_status(int kind);
struct json { char *text; size_t capacity_bytes, used_bytes; unsigned int level; bool begun[9]; bool faulty; };
void json_begin(struct json *json, char *text, size_t capacity_bytes);
void json_open_object(struct json *json, const char *key);
void json_close_object(struct json *json);
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);
void json_string(struct json *json, const char *key, const char *value);
void json_count(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);
void json_number(struct json *json, const char *key, double value);
void json_seconds(struct json *json, const char *key, uint64_t ns);
bool json_complete(const struct json *json);

struct quantiles { double min, p01, p05, p25, p50, p75, p95, p99, max; };
void quantiles_of(uint64_t *readings, size_t samples, uint64_t overhead, uint64_t batch_calls, struct quantiles *out);

struct octets { const char *name; unsigned char *bytes;
    unsigned long long capacity_bytes, length_bytes, longest_bytes; unsigned char *block; };
int octets_make(struct octets *octets, const char *name, unsigned long long capacity_bytes, struct failure *failure);
int octets_check_guards(const struct octets *octets, struct failure *failure);
void octets_free(struct octets *octets);

struct cost { uint64_t count, wall_ns; };
uint64_t choose_batch(uint64_t iterations, const struct cost *call, const struct counter_overhead *overhead);
int check_rate(const char *unit, uint64_t counter_hz, uint64_t clock_hz, uint64_t count, uint64_t spent_ns,
               struct failure *failure);
"""

HOOKS = """
struct counter_reason { char text[160]; };
struct counter_overhead { uint64_t count; uint64_t wall_ns; };
int hook_probe(int toy, struct counter_reason *why);
int hook_overhead(int toy, struct counter_overhead *overhead);
int hook_page_read(uint32_t index, int64_t offset, uint16_t width, int readable, uint64_t value, uint64_t *count,
                   uint32_t *asked);
void hook_aes256(const unsigned char *key, const unsigned char *in, unsigned char *out);
"""

RANDOM = """
void katalog_seed(const unsigned char *seed, unsigned long long seed_bytes);
void katalog_random(unsigned char *out, unsigned long long out_bytes);
"""


class Unit(NamedTuple):
    """A library opened through cffi, and the ffi that knows its types."""

    ffi: cffi.FFI
    lib: Any


class Ended(NamedTuple):
    """How a driver process ended. ``document`` is None when nothing was written."""

    status: int
    document: dict[str, Any] | None
    stdout: bytes
    stderr: bytes
    samples: bytes


Driver = Callable[..., Ended]


def compile_shared(output: Path, *words: str | Path, compiler: str = "gcc") -> Path:
    """Compile a shared library; warnings are errors."""
    subprocess.run([compiler, "-shared", "-o", output, *words], check=True)
    return output


def compile_toy(folder: Path, name: str, compiler: str = "gcc") -> Path:
    """Compile one toy library, linked with the shim as every measured library is."""
    sources = [HERE / "libraries" / f"{name}.c", *(CSRC / "shim" / source for source in SHIM)]
    return compile_shared(folder / f"{name}.so", *STRICT_C99, *NAMES, *sources, compiler=compiler)


def build(folder: Path, *targets: str, options: tuple[str, ...] = ()) -> Path:
    """Configure and build csrc in a folder; any compiler warning fails."""
    subprocess.run(["cmake", "-S", CSRC, "-B", folder, *options], check=True, stdout=subprocess.DEVNULL)
    command = ["cmake", "--build", folder, "-j2", "--target", *targets]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "warning" not in done.stdout + done.stderr
    return folder


def run_driver(argv: list[str], folder: Path, *, samples: bool = False) -> Ended:
    """Run a driver's command line with its result, and on request its samples, going to files."""
    result, raw = folder / "result.json", folder / "samples.bin"
    with result.open("wb") as result_file, raw.open("wb") as samples_file:
        fds = (result_file.fileno(), samples_file.fileno())
        words = [*argv, "--result-fd", str(fds[0]), *(["--samples-fd", str(fds[1])] if samples else [])]
        done = subprocess.run(words, capture_output=True, pass_fds=fds, check=False, timeout=60)
    text = result.read_bytes()
    return Ended(done.returncode, json.loads(text) if text else None, done.stdout, done.stderr, raw.read_bytes())


def time_words(library: Path, operation: str, iterations: int, warmups: int, *more: str) -> list[str]:
    """Return the words of ``driver time``; the family is the first part of the library's name."""
    words = ["time", "--library", str(library), "--family", library.name.partition("_")[0], "--operation", operation]
    words += ["--iterations", str(iterations), "--warmups", str(warmups)]
    return [*words, "--cpu", str(min(os.sched_getaffinity(0))), *more]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("csrc"), "driver", "bare_loop", "katalog_units")


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Compile a toy library by name, once."""
    folder = tmp_path_factory.mktemp("toys")

    def make(name: str) -> Path:
        library = folder / f"{name}.so"
        return library if library.exists() else compile_toy(folder, name)

    return make


@pytest.fixture
def driver(built: Path, tmp_path: Path) -> Driver:
    """Run the driver with the given words."""

    def run(*words: str, samples: bool = False) -> Ended:
        return run_driver([str(built / "driver"), *words], tmp_path, samples=samples)

    return run


@pytest.fixture
def timed(driver: Driver, toy: Callable[[str], Path]) -> Driver:
    """Time an operation of a toy library and return how that ended."""

    def run(
        name: str, operation: str, *more: str, iterations: int = 20, warmups: int = 3, samples: bool = False
    ) -> Ended:
        return driver(*time_words(toy(name), operation, iterations, warmups, *more), samples=samples)

    return run


@pytest.fixture(scope="session")
def units(built: Path) -> Unit:
    """Return the driver's units."""
    ffi = cffi.FFI()
    ffi.cdef(UNITS)
    return Unit(ffi, ffi.dlopen(str(built / "libkatalog_units.so")))


@pytest.fixture(scope="session")
def hooks(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Unit:
    """Return the counters that misbehave on purpose."""
    output = tmp_path_factory.mktemp("hooks") / "hooks.so"
    link = (f"-L{built}", "-lkatalog_units", f"-Wl,-rpath,{built}")
    flags = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror")
    compile_shared(output, *flags, HERE / "units" / "unit_hooks.c", *link)
    ffi = cffi.FFI()
    ffi.cdef(HOOKS)
    return Unit(ffi, ffi.dlopen(str(output)))


@pytest.fixture(scope="session")
def random_source(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Unit]:
    """Compile one random source by the name of its file."""
    folder = tmp_path_factory.mktemp("random")

    def make(name: str) -> Unit:
        ffi = cffi.FFI()
        ffi.cdef(RANDOM)
        output = folder / f"{name}.so"
        if not output.exists():
            compile_shared(output, *STRICT_C99, CSRC / "shim" / f"{name}.c")
        return Unit(ffi, ffi.dlopen(str(output)))

    return make


AARCH64_COMPILER, AARCH64_EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64-static"
AARCH64_ROOT = "/usr/aarch64-linux-gnu"


@pytest.fixture(scope="session")
def aarch64_built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the driver for AArch64, or skip where compiler or emulator are absent."""
    for tool in (AARCH64_COMPILER, AARCH64_EMULATOR):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")
    options = (
        f"-DCMAKE_C_COMPILER={AARCH64_COMPILER}",
        "-DCMAKE_SYSTEM_NAME=Linux",
        "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
    )
    return build(tmp_path_factory.mktemp("aarch64"), "driver", options=options)


@pytest.fixture
def aarch64_driver(aarch64_built: Path, tmp_path: Path) -> Driver:
    """Run the AArch64 driver under the emulator."""

    def run(*words: str) -> Ended:
        return run_driver([AARCH64_EMULATOR, "-L", AARCH64_ROOT, str(aarch64_built / "driver"), *words], tmp_path)

    return run


@pytest.fixture
def aarch64_timed(aarch64_driver: Driver, tmp_path: Path) -> Driver:
    """Time an operation of a toy library compiled for AArch64."""

    def run(name: str, operation: str, *more: str, iterations: int = 20, warmups: int = 3) -> Ended:
        library = compile_toy(tmp_path, name, AARCH64_COMPILER)
        return aarch64_driver(*time_words(library, operation, iterations, warmups, *more))

    return run


@pytest.fixture
def words() -> Callable[..., list[str]]:
    """Return the function that makes the words of ``driver time``."""
    return time_words
