"""Flags are the guide's, word by word."""

import pytest

from evidence.types import FlagSet
from measure.build import flags
from measure.errors import BuildError

ADDITIONS = (
    " -fPIC -D_GNU_SOURCE -Wno-error=implicit-function-declaration -Wno-error=incompatible-pointer-types"
    " -Wno-error=int-conversion -Wno-error=implicit-int"
)
GUIDE = {
    ("x86_64", "reference"): "-std=c99 -Wpedantic -Wall -Wextra -O2",
    ("aarch64", "reference"): "-std=c99 -Wpedantic -Wall -Wextra -O2",
    ("x86_64", "performance"): (
        "-O3 -march=x86-64 -mavx2 -mtune=native -flto -fomit-frame-pointer -std=c99 -Wpedantic -Wall -Wextra"
    ),
    ("aarch64", "performance"): (
        "-O3 -march=armv8.2-a+sve -flto -fomit-frame-pointer -std=c99 -Wpedantic -Wall -Wextra"
    ),
    ("x86_64", "resource"): "-Os -march=x86-64 -mavx2 -flto -fomit-frame-pointer -std=c99 -Wpedantic -Wall -Wextra",
    ("aarch64", "resource"): "-Os -march=armv8.2-a+sve -flto -fomit-frame-pointer -std=c99 -Wpedantic -Wall -Wextra",
}


@pytest.mark.parametrize(("architecture", "variant"), GUIDE)
def test_guide_flags_come_first_and_the_additions_after_them(architecture, variant):
    expected = GUIDE[architecture, variant] + ADDITIONS
    assert flags.build_flags(FlagSet.GUIDE, variant, architecture) == expected


def test_tolerant_flags_are_the_same_for_every_variant():
    for variant in ("reference", "performance"):
        assert flags.build_flags(FlagSet.HARNESS_DEFAULT, variant, "x86_64") == (
            "-std=gnu11 -O2 -fno-strict-aliasing -fwrapv -fno-omit-frame-pointer" + ADDITIONS
        )


def test_campaign_states_the_flags_of_its_architecture():
    config = flags.arch_config("aarch64")
    assert config.reference == GUIDE["aarch64", "reference"]
    assert config.performance == GUIDE["aarch64", "performance"]


def test_an_unknown_architecture_or_variant_is_named_with_the_known_ones():
    with pytest.raises(BuildError, match=r"'riscv64' has no flags in the guide; known: x86_64, aarch64"):
        flags.build_flags(FlagSet.GUIDE, "reference", "riscv64")
    with pytest.raises(BuildError, match=r"'fast' has no flags in the guide; known: reference, performance, resource"):
        flags.build_flags(FlagSet.GUIDE, "fast", "x86_64")
