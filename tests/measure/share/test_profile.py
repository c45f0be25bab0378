"""Profiles of the bundled candidates, whose helper calls are known exactly, and of what cannot be profiled."""

import os
import platform
import re
import shutil
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from evidence import derive
from evidence.catalog import Candidate, Instance, Source
from evidence.plans import QUICK
from evidence.types import BuildInstance, FlagSet, KatStatus, Profile
from measure.build.library import BuildJob, build_with
from measure.host import facts
from measure.share import profile
from measure.share.profile import Task, Work
from measure.source.fetch import Fetched
from measure.timing import trials
from measure.timing.attempts import ProfileState, RunFolder, read
from measure.timing.plan import Operation
from tests.csrc.model.winternitz import Winternitz, calls

ROOT = Path(__file__).resolve().parents[3]
CSRC = ROOT / "csrc"
SEED, MESSAGE = bytes(range(48)), bytes((131 * i + 64) % 256 for i in range(64))
POINTS = 0.03
# From the header of the key exchange.
EPHEMERAL = {
    "init_a": {"drng": 1},
    "init_b": {"drng": 1},
    "pass1": {"drng": 1, "pseudoXOF": 2},
    "pass2": {"drng": 1, "pseudoXOF": 2, "pseudohash": 2, "sm3hash": 2},
    "derive_a": {"pseudoXOF": 3, "pseudohash": 2, "sm3hash": 3},
    "derive_b": {"pseudohash": 1},
    "exchange": {"drng": 4, "pseudoXOF": 7, "pseudohash": 5, "sm3hash": 5},
}

Bench = Callable[..., "Stand"]


class Stand:
    """One instance, built for timing and for profiling, in a run folder of its own."""

    def __init__(self, rig: trials.Rig, work: Work) -> None:
        self.rig, self.work = rig, work
        self.profiled = profile.make_library(rig.folder, work)

    def profile(self, operation: str, call_s: float = 1e-4) -> Profile:
        """Profile an operation as if a call took so long, which decides how many are counted."""
        built = self.work.built
        task = Task(self.work, self.profiled, Operation(built.candidate, built.label, operation), call_s)
        return profile.perform(self.rig, task)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("driver")
    subprocess.run(["cmake", "-S", CSRC, "-B", out], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", out, "--target", "driver"], check=True, stdout=subprocess.DEVNULL)
    return out / "driver"


@pytest.fixture
def bench(tmp_path: Path, driver: Path) -> Bench:
    """Build an instance from a folder of sources."""

    def make(candidate_id: str, folder: Path, **recipe: object) -> Stand:
        instance = msgspec.convert({"label": "toy", "dir": "."} | recipe, Instance)
        candidate = Candidate(id=candidate_id, algorithm="Toy", source=Source(path="."), instances=(instance,))
        job = BuildJob(candidate, instance, Fetched(folder, "path: .", None), CSRC, tmp_path / "run")
        made = build_with(job, FlagSet.GUIDE)
        assert made.library, made.reason
        built = BuildInstance(
            candidate=candidate_id, label=instance.label, instance=instance.label, variant=instance.variant,
            kat=KatStatus.PASS, flags=made.flags, build_flags=made.build_flags, library=made.library,
            library_sha256=made.library_sha256,
        )  # fmt: skip
        rig = trials.Rig(
            RunFolder(tmp_path / "run"), driver, "0" * 64, min(os.sched_getaffinity(0)), facts.Tools(None, None), QUICK
        )
        return Stand(rig, Work(built, job))

    return make


def winternitz(bench: Bench, digit_bits: int, variant: str = "reference") -> Stand:
    folder = CSRC / "candidates" / "winternitz"
    return bench("sign-winternitz", folder, variant=variant, defines=[f"WINTERNITZ_DIGIT_BITS={digit_bits}"])


def times(done: Profile) -> int:
    assert done.status == "complete", done.reason
    assert done.total
    return done.total.operations


def total_calls(done: Profile) -> dict[str, int]:
    return {fn: round(each * times(done)) for fn, each in derive.calls_per_operation(done).items()}


def shares(done: Profile) -> tuple[float, float]:
    hash_share, drng_share = derive.hash_share(done), derive.drng_share(done)
    assert hash_share is not None
    assert drng_share is not None
    return hash_share, drng_share


def signed(digit_bits: int, signatures: int) -> list[dict[str, dict[str, int]]]:
    """Return the helper calls of each signature that the driver makes, from its seed on, by the model."""
    scheme = Winternitz(digit_bits)
    scheme.seed(SEED)
    sk = scheme.drng.get(512)
    found = []
    for _ in range(signatures):
        salt = scheme.drng.get(256)
        found.append(calls(scheme, scheme.digits(scheme.digest(salt, sk[32:], MESSAGE))))
    return found


def expected(digit_bits: int, operation: str, done: Profile) -> dict[str, int]:
    """Return the calls of all counted operations; one signature of the setup and the warm-ups go before."""
    assert done.meta
    before = 1 + done.meta.warmups if operation == "sign" else 0
    each = signed(digit_bits, before + times(done))[before:] if operation == "sign" else signed(digit_bits, 1)
    repeated = 1 if operation == "sign" else times(done)
    sums = {fn: repeated * sum(one[operation][fn] for one in each) for fn in each[0][operation]}
    return {("drng" if fn == "get_random_number" else fn): count for fn, count in sums.items() if count}


@pytest.mark.parametrize("variant", ["reference", "performance"])
@pytest.mark.parametrize("digit_bits", [2, 4])
def test_calls_of_the_bundled_signature_equal_the_closed_form(bench: Bench, digit_bits: int, variant: str) -> None:
    stand = winternitz(bench, digit_bits, variant)
    for operation in ("keygen", "sign", "verify"):
        done = stand.profile(operation, call_s=0.004)
        assert times(done) == 25
        assert total_calls(done) == expected(digit_bits, operation, done)
        hash_share, drng_share = shares(done)
        assert 0.5 < hash_share < hash_share + drng_share + 1e-12 <= 1 + 1e-12
        assert (drng_share > 0) == (operation != "verify")


def test_calls_of_the_bundled_key_exchange_are_those_of_its_header(bench: Bench) -> None:
    stand = bench("kex-ephemeral", CSRC / "candidates" / "ephemeral", defines=["RING_N=128"])
    for operation, known in EPHEMERAL.items():
        done = stand.profile(operation, call_s=0.002)
        assert derive.calls_per_operation(done) == known
        assert sum(shares(done)) <= 1


def test_a_profile_says_how_it_came_about(bench: Bench) -> None:
    stand = winternitz(bench, 4)
    done = stand.profile("keygen", call_s=0.05)
    assert done.meta
    assert done.meta.tick_source in {"tsc", "cntvct", "clock"}
    assert done.roles == {"pseudohash": "hash", "pseudoXOF": "hash", "drng": "drng"}
    assert done.merged_calls == 0
    assert done.wrapper_cost_ticks is not None
    assert done.wrapper_inside_ticks is not None
    assert 0 < done.wrapper_inside_ticks <= done.wrapper_cost_ticks < 3000
    assert done.library_sha256 == stand.profiled.built.library_sha256 != stand.work.built.library_sha256
    assert done.environment
    assert done.environment.emulated is None
    assert done.command
    assert done.command[:3] == ("driver", "profile", "--library")
    shapes = {(call.fn, call.in_bits, call.out_bits) for call in done.calls or ()}
    assert ("pseudoXOF", 8 * (32 + 3 + 32), 256) in shapes
    assert ("drng", None, 512) in shapes


def test_the_timed_library_has_no_wrapper(bench: Bench) -> None:
    stand = winternitz(bench, 2)
    timed, profiled = stand.work.built.library, stand.profiled.built.library
    assert timed
    assert profiled
    assert b"katalog_profile" not in (stand.rig.folder.path / timed).read_bytes()
    assert b"katalog_profile" in (stand.rig.folder.path / profiled).read_bytes()


def write(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "sig.c").write_text(text)
    return folder


TOY_SIGNATURE = """
#include <string.h>
#include "drng.h"
extern DRNG_ctx drng_algorithm;
unsigned long long sig_get_pk_len_bytes(void) { return 32; }
unsigned long long sig_get_sk_len_bytes(void) { return 32; }
unsigned long long sig_get_sn_len_bytes(void) { return 32; }
int sig_keygen(unsigned char *pk, unsigned long long *pk_len, unsigned char *sk, unsigned long long *sk_len)
{
	get_random_number(&drng_algorithm, sk, 256);
	memcpy(pk, sk, 32);
	*pk_len = *sk_len = 32;
	return 0;
}
int sig_sign(unsigned char *sk, unsigned long long sk_len, unsigned char *m, unsigned long long m_len,
             unsigned char *sn, unsigned long long *sn_len)
{
	*sn_len = 32;
	memcpy(sn, sk, sk_len);
	return sm3hash(256, m, 8 * m_len, sn);
}
int sig_verify(unsigned char *pk, unsigned long long pk_len, unsigned char *sn, unsigned long long sn_len,
               unsigned char *m, unsigned long long m_len)
{
	unsigned char again[32];
	(void)pk, (void)pk_len, (void)sn_len;
	return sm3hash(256, m, 8 * m_len, again) || memcmp(sn, again, 32) ? -1 : 0;
}
"""
OWN_HASH = """
static int sm3hash(int bits, const unsigned char *msg, unsigned long long msg_bits, unsigned char *digest)
{
	for (int i = 0; i < bits / 8; i++)
		digest[i] = (unsigned char)(msg[i] + (unsigned char)msg_bits);
	return 0;
}
"""


def test_calls_that_escape_make_a_profile_not_measurable(bench: Bench, tmp_path: Path) -> None:
    stand = bench("sign-toy", write(tmp_path / "own", OWN_HASH + TOY_SIGNATURE))
    done = stand.profile("sign")
    assert done.status == "not measurable"
    assert done.reason
    assert re.fullmatch(r"calls escape the wrappers: sig_\w+ (calls|has inlined) sm3hash .*", done.reason)
    assert (done.meta, done.total, done.calls) == (None, None, None)
    assert derive.hash_share(done) is None
    assert derive.calls_per_operation(done) == {}


def test_the_same_signature_over_the_linked_helper_is_measured(bench: Bench, tmp_path: Path) -> None:
    stand = bench("sign-toy", write(tmp_path / "ours", '#include "auxfunc.h"\n' + TOY_SIGNATURE))
    assert derive.calls_per_operation(stand.profile("sign")) == {"sm3hash": 1}
    assert derive.calls_per_operation(stand.profile("keygen")) == {"drng": 1}
    assert derive.calls_per_operation(stand.profile("verify")) == {"sm3hash": 1}


def test_a_library_that_crashes_is_a_failed_profile(bench: Bench, tmp_path: Path) -> None:
    text = TOY_SIGNATURE.replace("	*sn_len = 32;\n", "	*sn_len = 32;\n	__builtin_trap();\n")
    done = bench("sign-toy", write(tmp_path / "traps", '#include "auxfunc.h"\n' + text)).profile("sign")
    assert done.status == "failed"
    assert done.reason
    assert done.reason.startswith("crash: ended by SIG")
    assert done.total is None


def test_a_finished_profile_is_kept_until_something_changes(bench: Bench) -> None:
    stand = winternitz(bench, 2)
    task = Task(stand.work, stand.profiled, Operation("sign-winternitz", "toy", "verify"), 0.01)
    told: list[str] = []

    def tell(_: float, text: str) -> None:
        told.append(text)

    file = stand.rig.folder.profile_file(task.operation)
    profile.run_all(stand.rig, [task], tell)
    first = read(file, ProfileState)
    profile.run_all(stand.rig, [task], tell)
    assert read(file, ProfileState) == first
    profile.run_all(stand.rig, [task._replace(call_s=0.001)], tell)
    again = read(file, ProfileState)
    assert first
    assert again
    assert first.timed_sha256 == again.timed_sha256 == stand.work.built.library_sha256
    assert (times(first.profile), times(again.profile)) == (20, 100)
    assert told == ["sign-winternitz/toy verify"] * 3
    assert profile.make_library(stand.rig.folder, stand.work) == stand.profiled


def test_hash_functions_are_not_profiled() -> None:
    built = BuildInstance(candidate="hash-iccs", label="a", instance="a", variant="reference", kat=KatStatus.PASS)
    assert not profile.concerns(built)
    assert profile.concerns(msgspec.structs.replace(built, candidate="kex-a"))


def instruction_share(stand: Stand, operation: str, folder: Path) -> float:
    """Return the inclusive share of the hash helpers in an operation's instructions, by callgrind."""
    library = stand.work.built.library
    assert library
    out = folder / f"callgrind.{operation}"
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--toggle-collect=sig_{operation}"]
    words = ["time", "--library", library, "--family", "sign", "--operation", operation, "--iterations", "3"]
    more = ["--warmups", "0", "--cpu", str(stand.rig.cpu), "--result-fd", "1", "--counter", "clock"]
    argv = [*tool, str(stand.rig.driver), *words, *more]
    subprocess.run(argv, check=True, cwd=stand.rig.folder.path, capture_output=True)
    table = subprocess.run(
        ["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", out],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    counts = {
        match[2]: int(match[1].replace(",", ""))
        for match in re.finditer(r"^ *([\d,]+) .*:(sig_\w+|sm3hash|pseudohash|pseudoXOF) \[", table, re.MULTILINE)
    }
    return sum(counts.get(fn, 0) for fn in ("sm3hash", "pseudohash", "pseudoXOF")) / counts[f"sig_{operation}"]


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="instructions and ticks are compared on x86-64")
@pytest.mark.parametrize("operation", ["keygen", "sign", "verify"])
def test_the_share_of_ticks_is_the_share_of_instructions(bench: Bench, tmp_path: Path, operation: str) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("needs valgrind")
    stand = winternitz(bench, 4)
    # Other work on the machine falls on some runs, so the middle one counts.
    ticks = statistics.median(shares(stand.profile(operation, call_s=0.005))[0] for _ in range(9))
    assert ticks == pytest.approx(instruction_share(stand, operation, tmp_path), abs=POINTS)
