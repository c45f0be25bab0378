"""The one table of all kinds of note: what each says, when it is raised, and why. The reference page shows it."""

from collections.abc import Iterator
from typing import NamedTuple

from render.facts.marks import instance, operation
from render.facts.marks.instance import SLOWER
from render.facts.marks.operation import ACTIVE, GAP, LEAST_CALLS, SPREAD, STANDARD_ERRORS
from render.facts.marks.scene import Find, Raised, Scene, each_record


class Rule(NamedTuple):
    """A kind of note. ``title`` is what pages say; ``judges`` is true where a bound decides, not a plain count."""

    kind: str
    title: str
    threshold: str
    reason: str
    find: Find
    judges: bool = False


RULES = (
    Rule(
        "all-rejected",
        "Every call of the verification rejected an honest signature",
        "verify_rejections at least the timed calls and warm-ups together",
        "What was timed is the path of a verifier that refuses; the cost of accepting a signature is not known.",
        each_record(operation.all_rejected),
    ),
    Rule(
        "some-rejected",
        "Some calls of the verification rejected an honest signature",
        "verify_rejections above 0, below the timed calls and warm-ups together",
        "The mean mixes two paths, and an application would see valid signatures refused.",
        each_record(operation.some_rejected),
    ),
    Rule(
        "setup-failed",
        "The honest case did not work before timing",
        "setup_verify_failed above 0",
        "Before timing, a signature is verified and a secret is decapsulated once; where that fails, the figures are "
        "those of code that does not do its task.",
        each_record(operation.setup_failed),
    ),
    Rule(
        "return-codes",
        "Calls returned another code than success",
        "more codes other than success than rejected signatures and retried signings explain",
        "A call that fails may stop early, so that its cost is not that of the operation.",
        each_record(operation.return_codes),
    ),
    Rule(
        "returned-longer",
        "A returned length exceeds the declared one",
        "returned length above the declared one, or signature_length_excess above 0, in any process",
        "Whoever allocates what the interface declares is written past; the sizes of section 6 are too small.",
        each_record(operation.returned_longer),
    ),
    Rule(
        "retried",
        "Signing failed and was tried again",
        "sign_failures_retried or message_tweaks above 0",
        "Retries are inside the timed work, as an application would meet them: one signature costs several attempts.",
        each_record(operation.signing_retried),
    ),
    Rule(
        "few-calls",
        f"Fewer than {LEAST_CALLS} calls",
        f"measurements below {LEAST_CALLS}",
        f"The guide asks for at least {LEAST_CALLS} measurements; the budget of time allowed fewer.",
        each_record(operation.few_calls),
    ),
    Rule(
        "few-trials",
        "Fewer trials than planned",
        "complete trials below the campaign’s trials per operation",
        "Each trial is a process with a memory layout of its own; fewer of them sample fewer layouts.",
        each_record(operation.few_trials),
    ),
    Rule(
        "repeated",
        "A trial was repeated because it was disturbed",
        "disturbed_retries above 0",
        "In a disturbed trial the core ran below 95 % of its clock. It was thrown away; its neighbours may have "
        "suffered too.",
        each_record(operation.repeated),
    ),
    Rule(
        "killed",
        "A trial was run again because something outside killed it",
        "killed_retries above 0",
        "The driver was ended by SIGKILL, neither for its time nor by one of its limits. Most likely the machine was "
        "short of memory.",
        each_record(operation.killed),
    ),
    Rule(
        "not-active",
        "The counter was not active all the time",
        f"time_running_ns below {ACTIVE:.1%} of time_enabled_ns in any trial".replace("%", " %"),
        "The counter was shared with other events: its count covers a part of the loop and must not be scaled up.",
        each_record(operation.not_active),
    ),
    Rule(
        "zero-count",
        "A count is missing or zero",
        "a trial without a count although a counter was used, or a single call that counted 0",
        "No operation costs nothing. A counter that once reads zero cannot be relied on elsewhere.",
        each_record(operation.zero_count),
    ),
    Rule(
        "trials-apart",
        "The trials differ more than they should",
        f"means of at least 3 trials further apart than {SPREAD:.0%} of their mean and, where single calls are "
        f"recorded, than {STANDARD_ERRORS} standard errors of a trial’s mean".replace("%", " %"),
        "On the fixed machines of the published campaigns seven operations in eight stay within 3 %. More means "
        "another load, another clock, or code that depends on where it lies in memory.",
        each_record(operation.trials_apart),
        judges=True,
    ),
    Rule(
        "median-apart",
        "Mean and median are far apart",
        f"mean more than {GAP:.0%} above or below the median, and more than {STANDARD_ERRORS} standard errors of the "
        "median".replace("%", " %"),
        "The mean says what many calls cost together, the median what one call usually costs. Signatures that draw "
        "until they accept have means far above their medians by design; elsewhere rare slow calls are the cause.",
        each_record(operation.median_apart),
        judges=True,
    ),
    Rule(
        "other-core",
        "Measured on another core than the one that section 2 shows",
        "cpu_number differs from that of the campaign’s environment",
        "Cores of one machine may differ in clock, cache and kind.",
        instance.other_core,
    ),
    Rule(
        "kat-differs",
        "The known-answer test ends otherwise on another system",
        "KAT status differs between any two systems with evidence",
        "Code whose output depends on the machine has undefined behaviour, or assumes a byte order or a word size.",
        instance.kat_differs,
    ),
    Rule(
        "optimised-slower",
        "The optimised version is slower than the reference version",
        f"mean time more than {SLOWER:.0%} above that of the reference version of the same parameter set, and no "
        "trial as fast as its slowest".replace("%", " %"),
        "Most often two columns were exchanged, or the flags of one version were lost.",
        instance.optimised_slower,
        judges=True,
    ),
)


def find(scene: Scene) -> tuple[Raised, ...]:
    """Return all notes that a system's evidence raises, kind by kind, rows in page order."""
    return tuple(_all(scene))


def _all(scene: Scene) -> Iterator[Raised]:
    for rule in RULES:
        for found in rule.find(scene):
            yield Raised(rule.kind, *found)
