"""Strengths: the catalog's word first, then the one number in the name that can be one."""

import pytest

from evidence.catalog import Candidate, Instance
from render.facts.strength import level_of


@pytest.mark.parametrize(
    ("label", "level"),
    [
        ("Origami-128", 128),
        ("Tins512", 512),
        ("sydo_160f", 160),
        ("MEGASCON-384-XOF-256", None),
        ("CS-128-128", 128),
        ("yuanyang-2048", None),
        ("Name", None),
        ("A1283", None),
    ],
)
def test_the_number_in_a_name(label: str, level: int | None) -> None:
    assert level_of("sign-99", None, label) == level


def test_the_catalog_goes_first() -> None:
    entry = Candidate(id="kem-kyber", algorithm="Kyber", instances=(Instance(label="Kyber512", level=128, dir="a"),))
    assert level_of("kem-kyber", entry, "Kyber512") == 128
    assert level_of("kem-kyber", entry, "Kyber256") == 256


def test_a_hash_function_has_half_its_digest() -> None:
    assert level_of("hash-01", None, "Any-512", digest_bytes=32) == 128
    assert level_of("hash-01", None, "Any-512") is None
