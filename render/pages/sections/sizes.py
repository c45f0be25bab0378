"""Section 6, Transmission and storage overhead."""

from collections.abc import Callable

from evidence.operations import Family
from render.facts.sizes import (
    Sized,
    ciphertext,
    long_term_keys,
    messages,
    messages_total,
    of_instances,
    passes,
    public_key,
    signature,
)
from render.facts.subject import CandidateSubject
from render.look import formats
from render.look.table import Column, Piece, Table, table


def view(subject: CandidateSubject) -> Table | None:
    """Return the sizes of keys and messages; None for families that have no such section, or no figures yet."""
    columns = COLUMNS.get(subject.family)
    sized = of_instances(subject)
    if columns is None or not sized:
        return None
    return table("sizes", f"Sizes of {subject.candidate} in bytes", columns, sized)


def _interface(name: str) -> Callable[[Sized], str]:
    return lambda sized: formats.whole(sized.interface.get(name))


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
    Family.KEX: (
        INSTANCE,
        Column("passes", passes, numeric=True),
        Column("messages (bytes)", messages, numeric=True),
        Column("total", messages_total, numeric=True),
        Column("long-term pk / sk", long_term_keys, numeric=True),
        Column("shared secret", _interface("ss_bytes"), numeric=True),
    ),
}
