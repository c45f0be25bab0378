"""The size audit: where catalog, interface and what calls returned disagree about a size, over all systems."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from evidence.catalog import ExternalSizes
from evidence.operations import Family
from render.facts import sizes
from render.facts.rows import natural
from render.facts.sizes import Sized
from render.facts.subject import CandidateSubject
from render.look import formats, templating
from render.look.table import Column, Content, Piece, Table, table

PATH = "size-audit/index.md"
# What is compared: its name here, in the interface, and in the catalog where people can state it.
ITEMS = (
    ("public key", "pk_bytes", "public_key_bytes"),
    ("secret key", "sk_bytes", ""),
    ("ciphertext", "ct_bytes", "ciphertext_bytes"),
    ("signature", "signature_bytes", "signature_bytes"),
    ("shared secret", "ss_bytes", ""),
)
MESSAGES = "all messages"
# A signature may be shorter than the length that the interface declares, which is then an upper bound.
SHORTER_IS_FINE = frozenset({"signature"})


class Item(NamedTuple):
    """One size of one instance, from the sources that tell it."""

    candidate: str
    label: str
    what: str
    stated: int | None
    stated_text: str
    interface: int | None
    returned: int | None
    is_maximum: bool


class Audited(NamedTuple):
    """One size as one system saw it."""

    item: Item
    system_id: str


class Disagreement(NamedTuple):
    """One size about which sources disagree, and the systems that saw these figures."""

    item: Item
    systems: tuple[str, ...]


def of_report(report: CandidateSubject) -> list[Audited]:
    """Return every size of a candidate that at least two sources tell."""
    items = [item for sized in sizes.of_instances(report) for item in _items(report, sized)]
    return [Audited(item, report.system.system_id) for item in items if _pairs(item)]


def disagrees(item: Item) -> bool:
    """Return whether any two sources disagree."""
    return not all(_pairs(item))


def view(audited: Sequence[Audited]) -> dict[str, Any]:
    """Return the page's view model."""
    seen: dict[Item, list[str]] = {}
    for item, system_id in audited:
        seen.setdefault(item, []).append(system_id)
    verdicts = [agrees for item in seen for agrees in _pairs(item)]
    found = [Disagreement(item, tuple(dict.fromkeys(ids))) for item, ids in seen.items() if disagrees(item)]
    return {
        "title": "Size audit",
        "table": _table(sorted(found, key=_page_order)),
        "compared": len(verdicts),
        "agreed": sum(verdicts),
    }


def tables(audited: Sequence[Audited]) -> list[Table]:
    """Return the tables of the page."""
    return [view(audited)["table"]]


def render(audited: Sequence[Audited]) -> str:
    """Return the page as Markdown that holds HTML."""
    return templating.render("size_audit.md.j2", view(audited))


def _items(report: CandidateSubject, sized: Sized) -> Iterator[Item]:
    external = sized.external
    for what, name, stated_name in ITEMS:
        stated = getattr(external, stated_name) if external and stated_name else None
        text = _stated_text(stated, external, what)
        is_maximum = stated is not None and external is not None and external.basis == "maximum-variable"
        yield Item(
            report.candidate,
            sized.label,
            what,
            stated,
            text,
            sized.interface.get(name),
            sized.returned.get(name),
            is_maximum and what != "public key",
        )
    if report.family is Family.KEX:
        declared, seen = sized.interface.get("kex_declared_bytes"), sized.message_bytes
        total = None if seen is None else sum(seen)
        yield Item(report.candidate, sized.label, MESSAGES, None, formats.ABSENT, declared, total, is_maximum=False)


def _stated_text(stated: int | None, external: ExternalSizes | None, what: str) -> str:
    """Return what the catalog states; a basis concerns what varies, never the public key."""
    if stated is None or external is None or what == "public key":
        return formats.whole(stated)
    return sizes.with_basis(stated, external)


def _pairs(item: Item) -> list[bool]:
    """Return for every two sources that can be compared whether they agree."""
    found = []
    if item.stated is not None and item.interface is not None:
        found.append(item.stated == item.interface)
    if item.interface is not None and item.returned is not None:
        shorter = item.what in SHORTER_IS_FINE and item.returned < item.interface
        found.append(shorter or item.returned == item.interface)
    if item.is_maximum and item.stated is not None and item.returned is not None:
        found.append(item.returned <= item.stated)
    return found


def _page_order(found: Disagreement) -> tuple[Any, ...]:
    item = found.item
    return natural(item.candidate), natural(item.label), item.what, found.systems


def _table(found: Iterable[Disagreement]) -> Table:
    columns = (
        Column[Disagreement]("candidate", _candidate),
        Column[Disagreement]("instance", lambda d: Piece(d.item.label, code=True)),
        Column[Disagreement]("size of", lambda d: d.item.what),
        Column[Disagreement]("catalog", lambda d: d.item.stated_text, numeric=True),
        Column[Disagreement]("interface", lambda d: formats.whole(d.item.interface), numeric=True),
        Column[Disagreement]("returned (longest)", lambda d: formats.whole(d.item.returned), numeric=True),
        Column[Disagreement]("seen on", lambda d: ", ".join(d.systems)),
    )
    return table("sizes", "Sizes in bytes about which sources disagree", columns, found)


def _candidate(found: Disagreement) -> Content:
    return Piece(found.item.candidate, f"../{found.systems[0]}/{found.item.candidate}/")
