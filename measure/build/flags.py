"""The guide's compiler flags (section 3.2), what a shared library needs beside them, and the tolerant fallback."""

from typing import NamedTuple

from evidence.types import ArchConfig, FlagSet
from measure.errors import BuildError

WARNINGS = "-Wpedantic -Wall -Wextra"


class GuideFlags(NamedTuple):
    """The guide's flags of one architecture, one set per implementation version, as the guide writes them."""

    reference: str
    performance: str
    resource: str


REFERENCE = f"-std=c99 {WARNINGS} -O2"

GUIDE = {
    "x86_64": GuideFlags(
        reference=REFERENCE,
        performance=f"-O3 -march=x86-64 -mavx2 -mtune=native -flto -fomit-frame-pointer -std=c99 {WARNINGS}",
        resource=f"-Os -march=x86-64 -mavx2 -flto -fomit-frame-pointer -std=c99 {WARNINGS}",
    ),
    "aarch64": GuideFlags(
        reference=REFERENCE,
        performance=f"-O3 -march=armv8.2-a+sve -flto -fomit-frame-pointer -std=c99 {WARNINGS}",
        resource=f"-Os -march=armv8.2-a+sve -flto -fomit-frame-pointer -std=c99 {WARNINGS}",
    ),
}

# A shared library needs -fPIC, POSIX declarations need _GNU_SOURCE, and compilers since GCC 14 refuse old C.
# None of these changes the language standard or the optimisation level.
HARNESS_ADDITIONS = (
    "-fPIC -D_GNU_SOURCE -Wno-error=implicit-function-declaration "
    "-Wno-error=incompatible-pointer-types -Wno-error=int-conversion -Wno-error=implicit-int"
)

CXX_STANDARD = {"-std=c99": "-std=c++17", "-std=gnu11": "-std=gnu++17"}
C_ONLY = frozenset(word for word in HARNESS_ADDITIONS.split() if word.startswith("-Wno-error="))

# Tried only where the guide's flags do not build or do not pass the known-answer test.
HARNESS_DEFAULT = "-std=gnu11 -O2 -fno-strict-aliasing -fwrapv -fno-omit-frame-pointer"


def build_flags(flag_set: FlagSet, variant: str, architecture: str) -> str:
    """Return the compiler flags of one build: those of the flag set, then the additions.

    Args:
        flag_set: the guide's flags, or the tolerant fallback (the same for every variant).
        variant: ``reference``, ``performance`` or ``resource``.
        architecture: as ``platform.machine()`` names it.

    Raises:
        BuildError: for an architecture or a variant that the guide has no flags for.
    """
    if flag_set is FlagSet.HARNESS_DEFAULT:
        return f"{HARNESS_DEFAULT} {HARNESS_ADDITIONS}"
    guide = _guide(architecture)
    if variant not in guide._fields:
        raise BuildError(f"variant {variant!r} has no flags in the guide; known: {', '.join(guide._fields)}")
    return f"{guide._asdict()[variant]} {HARNESS_ADDITIONS}"


def cxx_flags(flags: str) -> tuple[str, ...]:
    """Return the flags for C++ files beside C files that are compiled with ``flags``.

    The guide speaks of C only: its language standard becomes C++17, and switches that only C has are left out.
    """
    return tuple(CXX_STANDARD.get(word, word) for word in flags.split() if word not in C_ONLY)


def cxx_note(flags: str) -> str:
    """Return what the build record says about C++ files."""
    standard = next(word for word in flags.split() if word in CXX_STANDARD)
    return f"C++ files: {CXX_STANDARD[standard]} in place of {standard}, without {' '.join(sorted(C_ONLY))}"


def arch_config(architecture: str) -> ArchConfig:
    """Return the guide's flags of an architecture as campaign.json states them.

    Raises:
        BuildError: for an architecture that the guide has no flags for.
    """
    guide = _guide(architecture)
    return ArchConfig(reference=guide.reference, performance=guide.performance)


def _guide(architecture: str) -> GuideFlags:
    if architecture not in GUIDE:
        raise BuildError(f"architecture {architecture!r} has no flags in the guide; known: {', '.join(GUIDE)}")
    return GUIDE[architecture]
