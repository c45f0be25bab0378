"""Writes the downloads: the files of one system at a time, then what is about all."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from evidence.store import SystemEvidence
from render.downloads import archive, csvtext, index, parquet, sets, tables
from render.downloads.index import File, SystemFiles
from render.facts import environment
from render.facts.entry import Entry
from render.facts.ranking import Group
from render.facts.subject import SystemSubject
from render.look.table import Table
from render.output.write import Writer


class Downloads:
    """Offers files to the writer and remembers them for the index. ``cache`` keeps archives for the next run."""

    def __init__(self, writer: Writer, cache: Path | None) -> None:
        self.writer = writer
        self.cache = cache
        self.systems: list[SystemFiles] = []
        self.across: list[File] = []

    def system(
        self,
        subject: SystemSubject,
        entries: Sequence[Entry],
        rankings: Mapping[int, Sequence[Group]],
        loaded: SystemEvidence,
    ) -> None:
        """Offer all files of one system."""
        name = subject.system_id
        files: list[File] = []
        for table, rows in tables.of_system(subject, entries, rankings).items():
            files += self._table(f"{name}/{table}", table, rows)
            if table == "everything":
                files.append(self._take(f"{name}/{table}.parquet", table, "Parquet", len(rows), parquet.of_rows(rows)))
        files.append(
            self._take(f"{name}/sets.json", "sets", "JSON", len(entries), sets.document(subject, entries).encode())
        )
        files.append(self._archive(loaded))
        self.systems.append(
            SystemFiles(
                name,
                subject.entry is not None,
                subject.architecture_text,
                subject.entry.description if subject.entry else environment.processor_text(subject.environment),
                subject.campaign.started_utc,
                subject.campaign.ended_utc,
                files,
            )
        )

    def page_tables(self, name: str, found: Sequence[Table]) -> None:
        """Offer the tables of a page about all systems, one below the other, as the page shows them."""
        self.across += self._table(name, name, [row for each in found for row in csvtext.rows_of_table(each)])

    def finish(self) -> None:
        """Offer the index, for programs and for people."""
        self.writer.offer(index.INDEX, index.document(self.systems, self.across))
        self.writer.offer(index.PAGE, index.page(self.systems, self.across))

    def _table(self, path: str, name: str, rows: tables.Rows) -> list[File]:
        text = csvtext.of_rows(rows, () if rows else tables.COLUMNS.get(name, ()))
        return [
            self._take(f"{path}.csv", name, "CSV", len(rows), text.encode()),
            self._take(f"{path}.json", name, "JSON", len(rows), csvtext.json_of_rows(rows).encode()),
        ]

    def _take(self, path: str, name: str, form: str, rows: int | None, content: bytes) -> File:
        self.writer.offer(f"downloads/{path}", content)
        return index.file(path, name, form, rows, content)

    def _archive(self, loaded: SystemEvidence) -> File:
        path = f"{loaded.system_id}/evidence.tar.gz"
        with tempfile.TemporaryDirectory() as passing:
            # What is kept is trusted by size and time; a check makes it anew.
            kept = self.cache / "archives" if self.cache and not self.writer.check else Path(passing)
            made = archive.make(loaded.folder, loaded.files, loaded.system_id, kept)
            self.writer.offer_copy(f"downloads/{path}", made)
            return index.file(path, "evidence", "tar.gz", None, made.read_bytes())
