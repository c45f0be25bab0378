"""The change log of a system in words."""

from collections import Counter

from evidence.types import Change


def change_text(change: Change) -> str:
    """Say in a few words what a publication changed."""
    if change.note:
        return change.note
    if change.replaced_sha256 is None and not change.changed:
        return "first publication"
    counts = Counter(figure.verdict for figure in change.changed)
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())) or "no figure beyond noise"
