"""Sizes of keys and messages: what the interface declares, what calls returned, what the catalog states."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from evidence.catalog import ExternalSizes
from render.facts.rows import RecordRow
from render.facts.subject import CandidateSubject
from render.look import formats

NAMES = ("pk_bytes", "sk_bytes", "ct_bytes", "ss_bytes", "signature_bytes")
BASIS = {"maximum-variable": "{} (maximum)", "nominal-variable": "≈{}"}


class Sized(NamedTuple):
    """Sizes of one instance: what its interface declares, the longest that its calls returned, what the catalog states.

    ``message_bytes`` are the messages of a key exchange by pass, as they were seen.
    """

    label: str
    interface: dict[str, int]
    returned: dict[str, int]
    external: ExternalSizes | None
    passes: int | None
    message_bytes: tuple[int, ...] | None


def of_instances(subject: CandidateSubject) -> list[Sized]:
    """Return the sizes of every instance that a record tells of, in page order."""
    external = subject.entry.sizes if subject.entry else {}
    by_label = groupby(subject.records, key=lambda record: record.label)
    return [_sized(label, list(records), external.get(label)) for label, records in by_label]


def _sized(label: str, records: Sequence[RecordRow], external: ExternalSizes | None) -> Sized:
    interface = {name: value for name in (*NAMES, "kex_declared_bytes") if (value := _first(records, name)) is not None}
    returned = {name: max(values) for name in NAMES if (values := _known(records, f"returned_{name}"))}
    return Sized(
        label, interface, returned, external, _first(records, "kex_passes"), _first(records, "kex_message_bytes")
    )


def _known(records: Sequence[RecordRow], name: str) -> list[Any]:
    return [value for record in records if (value := getattr(record, name)) is not None]


def _first(records: Sequence[RecordRow], name: str) -> Any:
    return next(iter(_known(records, name)), None)


def public_key(sized: Sized) -> str:
    """Return the public key's size: the catalog's, else the interface's."""
    stated = sized.external.public_key_bytes if sized.external else None
    return formats.whole(sized.interface.get("pk_bytes") if stated is None else stated)


def signature(sized: Sized) -> str:
    """Return the signature's size with its basis."""
    return _variable(sized, "signature_bytes", "signature_bytes")


def ciphertext(sized: Sized) -> str:
    """Return the ciphertext's size with its basis."""
    return _variable(sized, "ct_bytes", "ciphertext_bytes")


def with_basis(stated: int, external: ExternalSizes) -> str:
    """Return a stated size with the mark of its basis: ``3284 (maximum)``, ``≈700``."""
    return BASIS.get(external.basis, "{}").format(formats.whole(stated))


def passes(sized: Sized) -> str:
    """Return the number of passes of a key exchange."""
    return formats.whole(sized.passes)


def messages(sized: Sized) -> str:
    """Return the messages of a key exchange by pass: ``768 / 784 / 16``."""
    return " / ".join(map(str, sized.message_bytes or ())) or formats.ABSENT


def messages_total(sized: Sized) -> str:
    """Return what all messages of a key exchange have together: what was seen, else what is declared."""
    seen = sized.message_bytes
    return formats.whole(sized.interface.get("kex_declared_bytes") if seen is None else sum(seen))


def long_term_keys(sized: Sized) -> str:
    """Return the long-term keys of a key exchange: ``1184 / 2400``; 0 where there is none."""
    public, secret = (sized.interface.get(name) for name in ("pk_bytes", "sk_bytes"))
    return formats.ABSENT if public is None and secret is None else f"{formats.whole(public)} / {formats.whole(secret)}"


def _variable(sized: Sized, name: str, stated_name: str) -> str:
    """Return a size that may vary from call to call; the basis says how the stated figure is meant."""
    external = sized.external
    stated = getattr(external, stated_name) if external else None
    if external is None or stated is None:
        return formats.whole(sized.interface.get(name))
    return with_basis(stated, external)
