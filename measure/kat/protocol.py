"""What the gate and its worker say to each other: a job on stdin, a mark and a report on the result descriptor."""

from typing import Literal

import msgspec

from evidence.types import KatStatus

# Written just before the library is loaded: an end before it is our own failure, an end after it the library's.
READY = b"ready\n"


class NistJob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="nist"):
    """One library to drive for the first record of the NIST text, which comes back in the report."""

    library: str
    family: Literal["kem", "sign"]


class IccsJob(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="iccs"):
    """One library to drive for one file of the official format, which is written to ``text``."""

    library: str
    helper: str  # library of measure.kat.helper
    kind: str  # SIG, KEM, KEX, 2_12, 2_23, 2_33 or Loop
    records: int
    text: str


Job = NistJob | IccsJob


class Report(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What came of it: a text, or a failure with its reason. Sizes are the declared ones, in bytes."""

    text: str | None = None
    failure: KatStatus | None = None
    reason: str | None = None
    internal_error: str | None = None  # the worker's own
    sizes: dict[str, int] = {}
