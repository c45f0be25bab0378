"""What the text formats share: values that operations return, and how they fail."""

from typing import NamedTuple


class OperationFailedError(Exception):
    """An operation of the scheme fails, or its result contradicts an earlier one; ``str()`` says which and how."""


class KeyPair(NamedTuple):
    """Public and secret key."""

    pk: bytes
    sk: bytes


class Encapsulated(NamedTuple):
    """Ciphertext and shared secret."""

    ct: bytes
    ss: bytes
