"""Section 6, Transmission and storage overhead."""

from collections.abc import Callable
from typing import NamedTuple

from evidence.catalog import ExternalSizes
from evidence.operations import Family
from render import figures
from render.subject import CandidateSubject
from render.table import Column, Piece, Table, table

BASIS = {"maximum-variable": "{} (maximum)", "nominal-variable": "≈{}"}


class Sized(NamedTuple):
    """Sizes of one instance: those of its interface, and those that the catalog states."""

    label: str
    interface: dict[str, int]
    external: ExternalSizes | None


def view(subject: CandidateSubject) -> Table | None:
    """Return the sizes of keys and messages; None for families that have no such section, or no figures yet."""
    columns = COLUMNS.get(subject.family)
    sized = of_instances(subject)
    if columns is None or not sized:
        return None
    return table("sizes", f"Sizes of {subject.candidate} in bytes", columns, sized)


def of_instances(subject: CandidateSubject) -> list[Sized]:
    """Return the sizes of every instance that a record tells of, in page order."""
    external = subject.entry.sizes if subject.entry else {}
    interface: dict[str, dict[str, int]] = {}
    for record in subject.records:
        known = interface.setdefault(record.label, {})
        for name in ("pk_bytes", "sk_bytes", "ct_bytes", "ss_bytes", "signature_bytes"):
            if (value := getattr(record, name)) is not None:
                known.setdefault(name, value)
    return [Sized(label, known, external.get(label)) for label, known in interface.items()]


def public_key(sized: Sized) -> str:
    """Return the public key's size: the catalog's, else the interface's."""
    stated = sized.external.public_key_bytes if sized.external else None
    return figures.whole(sized.interface.get("pk_bytes") if stated is None else stated)


def signature(sized: Sized) -> str:
    """Return the signature's size with its basis."""
    return _variable(sized, "signature_bytes")


def ciphertext(sized: Sized) -> str:
    """Return the ciphertext's size with its basis."""
    return _variable(sized, "ct_bytes", "ciphertext_bytes")


def _variable(sized: Sized, name: str, stated_name: str = "") -> str:
    """Return a size that may vary from call to call; the basis says how the stated figure is meant."""
    external = sized.external
    stated = getattr(external, stated_name or name) if external else None
    if external is None or stated is None:
        return figures.whole(sized.interface.get(name))
    return BASIS.get(external.basis, "{}").format(figures.whole(stated))


def _interface(name: str) -> Callable[[Sized], str]:
    return lambda sized: figures.whole(sized.interface.get(name))


INSTANCE = Column[Sized]("instance", lambda s: Piece(s.label, code=True))
PUBLIC_KEY = Column("public key", public_key, numeric=True)
SECRET_KEY = Column("secret key", _interface("sk_bytes"), numeric=True)
COLUMNS: dict[Family, tuple[Column[Sized], ...]] = {
    Family.SIGN: (INSTANCE, PUBLIC_KEY, SECRET_KEY, Column("signature", signature, numeric=True)),
    Family.KEM: (
        INSTANCE,
        PUBLIC_KEY,
        SECRET_KEY,
        Column("ciphertext", ciphertext, numeric=True),
        Column("shared secret", _interface("ss_bytes"), numeric=True),
    ),
}
