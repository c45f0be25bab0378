"""Whatever a library does, its test ends with the right status, a log, and the next one still runs."""

import hashlib
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.types import BuildInstance, FlagSet, KatStatus
from evidence.verify import ABSOLUTE_PATH
from measure.build.library import build
from measure.confine.process import Limits
from measure.errors import KatError
from measure.kat import gate
from measure.kat.gate import build_and_check, compare, prove_comparer, record, run_kat

SHORT = Limits(timeout_s=2, address_space_bytes=1 << 30, file_size_bytes=1 << 20)


@pytest.fixture
def right(toy):
    """The digest of the text of the faultless toy; test_kat_nist compares that text with a model."""
    job = toy()
    return run_kat(job, build(job)).text_sha256


def test_the_right_text_passes_and_the_log_says_of_what(toy, right):
    job = toy(sha256=right)
    built = build(job)
    result = run_kat(job, built)
    assert (result.status, result.text_sha256, result.reason) == (KatStatus.PASS, right, None)
    facts = dict(line.split("=", 1) for line in result.log.splitlines() if "=" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    assert facts["library"] == "kem-toy/lib/libtoy.so"
    assert facts["library_sha256"] == built.library_sha256
    assert facts["build_flags"] == built.build_flags
    assert facts["source"] == "path: toy sources"
    assert (facts["pk_bytes"], facts["ss_bytes"]) == ("16", "16")
    assert facts["expected_sha256"] == facts["text_sha256"] == hashlib.sha256(result.text.encode()).hexdigest()
    assert result.log.endswith("\nRESULT kem-toy toy PASS\n")


@pytest.mark.parametrize(
    ("fault", "status", "reason"),
    [
        ("abort_itself", "CRASH", "ended by SIGABRT"),
        ("segfault", "CRASH", "ended by SIGSEGV"),
        ("hang", "TIMEOUT", "killed after 2 s"),
        ("exit_0", "CRASH", "the library ended its process: exit status 0"),
        ("exit_3", "CRASH", "the library ended its process: exit status 3"),
        ("closes", "CRASH", "the library ended its process: exit status 1"),
        ("past", "OVERFLOW", "kem_enc wrote past ct (16 bytes), byte 1 off it"),
        ("before", "OVERFLOW", "kem_enc wrote before ct (16 bytes), byte 1 off it"),
        ("too_long", "OVERFLOW", "kem_enc returned length 17 for ct (16 bytes)"),
        ("returns_error", "CRYPTOFAIL", "kem_enc returned -7"),
        ("other_secret", "CRYPTOFAIL", "decapsulation returns another secret than encapsulation"),
    ],
)
def test_each_fault_has_its_status_its_log_and_harms_nobody_else(toy, right, fault, status, reason):
    bad, good = toy(fault, sha256=right, label="bad"), toy(sha256=right, label="good")
    built = build(bad)
    result = run_kat(bad, built, SHORT)
    assert (result.status, result.reason) == (status, reason)
    assert result.log.splitlines()[-1] == f"RESULT kem-toy bad {status} {reason}"
    assert result.text_sha256 is None
    assert built.library_sha256 in result.log
    assert run_kat(good, build(good)).status is KatStatus.PASS


def test_megabytes_of_output_are_cut_and_no_printed_line_passes_for_ours(toy, right):
    job = toy("chatter", sha256=right[:-1] + "0")
    result = run_kat(job, build(job))
    assert result.status is KatStatus.MISMATCH
    assert len(result.log) < 8000
    assert "stdout| [cut here]" in result.log
    assert [line for line in result.log.splitlines() if line.startswith("RESULT")] == [
        "RESULT kem-toy toy MISMATCH the text has another digest than the published one"
    ]


def test_output_is_kept_without_paths_and_controls(toy, right):
    job = toy("lies", sha256=right)
    result = run_kat(job, build(job))
    assert result.status is KatStatus.PASS
    assert "stderr| see [...]/file.c:7 \\x1b[31m" in result.log


def test_a_library_reaches_no_network_and_the_log_says_what_confined_it(toy):
    with socket.create_server(("127.0.0.1", 0)) as server:
        job = toy("dials", defines=("TOY_FAULT=dials", f"TOY_PORT={server.getsockname()[1]}"))
        log = run_kat(job, build(job)).log
    sandbox = next(line.split()[-1] for line in log.splitlines() if line.startswith("sandbox "))
    if sandbox == "none":
        pytest.skip("this system has neither bubblewrap nor Landlock")
    assert "stdout| nobody answers" in log


@pytest.mark.parametrize("fault", ["none", "past", "lies"])
def test_no_log_holds_an_absolute_path(toy, fault):
    job = toy(fault)
    assert not ABSOLUTE_PATH.search(run_kat(job, build(job)).log.encode())


def test_a_library_without_the_interface_is_a_failed_build(toy):
    job = toy(sources=("where.c",))
    result = run_kat(job, build(job))
    assert (result.status, result.reason) == ("BUILDFAIL", "lacks the function kem_get_pk_len_bytes")


def test_memory_beyond_the_limit_is_the_librarys_failure(toy):
    job = toy(folder="hungry")
    source = job.fetched.folder / "kem.c"
    source.write_text(
        source.read_text().replace(
            "katalog_random(pk, BYTES);",
            "char *more = malloc(3ULL << 30); if (!more) return -2; more[0] = 1; katalog_random(pk, BYTES);",
        )
    )
    result = run_kat(job, build(job), SHORT)
    assert (result.status, result.reason) == ("CRYPTOFAIL", "kem_keygen returned -2")


def test_a_worker_that_does_not_start_is_our_failure_and_not_the_candidates(toy, monkeypatch):
    job = toy()
    built = build(job)
    monkeypatch.setattr("measure.kat.run.sys.executable", "/bin/false")
    with pytest.raises(KatError, match="worker does not start: exit status 1"):
        run_kat(job, built)


def test_a_failed_build_has_nothing_to_test(toy):
    job = toy(folder="broken")
    (job.fetched.folder / "bad.c").write_text("#error no\n")
    checked = build_and_check(job)
    assert checked.kat is None
    told = record(job, checked)
    assert (told.kat, told.library, told.kat_log) == (KatStatus.BUILDFAIL, None, None)
    assert told.reason == "bad.c: bad.c:1:2: error: #error no"
    with pytest.raises(KatError, match="no library"):
        run_kat(job, checked.built)


def strict_only(job) -> None:
    """Make the toy wrong where the language is strictly C99, as the guide's flags make it."""
    source = job.fetched.folder / "kem.c"
    wrong = "#ifdef __STRICT_ANSI__\n\tpk[0] ^= 1;\n#endif\n\tmemcpy(sk"
    source.write_text(source.read_text().replace("memcpy(sk", wrong))


def test_flags_that_fail_the_test_give_way_to_the_tolerant_ones_and_the_record_says_why(toy, right):
    job = toy(sha256=right, folder="strict")
    strict_only(job)
    checked = build_and_check(job)
    assert checked.kat.status is KatStatus.PASS
    told = record(job, checked, "kat/kem-toy/toy.log")
    assert told.flags is FlagSet.HARNESS_DEFAULT
    assert told.reason == (
        "the guide's flags do not pass the known-answer test: MISMATCH "
        "the text has another digest than the published one"
    )
    assert told.kat_log_sha256 == hashlib.sha256(checked.kat.log.encode()).hexdigest()


def test_where_no_flags_pass_the_guides_library_and_result_stand(toy):
    job = toy()
    checked = build_and_check(job)
    assert checked.built.flags is FlagSet.GUIDE
    assert checked.built.library_sha256 == gate.build(job).library_sha256
    told = record(job, checked, "kat/kem-toy/toy.log")
    assert isinstance(told, BuildInstance)
    assert (told.kat, told.flags, told.instance, told.variant) == ("MISMATCH", "guide", "toy", "reference")
    assert told.kat_sha256 == checked.kat.text_sha256
    assert told.source == "path: toy sources"


@given(text=st.text(min_size=1, alphabet=st.characters(max_codepoint=0x7F)), data=st.data())
def test_any_flipped_bit_is_a_mismatch(text, data):
    expected = hashlib.sha256(text.encode()).hexdigest()
    at = data.draw(st.integers(0, len(text) - 1))
    bit = data.draw(st.integers(0, 6))
    flipped = text[:at] + chr(ord(text[at]) ^ 1 << bit) + text[at + 1 :]
    assert compare(text, expected) is KatStatus.PASS
    assert compare(flipped, expected) is KatStatus.MISMATCH
    prove_comparer(text, expected)


def test_a_comparer_that_passes_everything_is_found_out(toy, right, monkeypatch):
    monkeypatch.setattr(gate, "compare", lambda text, expected: KatStatus.PASS)
    job = toy(sha256=right)
    with pytest.raises(KatError, match="does not notice a flipped bit"):
        run_kat(job, build(job))
