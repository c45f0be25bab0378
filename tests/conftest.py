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
    Kex,
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
KEX_COSTS = {  # a scheme of three messages: cost of each operation in ticks
    "exchange": 812_000, "init_a": 91_300, "init_b": 92_100, "pass1": 118_000, "pass2": 241_000, "pass3": 139_000,
    "derive_a": 2_100, "derive_b": 1_900,
}  # fmt: skip
KEX_SIZES = Sizes(pk_bytes=1184, sk_bytes=2400, ss_bytes=32)
THREE_PASSES = Kex(
    passes=3, declared_messages_bytes=1568, declared_state_a_bytes=4000, declared_state_b_bytes=3000,
    message_bytes=(768, 784, 16), state_a_bytes=(2400, 2432, 64), state_b_bytes=(2400, 96),
)  # fmt: skip
MESSAGE_BYTES = (32, 128, 512, 1024, 4096, 8192, 16384, 65536)  # S1 to S8
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
        status = changes.get("kat", KatStatus.PASS).value
        log, text = store.kat_log_path(candidate, label), f"RESULT {candidate} {label} {status}\n"
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
        self.records.append(msgspec.structs.replace(record, **self._plan_of(**changes), **changes))
        return self

    @staticmethod
    def _plan_of(**changes: Any) -> dict[str, Any]:
        """Return the plan that the given processes carry out, where none is given with them."""
        trials = [process.trials[0] for process in changes.get("processes", ()) if process.trials]
        if not trials or "plan" in changes:
            return {}
        return {"plan": msgspec.structs.replace(PLAN, iterations_per_trial=trials[0].measurements, trials=len(trials))}

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

    @classmethod
    def timed(cls, cost: float, calls: int = 200, wobble: float = 0.002, **changes: Any) -> tuple[Process, ...]:
        """Return five processes that took ``cost`` ticks a call, a little more or less each, with rare slow calls."""
        factors = (1.0, 1 + wobble, 1 - wobble, 1 + wobble / 2, 1 - wobble / 2)
        return tuple(cls._one_timed(cost * factor, calls, **changes) for factor in factors)

    @classmethod
    def _one_timed(cls, cost: float, calls: int, **changes: Any) -> Process:
        shares = {"min": 0.985, "p01": 0.987, "p05": 0.99, "p25": 0.995, "p50": 0.998, "p75": 1.002, "p95": 1.02}
        values = {name: cost * share for name, share in {**shares, "p99": 1.05, "max": 2.4}.items()}
        trial = Trial(
            measurements=calls, seconds=calls * cost / 2.6e9, ticks=round(calls * cost),
            quantiles=Quantiles(samples=calls, batch_calls=1, **values),
        )  # fmt: skip
        return cls.process(trial, wall_s=trial.seconds + 0.01, **changes)

    def sign(self, candidate: str = "sign-x", label: str = "X", **changes: Any) -> "SystemBuilder":
        """Add a signature scheme with all three operations, timed on a quiet machine."""
        self.instance(candidate, label, **changes)
        sizes = Sizes(pk_bytes=1312, sk_bytes=2560, signature_bytes=2420)
        for operation, cost in {"keygen": 210_000, "sign": 1_340_000, "verify": 226_000}.items():
            self.record(candidate, label, operation, sizes=sizes, processes=self.timed(cost))
        return self

    def kex(self, candidate: str = "kex-triple", label: str = "Triple-256") -> "SystemBuilder":
        """Add a key exchange of three messages with all its steps."""
        self.instance(candidate, label)
        for operation, cost in KEX_COSTS.items():
            self.record(
                candidate, label, operation, sizes=KEX_SIZES, kex=THREE_PASSES, processes=self.timed(cost)
            )  # fmt: skip
        return self

    def hash_function(
        self, candidate: str = "hash-x", label: str = "X-256", bits: int = 256, per_byte: float = 40.0
    ) -> "SystemBuilder":
        """Add a hash function at S1 to S8: a fixed cost, and one for each byte."""
        self.instance(candidate, label)
        for length in MESSAGE_BYTES:
            sizes = Sizes(input_bytes=length, digest_bytes=bits // 8)
            processes = self.timed(2000 + per_byte * length)
            self.record(candidate, label, "hash", input_bytes=length, sizes=sizes, processes=processes)
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
