"""Published digests are reproduced from the pinned sources, and one changed bit in them is noticed."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from measure.build.library import BuildJob, build
from measure.kat.gate import build_and_check, record, run_kat

QUICK = [("kem-kyber", "Kyber512"), ("sign-dilithium", "Dilithium2"), ("kem-hqc", "HQC-128")]
FAMILIES = {
    "kem-kyber": 3,
    "kem-hqc": 3,
    "kem-mceliece": 10,
    "sign-dilithium": 3,
    "sign-falcon": 2,
    "sign-sphincs": 12,
}


def test_catalog_has_the_33_instances_smallest_first(catalog):
    counts = {name: len(catalog.candidates[name].instances) for name in FAMILIES}
    assert counts == FAMILIES
    digests = {instance.kat.sha256 for name in FAMILIES for instance in catalog.candidates[name].instances}
    assert len(digests) == sum(FAMILIES.values()) == 33
    for name in FAMILIES:
        levels = [instance.level for instance in catalog.candidates[name].instances]
        assert levels == sorted(levels)
        assert set(levels) <= {128, 192, 256}


@pytest.mark.parametrize(("candidate_id", "label"), QUICK)
def test_published_digest_is_reproduced_with_the_guides_flags(real, candidate_id, label):
    job = real(candidate_id, label)
    checked = build_and_check(job)
    told = record(job, checked, f"kat/{candidate_id}/{label}.log")
    assert (told.kat, told.flags, told.reason) == ("PASS", "guide", None)
    assert told.kat_sha256 == job.instance.kat.sha256
    assert told.source == "pypi: pypqc==0.0.6.2"


@pytest.mark.slow
def test_all_33_published_digests_are_reproduced_with_the_guides_flags(catalog, real):
    jobs = [real(name, instance.label) for name in FAMILIES for instance in catalog.candidates[name].instances]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(build_and_check, jobs))
    told = {job.instance.label: record(job, checked) for job, checked in zip(jobs, results, strict=True)}
    assert {label: (one.kat, one.flags, one.kat_sha256) for label, one in told.items()} == {
        job.instance.label: ("PASS", "guide", job.instance.kat.sha256) for job in jobs
    }


def test_one_flipped_bit_in_a_constant_of_the_sources_is_a_mismatch(real, tmp_path):
    job: BuildJob = real("kem-kyber", "Kyber512")
    copy = tmp_path / "copy"
    shutil.copytree(job.fetched.folder, copy)
    keccak = copy / "Modules/PQClean/common/fips202.c"
    text = keccak.read_text()
    assert text.count("0x8000000080008008ULL") == 1
    keccak.write_text(text.replace("0x8000000080008008ULL", "0x8000000080008009ULL"))
    changed = job._replace(fetched=job.fetched._replace(folder=copy))
    assert run_kat(changed, build(changed)).status == "MISMATCH"
