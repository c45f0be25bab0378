"""Families of submissions and their operations: the one table on the Python side."""

from enum import StrEnum
from typing import NamedTuple

# The messages S1 to S8 of the guide.
HASH_INPUT_BYTES = (32, 128, 512, 1024, 4096, 8192, 16384, 65536)


class Family(StrEnum):
    """Kind of a submission; it is the first part of every candidate id."""

    SIGN = "sign"
    KEM = "kem"
    KEX = "kex"
    HASH = "hash"


class FamilyText(NamedTuple):
    """How the guide's section 3.5 (1) names a family, its operations in table order, and its title above tables."""

    category: str
    function: str
    operations: tuple[str, ...]
    title: str


FAMILIES = {
    Family.SIGN: FamilyText(
        "public-key algorithm", "digital signature", ("keygen", "sign", "verify"), "Digital signatures"
    ),
    Family.KEM: FamilyText("public-key algorithm", "key encapsulation", ("keygen", "enc", "dec"), "Key encapsulation"),
    Family.KEX: FamilyText("public-key algorithm", "key exchange", ("exchange", "init_a", "init_b"), "Key exchange"),
    Family.HASH: FamilyText("cryptographic hash algorithm", "hash", ("hash",), "Hash functions"),
}


def family_of(candidate: str) -> Family:
    """Return the family that a candidate id such as ``kem-kyber`` names."""
    return Family(candidate.partition("-")[0])


def kex_operations(passes: int) -> tuple[str, ...]:
    """Return the operations of a key exchange of so many passes, in table order."""
    return (*FAMILIES[Family.KEX].operations, *(f"pass{k}" for k in range(1, passes + 1)), "derive_a", "derive_b")


def operation_rank(family: Family, operation: str) -> tuple[int, int, str]:
    """Return a sort key that puts operations in the order of the report's table 4.

    Key-exchange steps follow ``exchange, init_a, init_b`` as ``pass1 ...`` and then ``derive_a, derive_b``.
    """
    fixed = FAMILIES[family].operations
    if operation in fixed:
        return (fixed.index(operation), 0, "")
    if operation.startswith("pass") and operation[4:].isdigit():
        return (len(fixed), int(operation[4:]), "")
    return (len(fixed) + 1, 0, operation)
