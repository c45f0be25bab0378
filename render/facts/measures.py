"""Figures of a parameter set as plain numbers, by the names that rankings, comparison and downloads use."""

from collections.abc import Callable
from typing import NamedTuple

from evidence.operations import Family
from render.facts.counters import Kind
from render.facts.entry import Entry, Operation
from render.facts.sizes import Sized

KIB = 1024
# Name of a size: in the interface, and in the catalog where people can state it.
SIZES = {
    "public_key_bytes": ("pk_bytes", "public_key_bytes"),
    "secret_key_bytes": ("sk_bytes", ""),
    "ciphertext_bytes": ("ct_bytes", "ciphertext_bytes"),
    "signature_bytes": ("signature_bytes", "signature_bytes"),
    "shared_secret_bytes": ("ss_bytes", ""),
}


# The sizes that a family has; interfaces declare the others as 0.
SIZES_OF = {
    Family.SIGN: ("public_key_bytes", "secret_key_bytes", "signature_bytes"),
    Family.KEM: ("public_key_bytes", "secret_key_bytes", "ciphertext_bytes", "shared_secret_bytes"),
    Family.KEX: ("messages_bytes", "public_key_bytes", "secret_key_bytes", "shared_secret_bytes"),
    Family.HASH: (),
}


class Metric(NamedTuple):
    """What a ranking judges: its title, its figure, and the operation where it is a cost."""

    title: str
    figure: Callable[[Entry, Kind | None], float | None]
    operation: Operation | None = None


def cost(entry: Entry, operation: Operation, kind: Kind | None) -> float | None:
    """Return the mean count of one call, or its mean seconds where the records of a system share no counter."""
    record = entry.records.get(operation)
    if record is None or record.status != "complete":
        return None
    return record.mean_count if kind else record.mean_seconds


def hash_share(entry: Entry, operation: Operation) -> float | None:
    """Return the share of hash functions in an operation; None where it was not measured."""
    profile = entry.profiles.get(operation)
    return profile.hash_share if profile and profile.status == "complete" else None


def drng_share(entry: Entry, operation: Operation) -> float | None:
    """Return the share of the random number generator in an operation; None where it was not measured."""
    profile = entry.profiles.get(operation)
    return profile.drng_share if profile and profile.status == "complete" else None


def size(sized: Sized | None, name: str) -> int | None:
    """Return a size as pages show it: what the catalog states, else what the interface declares; or the passes."""
    if sized is None:
        return None
    if name == "passes":
        return sized.passes
    if name == "messages_bytes":
        seen = sized.message_bytes
        return sized.interface.get("kex_declared_bytes") if seen is None else sum(seen)
    interface, stated_name = SIZES[name]
    stated = getattr(sized.external, stated_name) if sized.external and stated_name else None
    return sized.interface.get(interface) if stated is None else stated


def sizes(entry: Entry) -> dict[str, int | None]:
    """Return the sizes of a set that its family has, by name."""
    return {name: size(entry.sized, name) for name in SIZES_OF[entry.family]}


def _cost_metric(title: str, name: str, message_bytes: int = 0) -> Metric:
    operation = Operation(name, message_bytes)
    return Metric(title, lambda entry, kind: cost(entry, operation, kind), operation)


def _size_metric(title: str, name: str) -> Metric:
    return Metric(title, lambda entry, _: size(entry.sized, name))


# What a ranking judges, by family. Key generation and the secret key are left out on purpose.
METRICS = {
    Family.SIGN: (
        _cost_metric("sign", "sign"),
        _cost_metric("verify", "verify"),
        _size_metric("public key", "public_key_bytes"),
        _size_metric("signature", "signature_bytes"),
    ),
    Family.KEM: (
        _cost_metric("enc", "enc"),
        _cost_metric("dec", "dec"),
        _size_metric("public key", "public_key_bytes"),
        _size_metric("ciphertext", "ciphertext_bytes"),
    ),
    Family.KEX: (_cost_metric("exchange", "exchange"), _size_metric("messages", "messages_bytes")),
    Family.HASH: (
        _cost_metric("32 B", "hash", 32),
        _cost_metric("1 KiB", "hash", KIB),
        _cost_metric("64 KiB", "hash", 64 * KIB),
    ),
}
