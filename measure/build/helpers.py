"""Helper functions that a profile counts: their table (csrc/profile/helpers.yaml), and the C file that wraps them."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from evidence.catalog import IccsKat, Instance
from measure.errors import BuildError

PROTOTYPE = re.compile(r"(?P<returns>[a-z ]+?) (?P<symbol>[A-Za-z_][A-Za-z0-9_]*)\((?P<arguments>[^()]*)\)")
FUNCTIONS_MAX = 128  # csrc/profile/profile.c has a row for what finds no place, one for each function
UNKNOWN = "KATALOG_PROFILE_UNKNOWN"


class Helper(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One helper function: its prototype with arguments a0, a1, ..., and how they tell the lengths."""

    call: str
    role: Literal["hash", "drng"]
    fn: str | None = None
    in_bits: str | int | None = None
    out_bits: str | int | None = None

    @property
    def symbol(self) -> str:
        """Name that the linker sees."""
        return _parsed(self.call)["symbol"]

    @property
    def name(self) -> str:
        """Name in the evidence."""
        return self.fn or self.symbol


def load_sets(csrc: Path) -> dict[str, tuple[Helper, ...]]:
    """Return the sets of helper functions by name.

    Raises:
        BuildError: when the table is missing or faulty.
    """
    file = csrc / "profile" / "helpers.yaml"
    try:
        sets = msgspec.yaml.decode(file.read_bytes(), type=dict[str, tuple[Helper, ...]])
    except (OSError, msgspec.DecodeError) as error:
        raise BuildError(f"csrc/profile/helpers.yaml: {error}") from error
    for name, helpers in sets.items():
        for helper in helpers:
            _parsed(helper.call)
        if len(helpers) > FUNCTIONS_MAX:
            raise BuildError(f"csrc/profile/helpers.yaml: {name}: more than {FUNCTIONS_MAX} functions")
    return sets


def set_of(instance: Instance) -> str:
    """Return the name of the set that an instance's helpers are in: by its interface."""
    return "iccs" if isinstance(instance.kat, IccsKat) else "pqclean"


def roles(helpers: Sequence[Helper]) -> dict[str, Literal["hash", "drng"]]:
    """Return what each function, by its name in the evidence, is for."""
    return {helper.name: helper.role for helper in helpers}


def link_flags(helpers: Sequence[Helper]) -> tuple[str, ...]:
    """Return the linker flags that send each call of a helper to its wrapper."""
    return tuple(f"-Wl,--wrap={helper.symbol}" for helper in helpers)


def wrappers(helpers: Sequence[Helper]) -> str:
    """Return the C file with a wrapper for each helper. A helper that a library lacks is never called."""
    return "\n".join(['#include <stddef.h>\n\n#include "wrap.h"\n', *(_wrapper(helper) for helper in helpers)])


def _parsed(call: str) -> dict[str, str]:
    match = PROTOTYPE.fullmatch(call)
    if not match:
        raise BuildError(f"csrc/profile/helpers.yaml: {call!r} is no prototype such as 'int f(const void *a0, int a1)'")
    return match.groupdict()


def _bits(expression: str | int | None) -> str:
    return UNKNOWN if expression is None else f"(unsigned long long)({expression})"


def _wrapper(helper: Helper) -> str:
    parts = _parsed(helper.call)
    returns, symbol, arguments = parts["returns"], parts["symbol"], parts["arguments"]
    passed = ", ".join(f"a{number}" for number in range(len(arguments.split(","))))
    keeps = returns != "void"
    last = "\treturn result;\n" if keeps else ""
    return f"""\
extern {returns} __real_{symbol}({arguments}) __attribute__((weak));
{returns} __wrap_{symbol}({arguments});

{returns} __wrap_{symbol}({arguments})
{{
	unsigned long long begin = 0;
	int counts = katalog_profile_enter(&begin);
	{f"{returns} result = " if keeps else ""}__real_{symbol}({passed});

	if (counts)
		katalog_profile_leave("{helper.name}", {_bits(helper.in_bits)}, {_bits(helper.out_bits)}, begin);
{last}}}
"""
