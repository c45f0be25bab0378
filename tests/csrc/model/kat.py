"""The text files of the ICCS known-answer programs, written from a scheme that may be C or Python.

A scheme has ``seed(bytes)``, the functions of its family on bytes, and ``random(seed)``, which gives a source whose
``get(bits)`` draws; so not even seeds and messages come from the other side.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

from tests.csrc.model.helpers import Bits, whole

RECORDS = 10
SEED_BITS = 512
LOOPS = 1_000_000


def value(name: str, data: bytes) -> list[str]:
    return [f"{name}_Len = {len(data)}", f"{name} = {data.hex().upper()}"]


def record(*lines: str) -> str:
    return "".join(f"{line}\n" for line in (*lines, ""))


def canonical(text: str) -> str:
    """Return what a digest covers: no trailing blanks, no empty lines."""
    lines = (line.rstrip("\r \t") for line in text.split("\n"))
    return "".join(f"{line}\n" for line in lines if line)


def canonical_sha256(text: str) -> str:
    return hashlib.sha256(canonical(text).encode("ascii")).hexdigest()


def seeded(scheme: Any, count: int) -> Iterator[tuple[int, bytes]]:
    """Yield number and seed of each record, with the scheme seeded."""
    seeds = scheme.random(b"seed" * 16)
    for number in range(count):
        seed = seeds.get(SEED_BITS)
        scheme.seed(seed)
        yield number, seed


def sig_text(scheme: Any, count: int = RECORDS) -> str:
    messages = scheme.random(b"msg" * 21 + b"m")
    records = []
    for number, seed in seeded(scheme, count):
        m = messages.get(8 * (56 + 8 * number))
        pk, sk = scheme.keygen()
        items = (("Seed", seed), ("PK", pk), ("SK", sk), ("M", m), ("Sn", scheme.sign(sk, m)))
        records.append(record(f"Count = {number}", *(line for item in items for line in value(*item))))
    return "".join(records)


def kem_text(scheme: Any, count: int = RECORDS) -> str:
    records = []
    for number, seed in seeded(scheme, count):
        pk, sk = scheme.keygen()
        ss, ct = scheme.enc(pk)
        assert scheme.dec(sk, ct) == ss
        items = (("Seed", seed), ("PK", pk), ("SK", sk), ("CT", ct), ("SS", ss))
        records.append(record(f"Count = {number}", *(line for item in items for line in value(*item))))
    return "".join(records)


def exchange(scheme: Any) -> Iterator[list[str]]:
    """Run one key exchange; yield the lines of each step."""
    keys, states, messages = {}, {}, {"a": b"", "b": b""}
    for side in "ab":
        pk, sk, states[side] = scheme.init(side)
        keys[side] = (pk, sk)
        yield value(f"PK{side}", pk) + value(f"SK{side}", sk) + value(f"Init_St{side}", states[side])
    for number in range(1, scheme.passes + 1):
        side, other = "ba" if number % 2 == 0 else "ab"
        own = (keys[side][1], keys[other][0])
        code, states[side], messages[side] = scheme.generate(number, own, messages[other], states[side])
        assert code == (number == scheme.passes)
        yield value(f"Pass{number}_St{side}", states[side]) + value(f"M{number}", messages[side])
    ssa = scheme.derive("a", (keys["a"][1], keys["b"][0]), messages["b"], states["a"])
    ssb = scheme.derive("b", (keys["b"][1], keys["a"][0]), messages["a"], states["b"])
    assert ssa == ssb
    yield value("SS", ssa)


def kex_text(scheme: Any, count: int = RECORDS) -> str:
    records = []
    for number, seed in seeded(scheme, count):
        head = [f"Count = {number}", *value("Seed", seed), f"Pass_Num = {scheme.passes}"]
        records.append(record(*head, *(line for step in exchange(scheme) for line in step)))
    return "".join(records)


def in_bits(name: str, data: bytes, bits: int) -> list[str]:
    return [f"{name}_Len = {bits}", f"{name} = {data.hex().upper()}"]


def hash_2_12_text(scheme: Any, count: int = 4097) -> str:
    source = scheme.random(b"KAT_2_12" * 8)
    messages = [Bits(source.get(bits), bits) for bits in range(count)]
    digests = scheme.hash(messages)
    return "".join(
        record(*in_bits("Msg", *message), *in_bits("Dst", digest, scheme.digest_bits))
        for message, digest in zip(messages, digests, strict=True)
    )


def hash_2_23_text(scheme: Any, bits: int = 1 << 23) -> str:
    seed = b"KAT_2_23" * 8
    cases = ((b"", bytes(bits // 8)), (b"", b"\xff" * (bits // 8)), (seed, scheme.random(seed).get(bits)))
    records = []
    for msg_seed, message in cases:
        edges = f"{message[:8].hex().upper()} .... {message[-8:].hex().upper()}"
        head = [f"Msg_Len = {bits}", f"Msg_Seed = {msg_seed.hex().upper()}", f"Msg_Exp = {edges}"]
        records.append(record(*head, *in_bits("Dst", scheme.hash([whole(message)])[0], scheme.digest_bits)))
    return "".join(records)


def hash_loop_text(scheme: Any, loops: int = LOOPS) -> str:
    first = message = scheme.random(b"KAT_Loop" * 8).get(8192)
    digest = scheme.hash([whole(message)])[0]
    size = len(digest)
    for _ in range(loops):
        mixed = int.from_bytes(message[size : 2 * size], "big") ^ int.from_bytes(digest, "big")
        message = mixed.to_bytes(size, "big") + message[2 * size :] + message[:size]
        digest = scheme.hash([whole(message)])[0]
    return record(*in_bits("Msg", first, 8192), *in_bits("Dst", digest, scheme.digest_bits))


TEXTS = {
    "sign": {"KAT_SIG": sig_text},
    "kem": {"KAT_KEM": kem_text},
    "kex": {"KAT_KEX": kex_text},
    "hash": {"KAT_2_12": hash_2_12_text, "KAT_2_23": hash_2_23_text, "KAT_Loop": hash_loop_text},
}
