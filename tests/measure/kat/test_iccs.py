"""The official texts, against twins of the toys in plain Python that share nothing with our C files."""

import hashlib
import json
import shutil
from pathlib import Path

import msgspec
import pytest

from evidence.catalog import Candidate, IccsKat, Instance, Source
from evidence.types import KatStatus
from evidence.verify import ABSOLUTE_PATH
from measure.build.library import BuildJob, build
from measure.confine.process import Limits
from measure.errors import KatError
from measure.kat import iccs_gate
from measure.kat.gate import build_and_check, record, run_kat
from measure.source.fetch import Fetched

REPOSITORY = Path(__file__).resolve().parents[3]
TOYS = Path(__file__).resolve().parents[1] / "iccs"
SHORT = Limits(timeout_s=3, address_space_bytes=1 << 30, file_size_bytes=1 << 20)
SEED_LINES = (
    "Count = 0\nSeed_Len = 64\nSeed = 927F06B594798A4DDFAA4F03F92AAAF04E1D453F6ED1DE19B86D3AADE048A654"
    "83DF4754049B5CD3F586406CF2C64875C51EDB576DF342B5A970F40EABC15D3C\n"
)

if "sm3" not in hashlib.algorithms_available:
    pytest.skip("needs SM3 in this Python's OpenSSL", allow_module_level=True)


def sm3(data: bytes) -> bytes:
    return hashlib.new("sm3", data).digest()


class Drng:
    """Hash_DRBG over SM3, as numbers."""

    def __init__(self, seed: bytes) -> None:
        self.v = self.derive(seed)
        self.c = self.derive(b"\0" + self.v.to_bytes(55, "big"))
        self.count = 1

    @staticmethod
    def derive(data: bytes) -> int:
        two = b"".join(sm3(bytes((number, 0, 0, 1, 0xB8)) + data) for number in (1, 2))
        return int.from_bytes(two[:55], "big")

    def block(self, number: int) -> bytes:
        return sm3(((self.v + number) % 2**440).to_bytes(55, "big"))

    def get(self, bits: int) -> bytes:
        data = bytearray(b"".join(map(self.block, range(-(-bits // 256))))[: -(-bits // 8)])
        if bits % 8:
            data[-1] &= 0xFF00 >> bits % 8 & 0xFF
        step = int.from_bytes(sm3(b"\x03" + self.v.to_bytes(55, "big")), "big")
        self.v = (self.v + step + self.c + self.count) % 2**440
        self.count += 1
        return bytes(data)


def item(name: str, value: bytes) -> str:
    return f"{name}_Len = {len(value)}\n{name} = {value.hex().upper()}\n"


def records(count: int):
    """Yield number, seed lines and the seeded source of each record."""
    seeds = Drng(b"seed" * 16)
    for number in range(count):
        seed = seeds.get(512)
        yield number, f"Count = {number}\n{item('Seed', seed)}", Drng(seed)


def sig_text(count: int = 10) -> str:
    text, messages = "", Drng(b"msg" * 21 + b"m")
    for number, head, source in records(count):
        m = messages.get(8 * (56 + 8 * number))
        sk = source.get(192)
        pk = bytes(x ^ 0x5A for x in sk[:16])
        r = source.get(64)
        sn = r + bytes(r[i % 8] ^ m[i] ^ sk[i] for i in range(8, 8 + len(m) // 8 % 5))
        text += head + item("PK", pk) + item("SK", sk) + item("M", m) + item("Sn", sn) + "\n"
    return text


def kem_text(count: int = 10) -> str:
    text = ""
    for _, head, source in records(count):
        key, ct = source.get(128), source.get(160)
        ss = bytes(x ^ y for x, y in zip(key, ct, strict=False))
        text += head + item("PK", key) + item("SK", key) + item("CT", ct) + item("SS", ss) + "\n"
    return text


def kex_text(passes: int, count: int = 10, called: int | None = None) -> str:
    text = ""
    for _, head, source in records(count):
        text += head + f"Pass_Num = {passes}\n"
        ska = source.get(64)
        state = source.get(32)
        text += item("PKa", bytes(x ^ 0xA5 for x in ska)) + item("SKa", ska) + item("Init_Sta", state)
        skb = source.get(64)
        text += item("PKb", bytes(x ^ 0xA5 for x in skb)) + item("SKb", skb) + item("Init_Stb", b"")
        for number in range(1, (passes if called is None else called) + 1):
            state += bytes((number,)) if number % 2 else b""
            side, shown = ("a", state) if number % 2 else ("b", b"")
            message = source.get(8 * number) if number < passes else b""
            text += item(f"Pass{number}_St{side}", shown) + item(f"M{number}", message)
        text += item("SS", bytes(x ^ y for x, y in zip(ska, skb, strict=True))) + "\n"
    return text


def toy_hash(message: bytes, bits: int) -> bytes:
    value = int.from_bytes(message[:16].ljust(16, b"\0"), "big")
    return ((value + bits + 1) * 0x9E3779B97F4A7C15 % 2**128).to_bytes(16, "big")


def hash_item(message: bytes, bits: int) -> str:
    return f"Dst_Len = 128\nDst = {toy_hash(message, bits).hex().upper()}\n\n"


def short_text() -> str:
    source, text = Drng(b"KAT_2_12" * 8), ""
    for bits in range(4097):
        message = source.get(bits)
        text += f"Msg_Len = {bits}\nMsg = {message.hex().upper()}\n" + hash_item(message, bits)
    return text


def long_text(kind: str, bits: int) -> str:
    """Only the ends of the messages are made: they are all that is printed and hashed here."""
    seed = f"KAT_{kind}".encode() * 8
    source = Drng(seed)
    ends = ((bytes(16), bytes(8)), (b"\xff" * 16, b"\xff" * 8), (source.block(0), source.block(bits // 256 - 1)[-8:]))
    text = ""
    for (first, last), shown in zip(ends, ("", "", seed.hex().upper()), strict=True):
        edges = f"{first[:8].hex().upper()} .... {last.hex().upper()}"
        text += f"Msg_Len = {bits}\nMsg_Seed = {shown}\nMsg_Exp = {edges}\n" + hash_item(first, bits)
    return text


def loop_text() -> str:
    first = message = Drng(b"KAT_Loop" * 8).get(8192)
    digest = toy_hash(message, 8192)
    # The parts of the message turn round; only the one in front changes.
    parts = [message[at : at + 16] for at in range(0, 1024, 16)]
    for turn in range(1, 1_000_001):
        at = turn % 64
        parts[at] = (int.from_bytes(parts[at], "big") ^ int.from_bytes(digest, "big")).to_bytes(16, "big")
        digest = toy_hash(parts[at], 8192)
    return f"Msg_Len = 8192\nMsg = {first.hex().upper()}\nDst_Len = 128\nDst = {digest.hex().upper()}\n\n"


def canonical_sha256(text: str) -> str:
    lines = [line.rstrip(" ") for line in text.split("\n")]
    return hashlib.sha256("".join(f"{line}\n" for line in lines if line).encode()).hexdigest()


FILES = {"sig": "SIG", "kem": "KEM", "kex": "KEX"}
FAMILY = {"sig": "sign", "kem": "kem", "kex": "kex", "hash": "hash"}


@pytest.fixture
def official(tmp_path):
    """Make the build job of an official toy; what the submission lacks comes from our own folder."""

    def make(kind: str, fault: str = "none", *, kat: dict[str, object] | None = None, **changes: object) -> BuildJob:
        root = tmp_path / "Übung 1"
        if not root.exists():
            shutil.copytree(TOYS, root)
        recipe: dict[str, object] = {
            "label": "toy",
            "dir": ".",
            "sources": (f"{kind}.c",),
            "defines": (f"TOY_FAULT={fault}",),
            "kat": {"format": "iccs"} | (kat or {}),
        }
        instance = msgspec.convert(recipe | changes, Instance)
        source = Source(path="Übung 1")
        candidate = Candidate(id=f"{FAMILY[kind]}-toy", algorithm="Toy", source=source, instances=(instance,))
        fetched = Fetched(root, "path: Übung 1", None)
        return BuildJob(candidate, instance, fetched, REPOSITORY / "csrc", tmp_path / "out")

    return make


@pytest.fixture
def text_of(tmp_path):
    """Return the texts that a library makes, by file."""

    def make(job: BuildJob) -> dict[str, str]:
        folder = tmp_path / "texts"
        folder.mkdir(exist_ok=True)
        built = build(job)
        assert built.library, built.reason
        result = run_kat(job, built, texts=folder)
        assert result.status is KatStatus.NOKAT, result.log
        return {file.name: file.read_text() for file in folder.iterdir()}

    return make


def test_twin_draws_what_the_vectors_say():
    schedule = json.loads((REPOSITORY / "tests/data/iccs/vectors.json").read_text())["kat_schedule"]
    seeds, messages = Drng(b"seed" * 16), Drng(b"msg" * 21 + b"m")
    assert [seeds.get(512).hex() for _ in range(10)] == schedule["pkc_seeds_hex"]
    assert [messages.get(8 * (56 + 8 * i)).hex() for i in range(10)] == schedule["sig_messages_hex"]


@pytest.mark.parametrize(("kind", "twin"), [("sig", sig_text), ("kem", kem_text)])
def test_the_whole_text_is_the_twins_byte_by_byte(official, text_of, kind, twin):
    assert twin().startswith(SEED_LINES)
    assert text_of(official(kind)) == {f"KAT_{FILES[kind]}_toy.txt": twin()}


def test_first_record_of_a_signature_is_spelled_out(official, text_of):
    first = text_of(official("sig", kat={"records": 1}))["KAT_SIG_toy.txt"]
    names = [line.partition(" = ")[0] for line in first.split("\n")]
    assert names == ["Count", "Seed_Len", "Seed", "PK_Len", "PK", "SK_Len", "SK", "M_Len", "M", "Sn_Len", "Sn", "", ""]
    assert first.startswith(SEED_LINES + "PK_Len = 16\nPK = ")
    assert "\nM_Len = 56\nM = EE402D1730D0117B9F51BE0672592FCE" in first
    assert "\nSn_Len = 10\nSn = " in first


@pytest.mark.parametrize("count", [1, 12])
def test_records_are_as_many_as_the_recipe_says(official, text_of, count):
    assert text_of(official("sig", kat={"records": count})) == {"KAT_SIG_toy.txt": sig_text(count)}


@pytest.mark.parametrize("passes", [0, 1, 2, 3, 4, 7, 16])
def test_key_exchanges_of_every_number_of_passes_give_the_twins_text(official, text_of, passes):
    job = official("kex", defines=(f"TOY_PASSES={passes}",))
    assert text_of(job) == {"KAT_KEX_toy.txt": kex_text(passes)}


def test_more_passes_than_sixteen_are_refused(official):
    job = official("kex", defines=("TOY_PASSES=17",))
    result = run_kat(job, build(job), SHORT)
    assert (result.status, result.reason) == ("CRYPTOFAIL", "kex_get_passes_num returned 17, more than 16")


def test_a_pass_that_is_claimed_and_missing_is_a_failed_build(official):
    job = official("kex", defines=("TOY_PASSES=2",))
    source = job.fetched.folder / "kex.c"
    source.write_text(source.read_text().replace("NEXT(2, kex_generate_pass2_msg_b)", ""))
    result = run_kat(job, build(job), SHORT)
    assert (result.status, result.reason) == ("BUILDFAIL", "lacks the function kex_generate_pass2_msg_b")


def test_a_last_pass_that_does_not_say_so_is_no_failure_as_with_the_official_program(official):
    job = official("kex", "pass_silent")
    result = run_kat(job, build(job), SHORT)
    assert result.text_sha256 == canonical_sha256(kex_text(2))


def test_hash_files_are_the_twins(official, text_of):
    texts = text_of(official("hash"))
    assert sorted(texts) == ["KAT_2_12_toy.txt", "KAT_2_23_toy.txt", "KAT_Loop_toy.txt"]
    assert texts["KAT_2_12_toy.txt"] == short_text()
    assert texts["KAT_2_23_toy.txt"] == long_text("2_23", 1 << 23)
    assert texts["KAT_Loop_toy.txt"] == loop_text()


@pytest.mark.slow
def test_the_file_of_a_gibibyte_is_made_where_the_catalog_names_it_and_memory_stays_bounded(official):
    name = "KAT_2_33_toy.txt"
    job = official("hash", kat={"file": name, "canonical_sha256": canonical_sha256(long_text("2_33", 1 << 33))})
    one = iccs_gate.wanted_files(job, job.instance.kat)[-1]
    assert one.file == name
    limits = Limits(timeout_s=600, address_space_bytes=3 << 29, file_size_bytes=1 << 20)
    result = run_kat(job, build(job), limits)
    assert f"TEST {name} PASS" in result.log


def kat_of(kind: str, text: str, **more: object) -> dict[str, object]:
    return {"file": f"KAT_{FILES[kind]}_X-é 1.txt", "canonical_sha256": canonical_sha256(text)} | more


def test_the_published_digest_passes_and_the_log_says_of_what(official):
    job = official("sig", kat=kat_of("sig", sig_text()))
    checked = build_and_check(job)
    log = checked.kat.log
    assert checked.kat.status is KatStatus.PASS
    assert log.endswith("\nRESULT sign-toy toy PASS\n")
    assert "\nTEST KAT_SIG_X-é 1.txt PASS\n" in log
    facts = dict(line.split("=", 1) for line in log.splitlines() if "=" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    assert (facts["mode"], facts["records"], facts["signature_bytes"]) == ("strict", "10", "16")
    assert facts["canonical_sha256"] == facts["expected_sha256"] == canonical_sha256(sig_text())
    assert facts["raw_sha256"] == hashlib.sha256(sig_text().encode()).hexdigest()
    assert int(facts["text_bytes"]) == len(sig_text())
    assert facts["library_sha256"] == checked.built.library_sha256
    assert not ABSOLUTE_PATH.search(log.encode())
    told = record(job, checked, "kat/sign-toy/toy.log")
    assert (told.kat, told.kat_format, told.kat_sha256) == ("PASS", "iccs", canonical_sha256(sig_text()))


def test_a_cut_mode_makes_and_compares_that_many_records(official):
    job = official("sig", kat=kat_of("sig", sig_text(3), mode="strict:3"))
    assert build_and_check(job).kat.status is KatStatus.PASS


def without_lengths(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.split(" =")[0].endswith("_Len"))


def test_the_mode_without_lengths_passes_where_only_lengths_are_missing(official):
    job = official("kem", kat=kat_of("kem", without_lengths(kem_text()), mode="nolen"))
    assert build_and_check(job).kat.status is KatStatus.PASS


def test_a_blank_template_of_a_key_exchange_has_no_number_of_passes(official):
    blank = without_lengths(kex_text(2)).replace("Pass_Num = 2", "Pass_Num = ")
    result = build_and_check(official("kex", kat=kat_of("kex", blank, mode="nolen"))).kat
    assert result.status is KatStatus.PASS
    assert "Pass_Num is compared empty" in result.log
    assert build_and_check(official("kex", kat=kat_of("kex", without_lengths(kex_text(2)), mode="nolen"))).kat.status


def test_another_digest_is_a_mismatch(official):
    job = official("kem", kat=kat_of("kem", kem_text()) | {"canonical_sha256": "0" * 64})
    result = build_and_check(job).kat
    assert result.status is KatStatus.MISMATCH
    assert result.log.splitlines()[-1] == (
        "RESULT kem-toy toy MISMATCH the canonical text has another digest than the published one"
    )


def test_a_submitted_file_is_compared_as_canonical_text_and_its_digest_counts(official):
    job = official("kem", kat={"file": "KAT_KEM_x.txt", "submitted": "Test Vectors/KAT_KEM_x.txt"})
    file = job.fetched.folder / "Test Vectors/KAT_KEM_x.txt"
    file.parent.mkdir()
    file.write_bytes(kem_text().replace("\n\n", "\n").replace("\n", " \t\r\n").encode())
    assert build_and_check(job).kat.status is KatStatus.PASS
    wrong = kem_text().replace("\nSS = ", "\nSS = 00", 1)
    file.write_text(wrong)
    result = build_and_check(job).kat
    assert result.status is KatStatus.MISMATCH
    assert "difference       = line 11, column 6: expected 'SS = 00" in result.log


def test_a_submitted_file_that_is_not_there_or_elsewhere_is_a_fault_of_the_recipe(official, tmp_path):
    job = official("kem", kat={"file": "KAT_KEM_x.txt", "submitted": "link.txt"})
    built = build(job)
    with pytest.raises(KatError, match=r"kat: submitted: link\.txt: no such file"):
        run_kat(job, built)
    (tmp_path / "outside.txt").write_text("x")
    (job.fetched.folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    with pytest.raises(KatError, match=r"kat: submitted: link\.txt: no such file"):
        run_kat(job, built)


def test_some_known_files_of_a_hash_are_a_part(official):
    short = {"file": "KAT_2_12_H.txt", "canonical_sha256": canonical_sha256(short_text())}
    result = build_and_check(official("hash", kat={"files": [short]})).kat
    assert (result.status, result.reason) == ("PARTIAL", "no digest of KAT_2_23_toy.txt, KAT_Loop_toy.txt")
    assert result.text_sha256 is None
    bad = {"file": "KAT_2_23_H.txt", "canonical_sha256": "0" * 64}
    result = build_and_check(official("hash", kat={"files": [short, bad]})).kat
    assert result.status is KatStatus.MISMATCH
    assert result.reason.startswith("KAT_2_23_H.txt: ")
    assert "\nTEST KAT_2_12_H.txt PASS\n" in result.log


@pytest.mark.parametrize(
    ("kind", "fault", "status", "reason"),
    [
        ("sig", "exits", "CRASH", "the library ended its process: exit status 7"),
        ("sig", "loops", "TIMEOUT", "killed after 3 s"),
        ("sig", "crashes", "CRASH", "ended by SIGSEGV"),
        ("sig", "past", "OVERFLOW", "sig_sign wrote past sn (16 bytes), byte 1 off it (in record 0)"),
        ("sig", "too_long", "OVERFLOW", "sig_sign returned length 17 for sn (16 bytes) (in record 0)"),
        ("sig", "fails", "CRYPTOFAIL", "sig_keygen returned -3 (in record 0)"),
        ("sig", "rejects", "CRYPTOFAIL", "sig_verify returned 1 (in record 0)"),
        ("kem", "other_secret", "CRYPTOFAIL", "kem_enc and kem_dec return different secrets (in record 0)"),
        (
            "kem",
            "short_secret",
            "CRYPTOFAIL",
            "kem_enc returns a secret of 16 bytes, kem_dec one of 15 (in record 0)",
        ),
        ("kex", "past", "OVERFLOW", "kex_generate_pass1_msg_a wrote past m1 (136 bytes), byte 1 off it (in record 0)"),
        (
            "kex",
            "pass_two",
            "CRYPTOFAIL",
            "kex_generate_pass1_msg_a returned 2, neither 0 (not finished) nor 1 (the last message) (in record 0)",
        ),
        (
            "kex",
            "pass_early",
            "CRYPTOFAIL",
            "pass 1 says to be the last, but kex_get_passes_num returns 2 (in record 0)",
        ),
        ("kex", "init_one", "CRYPTOFAIL", "kex_init_a returned 1 (in record 0)"),
        (
            "kex",
            "other_secret",
            "CRYPTOFAIL",
            "kex_derive_ss_a and kex_derive_ss_b return different secrets (in record 0)",
        ),
        ("hash", "exits", "CRASH", "KAT_2_12_toy.txt: the library ended its process: exit status 7"),
        (
            "hash",
            "past",
            "OVERFLOW",
            "KAT_2_12_toy.txt: CryptHash wrote past digest (16 bytes), byte 1 off it (in record 0)",
        ),
        (
            "hash",
            "fails",
            "CRYPTOFAIL",
            "KAT_2_12_toy.txt: CryptHash returned 1 for a message of 77 bits (in record 77)",
        ),
    ],
)
def test_each_wrong_submission_has_its_status_its_log_and_harms_nobody_else(official, kind, fault, status, reason):
    bad, good = official(kind, fault, label="bad"), official(kind, label="good")
    result = run_kat(bad, build(bad), SHORT)
    assert (result.status, result.reason.replace("_bad.", "_toy.")) == (status, reason)
    assert result.log.splitlines()[-1] == f"RESULT {bad.candidate.id} bad {status} {result.reason}"
    assert run_kat(good, build(good), SHORT._replace(timeout_s=60)).status is KatStatus.NOKAT


def test_megabytes_of_output_neither_block_nor_pass_for_a_result(official):
    job = official("sig", "chatters", kat=kat_of("sig", sig_text()))
    result = run_kat(job, build(job))
    assert result.status is KatStatus.PASS
    assert len(result.log) < 8000
    assert [line for line in result.log.splitlines() if line.startswith("RESULT")] == ["RESULT sign-toy toy PASS"]


def test_two_instances_with_the_same_names_do_not_meet(official):
    texts = [
        run_kat(job, build(job)).text_sha256
        for job in (official("kex", label=f"k{passes}", defines=(f"TOY_PASSES={passes}",)) for passes in (1, 2))
    ]
    assert texts == [canonical_sha256(kex_text(1)), canonical_sha256(kex_text(2))]


def test_a_library_is_bound_to_names_of_its_own_before_those_of_the_process(official):
    job = official("sig", kat=kat_of("sig", sig_text()))
    source = job.fetched.folder / "sig.c"
    own = "long getrandom(void *, unsigned long, unsigned);\nint abs(int);\n"
    source.write_text(
        source.read_text().replace("enum { PK", own + "enum { PK").replace("draw(sk, SK)", "getrandom(sk, SK, 0)")
    )
    (job.fetched.folder / "rng.c").write_text(
        '#include "toy.h"\n'
        "long getrandom(void *out, unsigned long n, unsigned f);\n"
        "long getrandom(void *out, unsigned long n, unsigned f) { (void)f; draw(out, n); return (long)n; }\n"
    )
    job = job._replace(instance=msgspec.structs.replace(job.instance, sources=("sig.c", "rng.c")))
    assert run_kat(job, build(job)).status is KatStatus.PASS


def test_a_submissions_own_random_source_and_variable_win(official):
    """A drng.c that always answers with zeros, and drng_algorithm defined by the submission itself."""
    job = official("kem", sources=("kem.c", "drng.c"))
    (job.fetched.folder / "drng.h").write_text((REPOSITORY / "csrc/iccs/drng.h").read_text())
    (job.fetched.folder / "drng.c").write_text(
        '#include "drng.h"\n#include <string.h>\nDRNG_ctx drng_algorithm;\n'
        "int init_random_number(DRNG_ctx *d, const unsigned char *s, unsigned long long n)\n"
        "{ (void)s, (void)n; memset(d, 0, sizeof *d); return 0; }\n"
        "int get_random_number(DRNG_ctx *d, unsigned char *o, unsigned long long n)\n"
        "{ memset(o, d->V[0], n / 8); return 0; }\n"
    )
    built = build(job)
    assert "csrc/iccs/drng.c" not in (job.out / built.log).read_text()
    result = run_kat(job, built, texts=job.out)
    text = (job.out / "KAT_KEM_toy.txt").read_text()
    assert text.startswith(SEED_LINES), "seeds come from the harness's own source"
    assert f"\nPK = {'00' * 16}\n" in text
    assert result.status is KatStatus.NOKAT


def test_a_comparer_that_passes_everything_is_found_out(official, monkeypatch):
    job = official("kem", kat=kat_of("kem", kem_text(), canonical_sha256="1" * 64))
    monkeypatch.setattr(iccs_gate, "digest", lambda lines: "1" * 64)
    with pytest.raises(KatError, match="does not notice a flipped bit"):
        run_kat(job, build(job))


def test_texts_are_written_under_the_name_that_the_catalog_gives(official):
    files = iccs_gate.wanted_files(official("hash"), IccsKat())
    assert [file.file for file in files] == ["KAT_2_12_toy.txt", "KAT_2_23_toy.txt", "KAT_Loop_toy.txt"]
