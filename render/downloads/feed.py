"""The Atom feed of campaigns and of the figures that they changed.

A system with a change log has one entry for each publication in it. Published evidence of the older schema has no log:
there the entry's id holds a digest of what the pages are made from, so that changed figures are a new entry, and it is
dated by the campaign. Nothing depends on when the site is made. Links are relative to the feed.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from evidence.types import Change, ChangedFigure
from render.downloads.index import SystemFiles
from render.facts.changes import change_text
from render.look import templating

PATH = "feed.xml"
EVERYTHING = ("everything", "CSV")
FIGURES_NAMED = 20


class Entry(NamedTuple):
    """One entry of the feed."""

    identity: str
    title: str
    href: str
    updated: str
    summary: str


def render(systems: Sequence[SystemFiles], logs: Mapping[str, Sequence[Change]]) -> str:
    """Return the feed, the latest campaign first; ``logs`` are the change logs by system."""
    found = [entry for system in systems for entry in _entries(system, logs.get(system.system_id, ()))]
    entries = sorted(found, key=lambda entry: (entry.updated, entry.href), reverse=True)
    updated = entries[0].updated if entries else "1970-01-01T00:00:00Z"
    return templating.render("feed.xml.j2", {"entries": entries, "updated": updated})


def _entries(system: SystemFiles, log: Sequence[Change]) -> Iterator[Entry]:
    if not log:
        yield _campaign(system)
    for change in log:
        yield _publication(system, change)


def _campaign(system: SystemFiles) -> Entry:
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


def _publication(system: SystemFiles, change: Change) -> Entry:
    return Entry(
        f"urn:katalog:{system.system_id}:{change.published_utc}",
        f"{system.system_id}: {change_text(change)}",
        f"{system.system_id}/",
        f"{change.published_utc[:19]}Z",
        f"{system.description}. {change.instances} parameter sets, {change.records} timed operations on "
        f"{system.architecture}.{_named(change.changed)}",
    )


def _named(changed: Sequence[ChangedFigure]) -> str:
    """Name the changed figures, those that changed most first."""
    if not changed:
        return ""
    most = sorted(changed, key=lambda one: -max(one.ratio or 0, 1 / one.ratio if one.ratio else 0))
    named = [f"{one.operation} {one.verdict}{f' ({one.ratio:.2f}×)' if one.ratio else ''}" for one in most]
    more = f", and {len(named) - FIGURES_NAMED} more" if len(named) > FIGURES_NAMED else ""
    return f" Changed: {', '.join(named[:FIGURES_NAMED])}{more}."
