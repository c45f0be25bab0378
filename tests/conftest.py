"""Evidence made to measure: small systems in schema 3, with every field open to change."""

import hashlib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evidence import store
from evidence.types import (
    ArchConfig,
    Build,
    BuildInstance,
    Campaign,
    Counter,
    CounterUnit,
    Environment,
    FlagSet,
    KatStatus,
    Plan,
    Planning,
    Process,
    Profile,
    ProfileCall,
    ProfileMeta,
    ProfileTotal,
    Quantiles,
    Record,
    Sizes,
    Trial,
)

ROOT = Path(__file__).resolve().parents[1]
START = "2026-11-30T10:00:00.123456+00:00"
TSC = Counter(unit=CounterUnit.TICKS, name="tsc", hz=2_600_000_000, overhead=30)
MACHINE = Environment(
    architecture="x86_64",
    cpu_model="Test CPU",
    cpu_number=1,
    virtualized=True,
    hypervisor="kvm",
    memory_total_kib=2048,
    os="Linux",
    kernel="6.1",
    compiler="gcc 13",
    cmake="cmake version 3.25.1",
)
KEM_SIZES = Sizes(pk_bytes=800, sk_bytes=1632, ct_bytes=768, ss_bytes=32)
QUANTILES = Quantiles(
    samples=90, batch_calls=1,
    min=90.0, p01=91.0, p05=92.0, p25=95.0, p50=100.0, p75=110.0, p95=150.0, p99=190.0, max=500.0,
)  # fmt: skip
PLAN = Plan(
    iterations_per_trial=10, warmups=3, trials=5, separate_processes=True, estimated_s=1.0, timeout_per_process_s=9.0
)


class SystemBuilder:
    """Builds one system: a quick campaign on a virtual machine that counts TSC ticks."""

    def __init__(self, data: Path, system_id: str = "local", **campaign: Any) -> None:
        self.folder = data / system_id
        self.campaign = msgspec.structs.replace(
            Campaign(
                schema=3,
                system_id=system_id,
                started_utc=START,
                ended_utc=START,
                environment_at_start=MACHINE,
                environment_at_end=MACHINE,
                arch_config=ArchConfig(reference="-O2", performance="-O3"),
                harness_additions="-fPIC",
                planning=Planning(
                    trials=5,
                    trial_target_s=0.1,
                    min_total=100,
                    max_iters_per_trial=20000,
                    op_budget_s=10.0,
                    name="quick",
                ),
                host_problems=("clock not steady",),
                katalog_version="0.1.0",
            ),
            **campaign,
        )
        self.built: dict[str, BuildInstance] = {}
        self.records: list[Record] = []
        self.profiles: list[Profile] = []

    def instance(self, candidate: str, label: str, **changes: Any) -> "SystemBuilder":
        """Add a build with its KAT log."""
        log, text = store.kat_log_path(candidate, label), f"RESULT {candidate} {label} PASS\n"
        store.write_atomically(self.folder / log, text.encode())
        built = BuildInstance(
            candidate=candidate,
            label=label,
            instance=label,
            variant="reference",
            kat=KatStatus.PASS,
            flags=FlagSet.GUIDE,
            library=f"{candidate}/lib/lib{label}.so",
            library_sha256="0" * 64,
            kat_log=log,
            kat_log_sha256=hashlib.sha256(text.encode()).hexdigest(),
            elf_load_bytes=12345,
        )
        self.built[f"{candidate}/{label}"] = msgspec.structs.replace(built, **changes)
        return self

    def record(self, candidate: str, label: str, operation: str, **changes: Any) -> "SystemBuilder":
        """Add a record of five trials of ten calls: 100 µs and 260 000 ticks each."""
        built = self.built[f"{candidate}/{label}"]
        record = Record(
            schema=3,
            status="complete",
            candidate=candidate,
            label=label,
            instance=label,
            variant=built.variant,
            flags=FlagSet.GUIDE,
            operation=operation,
            plan=PLAN,
            kat=built.kat,
            library=built.library or "none",
            library_sha256="0" * 64,
            kat_log=store.kat_log_path(candidate, label),
            kat_log_sha256=built.kat_log_sha256 or "0" * 64,
            started_utc=START,
            ended_utc=START,
            environment=MACHINE,
            processes=tuple(self.process() for _ in range(5)),
            sizes=KEM_SIZES,
            build_flags="-O2",
            timing_scope="loop",
        )  # fmt: skip
        self.records.append(msgspec.structs.replace(record, **changes))
        return self

    @staticmethod
    def process(*trials: Trial, **changes: Any) -> Process:
        """Return one complete driver process; without trials it has one."""
        trial = Trial(measurements=10, seconds=0.001, ticks=2_600_000, quantiles=QUANTILES)
        process = Process(
            status="complete", exit_code=0, trials=trials or (trial,), wall_s=0.1, disturbed_retries=0,
            baseline_rss_bytes=1_500_000, peak_rss_bytes=2_000_000, counter=TSC,
        )  # fmt: skip
        return msgspec.structs.replace(process, **changes)

    def profile(
        self, candidate: str, label: str, operation: str, *calls: ProfileCall, **changes: Any
    ) -> "SystemBuilder":
        """Add a profile of ten operations that took 1000 ticks."""
        profile = Profile(
            schema=3, candidate=candidate, label=label, operation=operation, status="complete",
            meta=ProfileMeta(tick_source="rdtsc", tick_hz=2_600_000_000, warmups=1),
            total=ProfileTotal(operations=10, ticks=1000), calls=calls,
        )  # fmt: skip
        self.profiles.append(msgspec.structs.replace(profile, **changes))
        return self

    def kem(self, candidate: str = "kem-kyber", label: str = "Kyber512") -> "SystemBuilder":
        """Add a key encapsulation with all three operations."""
        self.instance(candidate, label)
        for operation in ("keygen", "enc", "dec"):
            self.record(candidate, label, operation)
        return self

    def write(self) -> Path:
        """Write the evidence; return the data folder."""
        store.write_atomically(self.folder / "campaign.json", store.encode(self.campaign))
        store.write_atomically(self.folder / "build.json", store.encode(Build(schema=3, instances=self.built)))
        for record in self.records:
            store.write_atomically(self.folder / store.record_path(record), store.encode(record))
        for profile in self.profiles:
            store.write_atomically(self.folder / store.profile_path(profile), store.encode(profile))
        return self.folder.parent


@pytest.fixture
def local(tmp_path: Path) -> SystemBuilder:
    """Return a builder of the system ``local`` in a data folder of one's own."""
    return SystemBuilder(tmp_path / "data")


@pytest.fixture(scope="session")
def system_builder() -> type[SystemBuilder]:
    """Return the builder's class, for fixtures that need several systems or another folder."""
    return SystemBuilder
