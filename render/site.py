"""The whole site: loads one system at a time, renders its pages, and writes them when all evidence is sound."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from evidence import catalog as catalogs
from evidence import store, verify
from evidence.catalog import Catalog
from evidence.faults import Fault, FaultyError
from evidence.types import Build, Change
from render.charts.draw import Drawer
from render.downloads import feed
from render.downloads.offer import Downloads
from render.facts import environment, overview, rows
from render.facts.entry import of_report
from render.facts.marks import rules
from render.facts.marks.scene import Look, Raised, Scene
from render.facts.overview import Overview
from render.facts.ranking import groups
from render.facts.rows import InstanceRow, ProfileRow, RecordRow
from render.facts.subject import CandidateSubject, SystemLink, SystemSubject
from render.output import assets
from render.output.write import Counts, Writer
from render.pages import (
    candidate,
    compare,
    method,
    notes,
    ranking,
    size_audit,
    start,
    summary,
    symmetric_survey,
    systems,
)

# <candidate>/<label> -> status of its known-answer test
KatResults = dict[str, str]
# Names that addresses below the site's folder use for other things than systems.
RESERVED = frozenset({"assets", "compare", "data", "downloads", "notes", "size-audit", "symmetric-survey"})


class Result(NamedTuple):
    """What a run did; ``changed`` and ``stale`` name files below the output folder."""

    counts: Counts
    changed: list[str]
    stale: list[str]


class Across(NamedTuple):
    """What pages about all systems say of each one; it outlives the system's evidence, so it is small."""

    overviews: list[Overview]
    uses: list[symmetric_survey.Use]
    audited: list[size_audit.Audited]
    logs: dict[str, tuple[Change, ...]]  # change log by system


class Whole(NamedTuple):
    """What every system's pages need besides its evidence."""

    catalog: Catalog
    present: Mapping[str, KatResults]
    across: Across
    drawer: Drawer
    downloads: Downloads


def render(data: Path, catalog_folder: Path, out: Path, *, check: bool, cache: Path | None = None) -> Result:
    """Render all pages and copy the evidence that they link. ``cache`` keeps charts for the next run.

    Raises:
        FaultyError: with all faults of catalog and evidence; nothing is written then.
        OSError: when a folder cannot be read or written.
    """
    faults: list[Fault] = []
    sound_catalog = _catalog(catalog_folder, faults)
    catalog = sound_catalog or Catalog({}, {})
    present = _kat_by_system(data, catalog)
    across = Across([], [], [], {})
    with Writer(out, check=check) as writer:
        downloads = Downloads(writer, cache)
        whole = Whole(catalog, present, across, Drawer(cache / "charts" if cache else None), downloads)
        for system_id in present:
            loaded = _sound(data, system_id, sound_catalog, faults)
            if loaded and not faults:
                _offer_system(writer, loaded, whole)
        if faults:
            raise FaultyError(faults)
        for place, file in assets.libraries().items():
            writer.offer_copy(place, file)
        writer.offer(compare.PATH, compare.render(across.overviews))
        downloads.page_tables("symmetric-survey", symmetric_survey.tables(across.uses, catalog))
        downloads.page_tables("size-audit", size_audit.tables(across.audited))
        downloads.finish()
        writer.offer(feed.PATH, feed.render(downloads.systems, across.logs))
        writer.offer(start.PATH, start.render(across.overviews))
        writer.offer("index.md", systems.render(across.overviews, catalog))
        writer.offer(symmetric_survey.PATH, symmetric_survey.render(across.uses, catalog))
        writer.offer(size_audit.PATH, size_audit.render(across.audited))
        writer.offer(notes.PATH, notes.render())
        stale = writer.stale
        return Result(writer.commit(), writer.changed, stale)


def _catalog(folder: Path, faults: list[Fault]) -> Catalog | None:
    try:
        return catalogs.load(folder)
    except FaultyError as error:
        faults.extend(error.faults)
        return None


def _kat_by_system(data: Path, catalog: Catalog) -> dict[str, KatResults]:
    """Return every system with evidence and its instances: registered systems first, in catalog order."""
    found = store.systems(data)
    ordered = [name for name in catalog.systems if name in found]
    ordered += [name for name in found if name not in catalog.systems]
    return {name: _kat_results(data, name) for name in ordered}


def _kat_results(data: Path, system_id: str) -> KatResults:
    build = store.Loader(data).load(data / system_id / "build.json", Build)
    return {key: built.kat.value for key, built in build.instances.items()} if build else {}


def _sound(data: Path, system_id: str, catalog: Catalog | None, faults: list[Fault]) -> store.SystemEvidence | None:
    """Return a system's evidence after noting what is wrong with it; None if it cannot be read."""
    try:
        loaded = store.load_system(data, system_id)
    except FaultyError as error:
        faults.extend(error.faults)
        return None
    faults.extend(_unservable(loaded))
    if catalog:  # without it every host name would count as one that must not be shown
        faults.extend(verify.system_faults(loaded, catalog))
    return loaded


def _unservable(loaded: store.SystemEvidence) -> Iterator[Fault]:
    """Yield names that would collide with addresses of the site, or be taken for pages."""
    if loaded.system_id in RESERVED:
        yield Fault(loaded.system_id, "", "is a name that the site uses otherwise")
    for key, built in loaded.build.items():
        if built.kat_log and not (built.kat_log.startswith("kat/") and built.kat_log.endswith(".log")):
            yield Fault(f"{loaded.system_id}/build.json", f"$.instances.{key}.kat_log", "must be kat/….log")


def system_subject(loaded: store.SystemEvidence, catalog: Catalog, present: Mapping[str, KatResults]) -> SystemSubject:
    """Return the subject of a system's pages: its evidence as tables, and the notes that it raises."""
    shown = environment.campaign_environment(loaded.records, loaded.campaign)
    looks = [Look.of(record) for record in rows.in_page_order(loaded.records)]
    scene = Scene(loaded.system_id, looks, shown.cpu_number, loaded.campaign.planning.trials, present)
    return SystemSubject(
        loaded.system_id,
        catalog.systems.get(loaded.system_id),
        loaded.campaign,
        shown,
        rows.build(loaded),
        rules.find(scene),
    )


def _offer_system(writer: Writer, loaded: store.SystemEvidence, whole: Whole) -> None:
    subject = system_subject(loaded, whole.catalog, whole.present)
    reports = list(subjects(subject, whole.catalog, whole.present))
    for report in reports:
        writer.offer(candidate.path(report), candidate.render(report))
    entries = [entry for report in reports for entry in of_report(report)]
    rankings = groups(entries)
    writer.offer(summary.path(subject), summary.render(subject, entries, list(rankings)))
    for path, text in ranking.pages(subject, entries, rankings, whole.drawer):
        writer.offer(path, text)
    whole.downloads.system(subject, entries, rankings, loaded)
    writer.offer(method.path(subject), method.render(subject, loaded))
    for file in _files(loaded):
        writer.offer_copy(f"data/{loaded.system_id}/{file}", loaded.folder / file)
    across = whole.across
    across.overviews.append(overview.of_system(subject, reports))
    across.logs[loaded.system_id] = loaded.changes
    across.uses.extend(map(symmetric_survey.of_report, reports))
    across.audited.extend(audited for report in reports for audited in size_audit.of_report(report))


def subjects(system: SystemSubject, catalog: Catalog, present: Mapping[str, KatResults]) -> Iterator[CandidateSubject]:
    """Yield the subject of every candidate's page, by candidate id."""
    instances = rows.by_candidate(system.frames.instances, InstanceRow)
    records = rows.by_candidate(system.frames.records, RecordRow)
    profiles = rows.by_candidate(system.frames.profiles, ProfileRow)
    notes: dict[str, list[Raised]] = {}
    for note in system.notes:
        notes.setdefault(note.candidate, []).append(note)
    with_page = {name: frozenset(key.partition("/")[0] for key in results) for name, results in present.items()}
    for name, built in instances.items():
        yield CandidateSubject(
            name,
            catalog.candidates.get(name),
            system,
            _links(name, system.system_id, catalog, with_page),
            tuple(built),
            tuple(records.get(name, ())),
            tuple(profiles.get(name, ())),
            tuple(notes.get(name, ())),
        )


def _links(name: str, here: str, catalog: Catalog, present: Mapping[str, frozenset[str]]) -> tuple[SystemLink, ...]:
    """Return all registered systems, and those others that have a page of this candidate."""
    others = [system_id for system_id in present if system_id not in catalog.systems and name in present[system_id]]
    return tuple(
        SystemLink(
            system_id,
            f"../../{system_id}/{name}/" if name in present.get(system_id, ()) else "",
            system_id == here,
            system_id in catalog.systems,
        )
        for system_id in (*catalog.systems, *others)
    )


def _files(loaded: store.SystemEvidence) -> Iterator[str]:
    """Yield the evidence files that pages link, as paths below the system's folder."""
    yield from ("campaign.json", "build.json")
    yield from (name for name in (store.CHANGES, store.MANIFEST) if name in loaded.files)
    yield from dict.fromkeys(built.kat_log for built in loaded.build.values() if built.kat_log)
    yield from map(store.record_path, loaded.records)
    yield from map(store.profile_path, loaded.profiles)
