"""The Atom feed of campaigns: one entry for each system and state of its evidence.

An entry's id holds a digest of what the pages are made from, so that changed figures are a new entry. It is dated by
the campaign; nothing in it depends on when the site is made. Links are relative to the feed.
"""

from collections.abc import Sequence
from typing import NamedTuple

from render import templating
from render.downloads.index import SystemFiles

PATH = "feed.xml"
EVERYTHING = ("everything", "CSV")


class Entry(NamedTuple):
    """One entry of the feed."""

    identity: str
    title: str
    href: str
    updated: str
    summary: str


def render(systems: Sequence[SystemFiles]) -> str:
    """Return the feed, the latest campaign first."""
    entries = sorted(
        (_entry(system) for system in systems), key=lambda entry: (entry.updated, entry.href), reverse=True
    )
    updated = entries[0].updated if entries else "1970-01-01T00:00:00Z"
    return templating.render("feed.xml.j2", {"entries": entries, "updated": updated})


def _entry(system: SystemFiles) -> Entry:
    figures = next(file for file in system.files if (file.table, file.format) == EVERYTHING)
    instances = next(file for file in system.files if file.table == "instances")
    started, ended = system.started_utc, system.ended_utc or system.started_utc
    return Entry(
        f"urn:katalog:{system.system_id}:{figures.sha256[:32]}",
        f"{system.system_id}: {instances.rows} parameter sets on {system.architecture}",
        f"{system.system_id}/",
        f"{ended[:19]}Z",
        f"{system.description}. Campaign from {started[:10]} to {ended[:10]}: {figures.rows} timed operations.",
    )
