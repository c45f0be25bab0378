"""The strength of a parameter set in bits: as the catalog's recipe states it, else as its name tells."""

import re

from evidence.catalog import Candidate
from evidence.operations import Family, family_of

KNOWN = frozenset({80, 96, 112, 128, 160, 192, 256, 384, 512})
RULE = (
    "The strength of a parameter set is the level that the catalog states. Where it states none, it is the number in "
    "the set’s name (Origami-128 has 128 bits), if exactly one of its numbers is 80, 96, 112, 128, 160, 192, 256, 384 "
    "or 512; for a hash function it is half the length of the digest."
)


def level_of(candidate: str, entry: Candidate | None, label: str, digest_bytes: int | None = None) -> int | None:
    """Return the strength in bits; None where neither catalog nor name tells."""
    stated = next((i.level for i in (entry.instances if entry else ()) if i.label == label), None)
    if stated is not None:
        return stated
    if family_of(candidate) is Family.HASH:
        return 4 * digest_bytes if digest_bytes else None
    return _of_label(label)


def _of_label(label: str) -> int | None:
    found = {int(number) for number in re.findall(r"\d+", label)} & KNOWN
    return found.pop() if len(found) == 1 else None
