"""What a record is: the frozen types of schema 3, into which every evidence file is loaded.

Names and meanings follow the published schema 2 wherever the meaning is the same. A field that may be
absent is ``None`` by default and is left out when written: nothing stands in for a missing observation.
Numbers carry their unit in their name, except counts and the names that schema 2 fixed (``measurements``,
``cycles``, ``trials``, ``warmups``, ``iterations_per_trial``).
"""

from enum import StrEnum
from typing import Annotated, Literal

import msgspec

SCHEMA = 3

# The end of a string: `$` lets a line end follow in Python, and other programs that read the schemas lack `\\Z`.
END = r"(?![\s\S])"
Sha256 = Annotated[str, msgspec.Meta(pattern=rf"^[0-9a-f]{{64}}{END}")]
# Bounds far above anything observed: no figure can overflow what computes with it.
LARGEST = 2**63 - 1
Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]
Positive = Annotated[int, msgspec.Meta(ge=1, le=LARGEST)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=1e18)]
CandidateId = Annotated[str, msgspec.Meta(pattern=rf"^(sign|kem|kex|hash)-[a-z0-9][a-z0-9_-]{{0,39}}{END}")]
SystemId = Annotated[str, msgspec.Meta(pattern=rf"^[a-z0-9][a-z0-9_-]{{0,31}}{END}")]
Label = Annotated[str, msgspec.Meta(pattern=rf"^[A-Za-z0-9][A-Za-z0-9+._-]{{0,79}}{END}")]
RelativePath = Annotated[str, msgspec.Meta(pattern=rf"^(?!/)(?!.*(^|/)\.\.(/|{END}))[^\x00-\x1f\\]{{1,255}}{END}")]
Utc = Annotated[
    str, msgspec.Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?\+00:00" + END)
]


class KatStatus(StrEnum):
    """Result of the known-answer test of one instance (report page, section 3)."""

    PASS = "PASS"  # noqa: S105 - a status, not a password
    MISMATCH = "MISMATCH"  # runs, other output
    CRYPTOFAIL = "CRYPTOFAIL"  # an operation of the KAT fails
    NOKAT = "NOKAT"  # no vectors submitted
    PARTIAL = "PARTIAL"  # vectors cover part
    TIMEOUT = "TIMEOUT"
    OVERFLOW = "OVERFLOW"  # wrote past a buffer
    CRASH = "CRASH"  # ended by a signal, or ended its process itself
    BUILDFAIL = "BUILDFAIL"


class FlagSet(StrEnum):
    """Which compiler flags an instance was built with (guide.md, section 3.2)."""

    GUIDE = "guide"
    HARNESS_DEFAULT = "harness-default"


class CounterUnit(StrEnum):
    """What a counter counts. Ticks of a fixed-rate clock are never called cycles."""

    CYCLES = "cycles"  # core cycles
    TICKS = "ticks"  # reference ticks of a fixed-rate clock (TSC, cntvct)
    NANOSECONDS = "ns"  # no counter but the clock


class Evidence(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all evidence types: immutable, keyword-only, strict about unknown fields."""


class Environment(Evidence, frozen=True, kw_only=True):
    """State of the machine when something was observed. Every field may be unknown."""

    hostname: str | None = None
    architecture: str | None = None
    cpu_model: str | None = None
    machine: str | None = None
    cpu_number: Count | None = None
    logical_cpus_online: str | None = None
    virtualized: bool | None = None
    hypervisor: str | None = None
    memory_total_kib: Count | None = None
    os: str | None = None
    kernel: str | None = None
    libc: str | None = None
    compiler: str | None = None
    cmake: str | None = None
    python: str | None = None
    perf_event_paranoid: int | None = None
    perf_user_access: int | None = None
    cpufreq_governor: str | None = None
    cpufreq_driver: str | None = None
    cpufreq_min_khz: Count | None = None
    cpufreq_max_khz: Count | None = None
    cpufreq_avg_khz: Count | None = None
    intel_pstate_no_turbo: int | None = None
    cpufreq_boost: int | None = None
    smt_control: str | None = None
    core_clock_hz: Count | None = None
    core_clock_min_hz: Count | None = None
    core_clock_max_hz: Count | None = None
    core_clock_mhz: Count | None = None
    load_1min: float | None = None
    temperature_millicelsius: int | None = None
    emulated: bool | None = None  # by a program that runs another architecture's instructions; never published


class Plan(Evidence, frozen=True, kw_only=True):
    """Plan of one operation. ``estimated_s`` covers all trials and the warm-ups."""

    iterations_per_trial: Positive
    warmups: Count
    trials: Positive
    separate_processes: bool
    estimated_s: Seconds
    timeout_per_process_s: Seconds


class Counter(Evidence, frozen=True, kw_only=True):
    """The counter that was used. ``name`` is absent where the source does not say (schema 2)."""

    unit: CounterUnit
    name: str | None = None
    hz: Positive | None = None  # rate of a fixed-rate counter; absent for core cycles
    overhead: Count | None = None  # an empty pair of reads, median of 1000, in the counter's unit
    user_only: bool | None = None  # whether kernel mode was excluded


class Quantiles(Evidence, frozen=True, kw_only=True):
    """Quantiles of the cost of one call in the counter's unit, read overhead subtracted.

    ``samples`` readings were taken, each over ``batch_calls`` calls; with batches each reading is divided by
    the batch size.
    """

    samples: Positive
    batch_calls: Positive
    min: Amount
    p01: Amount
    p05: Amount
    p25: Amount
    p50: Amount
    p75: Amount
    p95: Amount
    p99: Amount
    max: Amount

    def values(self) -> tuple[float, ...]:
        """Return the quantiles in their order, from the least to the greatest."""
        return (self.min, self.p01, self.p05, self.p25, self.p50, self.p75, self.p95, self.p99, self.max)


class Trial(Evidence, frozen=True, kw_only=True):
    """One timed loop: calls, wall time over the whole loop, and the counter over the whole loop.

    Of a key exchange's step they are the sums over its calls; ``runs_seconds`` is the wall time of the complete
    protocol runs around them.
    """

    measurements: Positive
    seconds: Annotated[float, msgspec.Meta(gt=0, le=1e9)]
    cycles: Positive | None = None
    ticks: Positive | None = None
    time_enabled_ns: Count | None = None
    time_running_ns: Count | None = None
    runs_seconds: Seconds | None = None
    quantiles: Quantiles | None = None


class Sizes(Evidence, frozen=True, kw_only=True):
    """Sizes in bytes: what the interface declares, and what the calls returned where that was seen."""

    input_bytes: Count | None = None
    pk_bytes: Count | None = None
    sk_bytes: Count | None = None
    ct_bytes: Count | None = None
    ss_bytes: Count | None = None
    signature_bytes: Count | None = None
    digest_bytes: Count | None = None
    returned_pk_bytes: Count | None = None
    returned_sk_bytes: Count | None = None
    returned_ct_bytes: Count | None = None
    returned_ss_bytes: Count | None = None
    returned_signature_bytes: Count | None = None  # largest over the calls of the process


class Kex(Evidence, frozen=True, kw_only=True):
    """Messages and states of a key exchange: what its getters declare, and the largest that its calls returned.

    ``message_bytes`` is by pass; the states of a side are those after its init and after each of its passes.
    """

    passes: Count | None = None
    declared_messages_bytes: Count | None = None  # all messages together
    declared_state_a_bytes: Count | None = None  # the largest state
    declared_state_b_bytes: Count | None = None
    message_bytes: tuple[Count, ...] | None = None
    state_a_bytes: tuple[Count, ...] | None = None
    state_b_bytes: tuple[Count, ...] | None = None


class Process(Evidence, frozen=True, kw_only=True):
    """One run of the driver: one trial (schema 2 allows several) in a process of its own.

    ``status`` is ``complete`` or the way the process failed; a failed one lacks what it did not observe.
    """

    status: str
    exit_code: int
    trials: tuple[Trial, ...]
    wall_s: Seconds
    disturbed_retries: Count
    reason: str | None = None  # of a failure
    warmups: Count | None = None
    baseline_rss_bytes: Count | None = None
    peak_rss_bytes: Count | None = None
    sign_failures_retried: Count | None = None
    message_tweaks: Count | None = None
    setup_verify_failed: Count | None = None
    signature_length_excess: Count | None = None
    verify_rejections: Count | None = None
    return_codes: dict[str, Count] | None = None  # decimal return code -> times seen, all calls of the process
    counter: Counter | None = None
    sizes: Sizes | None = None
    kex: Kex | None = None
    minor_page_faults: Count | None = None
    major_page_faults: Count | None = None
    voluntary_context_switches: Count | None = None
    involuntary_context_switches: Count | None = None
    command: tuple[str, ...] | None = None
    output: str | None = None  # what the candidate printed, cut
    sandbox: str | None = None  # bubblewrap, landlock or none: what kept it from files and network
    killed_retries: Count | None = None  # earlier runs that an outsider killed (SIGKILL), such as for want of memory


class Record(Evidence, frozen=True, kw_only=True):
    """Everything observed about one operation of one instance. Statistics are derived, never stored."""

    schema: Literal[3]
    status: Literal["complete", "failed"]
    reason: str | None = None  # of a failure
    candidate: CandidateId
    label: Label
    instance: str
    variant: str
    flags: FlagSet
    operation: str
    input_bytes: Count | None = None
    plan: Plan | None = None  # absent where the calibrating call failed
    kat: KatStatus
    library: RelativePath
    library_sha256: Sha256
    kat_log: RelativePath
    kat_log_sha256: Sha256
    sources_sha256: Sha256 | None = None
    driver_sha256: Sha256 | None = None
    started_utc: Utc
    ended_utc: Utc
    environment: Environment
    processes: tuple[Process, ...]
    sizes: Sizes
    build_flags: str
    timing_scope: str
    kex: Kex | None = None
    shard: str | None = None  # the worker that measured it, where several machines shared a campaign


class BuildInstance(Evidence, frozen=True, kw_only=True):
    """Build and KAT result of one instance. A failed build has a reason and no library."""

    candidate: CandidateId
    label: Label
    instance: str
    variant: str
    kat: KatStatus
    flags: FlagSet | None = None
    build_flags: str | None = None
    compiler: str | None = None
    library: RelativePath | None = None
    library_sha256: Sha256 | None = None
    kat_log: RelativePath | None = None
    kat_log_sha256: Sha256 | None = None
    guide_result: str | None = None  # what the guide's flags gave, where they were not kept
    kat_format: str | None = None
    kat_sha256: Sha256 | None = None  # digest of the text that the library produced
    elf_load_bytes: Count | None = None  # sum of p_memsz over PT_LOAD
    text_bytes: Count | None = None
    data_bytes: Count | None = None
    bss_bytes: Count | None = None
    source: str | None = None  # e.g. pypi: pypqc==0.0.6.2
    source_sha256: Sha256 | None = None  # of the fetched archive
    sources_sha256: Sha256 | None = None  # of the sorted list "<sha256>  <path>" of the compiled files
    reason: str | None = None  # of a failure


class Build(Evidence, frozen=True, kw_only=True):
    """build.json: instance key ``<candidate>/<label>`` -> build."""

    schema: Literal[3]
    instances: dict[str, BuildInstance]


class Planning(Evidence, frozen=True, kw_only=True):
    """Settings from which plans are made (measurement.md, Plan)."""

    trials: Positive
    trial_target_s: Seconds
    min_total: Count
    max_iters_per_trial: Positive
    op_budget_s: Seconds
    separate_process_setup_s: Seconds | None = None
    name: str | None = None  # quick or full


class HostCheck(Evidence, frozen=True, kw_only=True):
    """Problems found on the host at the start of one phase; none means ready."""

    phase: str
    cpu: Count
    utc: Utc
    problems: tuple[str, ...]
    shard: str | None = None


class ArchConfig(Evidence, frozen=True, kw_only=True):
    """The guide's flag sets for this architecture."""

    reference: str
    performance: str
    optimized_families: tuple[str, ...] = ()


class ParallelControl(Evidence, frozen=True, kw_only=True):
    """What parallel work did to a figure, measured before several cores were used at once.

    One operation's mean time of a call, the median over trials: alone, and while the other cores measured it, too.
    """

    operation: str
    cpus: tuple[Count, ...]
    alone_s: Seconds
    together_s: Seconds


class TimedWork(Evidence, frozen=True, kw_only=True):
    """How much of the measuring time was timed work, over all starts of a campaign that ended by themselves."""

    timed_s: Seconds  # inside timed loops
    wall_s: Seconds  # of calibrating and timing, times the number of measuring cores


class Campaign(Evidence, frozen=True, kw_only=True):
    """campaign.json: one campaign on one system."""

    schema: Literal[3]
    system_id: SystemId
    started_utc: Utc
    ended_utc: Utc | None = None
    environment_at_start: Environment
    environment_at_end: Environment | None = None
    arch_config: ArchConfig
    harness_additions: str
    harness_default: str | None = None
    planning: Planning
    host_checks: tuple[HostCheck, ...] = ()
    host_problems: tuple[str, ...]
    host_problems_any_phase: tuple[str, ...] | None = None
    host_problems_note: str | None = None
    unfixed_host_allowed: bool | None = None
    shards: Count | None = None
    shard_cpus: dict[str, Count] | None = None
    parallel_control: ParallelControl | None = None
    timed_work: TimedWork | None = None
    history_note: str | None = None
    katalog_version: str | None = None


class ProfileCall(Evidence, frozen=True, kw_only=True):
    """Calls and ticks of one helper function at one shape; the shape is absent where not resolved."""

    fn: str
    in_bits: Count | None = None
    out_bits: Count | None = None
    calls: Count
    ticks: Count


class ProfileTotal(Evidence, frozen=True, kw_only=True):
    """Operations profiled and the ticks that they took."""

    operations: Positive
    ticks: Positive


class ProfileMeta(Evidence, frozen=True, kw_only=True):
    """Clock of the profile and calls before it."""

    tick_source: str
    tick_hz: Positive
    warmups: Count


class Profile(Evidence, frozen=True, kw_only=True):
    """Share of helper functions in one operation. Shares are derived from ticks.

    ``status`` is ``complete``, ``not measurable`` (helpers are called where no wrapper can see it) or ``failed``; the
    latter two have a reason and no figures. The ticks of a function hold ``wrapper_inside_ticks`` per call, those of
    the operation ``wrapper_cost_ticks``.
    """

    schema: Literal[3]
    candidate: CandidateId
    label: Label
    operation: str
    input_bytes: Count | None = None
    status: str
    reason: str | None = None
    meta: ProfileMeta | None = None
    total: ProfileTotal | None = None
    calls: tuple[ProfileCall, ...] | None = None
    roles: dict[str, Literal["hash", "drng"]] | None = None  # function -> what it is for; absent: "drng" by its name
    merged_calls: Count | None = None  # found the table of shapes full: in rows without a shape
    wrapper_cost_ticks: Amount | None = None
    wrapper_inside_ticks: Amount | None = None
    library_sha256: Sha256 | None = None  # of the profiled library, which is never the timed one
    driver_sha256: Sha256 | None = None
    started_utc: Utc | None = None
    environment: Environment | None = None
    command: tuple[str, ...] | None = None
    killed_retries: Count | None = None  # earlier runs that an outsider killed


class ChangedFigure(Evidence, frozen=True, kw_only=True):
    """One operation whose time or status is another than before; the ratio is of times, after over before."""

    operation: str  # <candidate>/<label> <operation>
    verdict: str
    ratio: Amount | None = None


class Change(Evidence, frozen=True, kw_only=True):
    """One publication of a system: how much it holds, what it replaced, and which figures changed by it."""

    published_utc: Utc
    katalog_version: str
    instances: Count
    records: Count
    replaced_sha256: Sha256 | None = None  # of the manifest that was there before
    changed: tuple[ChangedFigure, ...] = ()
    note: str | None = None  # why figures could not be compared


class Changes(Evidence, frozen=True, kw_only=True):
    """changes.json: the change log of a system, the latest entry last."""

    schema: Literal[3]
    entries: tuple[Change, ...]
