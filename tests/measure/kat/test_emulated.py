"""Known answers of AArch64 libraries, run by an emulator: the same texts, and digests, as natively.

The text is made here, by the product's own generators; a small program of the libraries' architecture does the calls.
"""

import hashlib
import json
import os
import platform
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evidence.catalog import Candidate, Catalog, Instance, NistKat, Source
from measure.build.library import BuildJob, build
from measure.kat import iccs, nist
from measure.kat.scheme import Encapsulated, KeyPair
from measure.source.fetch import Fetched
from tests.csrc.model.helpers import Drng

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parents[1] / "emulated"
ANSWERS = ROOT / "tests" / "data" / "iccs" / "answers.json"
COMPILER = "aarch64-linux-gnu-gcc"
EMULATOR = "qemu-aarch64-static"
SYSROOT = Path("/usr/aarch64-linux-gnu")
REAL = [
    ("kem-kyber", "Kyber512"),
    ("kem-hqc", "HQC-128"),
    ("kem-mceliece", "mceliece348864f"),
    ("sign-dilithium", "Dilithium2"),
    ("sign-falcon", "Falcon-512"),
    ("sign-sphincs", "SPHINCS+-shake-128f-simple"),
]
BUNDLED = ["Winternitz-W16", "Ring-128"]

native = platform.machine() == "aarch64"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not native and not (shutil.which(COMPILER) and shutil.which(EMULATOR)),
        reason=f"needs {COMPILER} (gcc-aarch64-linux-gnu) and {EMULATOR} (qemu-user-static)",
    ),
]

Argument = tuple[bytes, int | bytes]


class Remote:
    """A library behind the program that calls into it."""

    def __init__(self, program: Path, library: Path) -> None:
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        emulator = [] if native else [EMULATOR, "-L", str(SYSROOT)]
        words = [*emulator, str(program), str(library), str(requests), str(answers)]
        self._child = subprocess.Popen(words, pass_fds=(requests, answers))
        os.close(requests)
        os.close(answers)

    def close(self) -> None:
        os.close(self._requests)
        os.close(self._answers)
        assert self._child.wait(60) == 0

    def call(self, name: str, *arguments: Argument) -> tuple[int, list[bytes]]:
        """Call a function; return its value and its outputs."""
        request = struct.pack("64sQ", name.encode(), len(arguments))
        for kind, value in arguments:
            count = len(value) if isinstance(value, bytes) else value
            request += struct.pack("=QQ", kind[0], count) + (value if isinstance(value, bytes) else b"")
        view = memoryview(request)
        while view:
            view = view[os.write(self._requests, view) :]
        (returned,) = struct.unpack("=Q", self._read(8))
        outputs = [self._read(struct.unpack("=Q", self._read(8))[0]) for kind, _ in arguments if kind in (b"o", b"l")]
        return returned, outputs

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            data += os.read(self._answers, count - len(data)) or pytest.fail("the emulated program ended")
        return data

    def done(self, name: str, *arguments: Argument) -> list[bytes]:
        """Call a function that must return 0."""
        returned, outputs = self.call(name, *arguments)
        assert returned & 0xFFFFFFFF == 0, name
        return outputs


def given(value: bytes) -> tuple[Argument, Argument]:
    return (b"i", value), (b"v", len(value))


class RemoteScheme:
    """What the text generators ask for, both of NIST's and of the official format."""

    def __init__(self, remote: Remote, prefix: str) -> None:
        self.remote, self.prefix = remote, prefix
        self.keys = KeyPair(b"", b"")
        self.ct = self.signature = self.message = b""

    def size(self, name: str) -> int:
        return self.remote.call(f"{self.prefix}_get_{name}_len_bytes")[0]

    def seed(self, entropy: bytes) -> None:
        self.remote.call("katalog_seed", *given(entropy))

    def random(self, count: int) -> bytes:
        return self.remote.call("katalog_random", (b"o", count), (b"v", count))[1][0]

    def keygen(self) -> KeyPair:
        pk, sk = self.remote.done(f"{self.prefix}_keygen", (b"l", self.size("pk")), (b"l", self.size("sk")))
        self.keys = KeyPair(pk, sk)
        return self.keys


class RemoteKem(RemoteScheme):
    def enc(self, pk: bytes | None = None) -> Encapsulated:
        out = (b"l", self.size("ss")), (b"l", self.size("ct"))
        ss, self.ct = self.remote.done("kem_enc", *given(pk or self.keys.pk), *out)
        return Encapsulated(self.ct, ss)

    def dec(self, sk: bytes | None = None, ct: bytes | None = None) -> bytes:
        sent = *given(sk or self.keys.sk), *given(ct or self.ct)
        return self.remote.done("kem_dec", *sent, (b"l", self.size("ss")))[0]


class RemoteSign(RemoteScheme):
    def sign(self, message: bytes) -> bytes:
        self.message = message
        sent = *given(self.keys.sk), *given(message)
        (self.signature,) = self.remote.done("sig_sign", *sent, (b"l", self.size("sn")))
        return self.signature

    def verify(self) -> None:
        self.remote.done("sig_verify", *given(self.keys.pk), *given(self.signature), *given(self.message))

    def sign_attached(self, message: bytes, sk: bytes) -> bytes:
        out = (b"l", self.size("sn") + len(message))
        return self.remote.done("katalog_sign_attached", out, *given(message), (b"i", sk))[0]

    def open_attached(self, signed: bytes, pk: bytes) -> bytes:
        return self.remote.done("katalog_open_attached", (b"l", len(signed)), *given(signed), (b"i", pk))[0]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program that calls into libraries, for AArch64."""
    out = tmp_path_factory.mktemp("remote") / "remote"
    compiler = "gcc" if native else COMPILER
    words = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", str(HERE / "remote.c"), "-o", str(out), "-ldl"]
    subprocess.run([compiler, *words], check=True)
    return out


@pytest.fixture
def connected(program: Path) -> Iterator[Callable[[BuildJob], RemoteScheme]]:
    """Build a job's library for AArch64 and connect to it."""
    opened: list[Remote] = []

    def connect(job: BuildJob) -> RemoteScheme:
        job = job._replace(architecture="aarch64", compiler="gcc" if native else COMPILER)
        built = build(job)
        assert built.library, built.reason
        remote = Remote(program, (job.out / built.library).resolve())
        opened.append(remote)
        return RemoteKem(remote, "kem") if job.candidate.id.startswith("kem-") else RemoteSign(remote, "sig")

    yield connect
    for remote in opened:
        remote.close()


@pytest.mark.parametrize(("candidate", "label"), REAL)
def test_published_digest_is_reproduced_on_aarch64(
    candidate: str, label: str, real: Callable[[str, str], BuildJob], connected: Any
) -> None:
    job = real(candidate, label)
    scheme = connected(job)
    lines = nist.kem_lines(scheme) if isinstance(scheme, RemoteKem) else nist.sign_lines(scheme)
    kat = job.instance.kat
    assert isinstance(kat, NistKat)
    assert hashlib.sha256("".join(lines).encode()).hexdigest() == kat.sha256


def bundled(instance: str, out: Path) -> tuple[BuildJob, str, int]:
    """Return the build job, the digest and the records of a bundled candidate's KAT."""
    answers = json.loads(ANSWERS.read_bytes())["instances"]
    answer = next(answer for answer in answers if answer["instance"] == instance)
    kat = answer["kat"][0]
    recipe = {
        "label": instance,
        "dir": answer["include"][0],
        "sources": answer["sources"],
        "include": answer["include"],
        "defines": answer["defines"],
        "kat": {"format": "iccs", **kat},
    }
    source = Source(path="csrc/candidates")
    made = msgspec.convert(recipe, Instance)
    candidate = Candidate(id=answer["candidate"], algorithm=instance, source=source, instances=(made,))
    fetched = Fetched(ROOT / "csrc" / "candidates", "path: csrc/candidates", None)
    return BuildJob(candidate, made, fetched, ROOT / "csrc", out), kat["canonical_sha256"], kat["records"]


@pytest.mark.parametrize("instance", BUNDLED)
def test_official_text_is_the_same_on_aarch64(instance: str, tmp_path: Path, connected: Any, catalog: Catalog) -> None:
    job, digest, records = bundled(instance, tmp_path)
    scheme = connected(job)
    make = iccs.kem_lines if isinstance(scheme, RemoteKem) else iccs.sign_lines
    text = "".join(make(scheme, Drng.seeded, records))
    canonical = "".join(f"{line.rstrip()}\n" for line in text.splitlines() if line.strip())
    assert hashlib.sha256(canonical.encode()).hexdigest() == digest
