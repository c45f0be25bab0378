"""Section 5, Resource consumption."""

from collections.abc import Callable

from render.facts.rows import RecordRow, operation_text
from render.facts.subject import CandidateSubject
from render.look import formats
from render.look.table import Column, Content, Piece, Table, table


def view(subject: CandidateSubject) -> Table:
    """Return static size and resident memory of every operation."""
    static = {instance.label: instance.elf_load_bytes for instance in subject.instances}
    columns = (
        Column[RecordRow]("instance", lambda r: Piece(r.label, code=True)),
        Column[RecordRow]("operation", lambda r: operation_text(r.operation, r.input_bytes)),
        Column[RecordRow]("static: ELF image (bytes)", lambda r: formats.whole(static.get(r.label)), numeric=True),
        Column[RecordRow]("baseline RSS", _resident(lambda r: r.baseline_rss_bytes), numeric=True),
        Column[RecordRow]("peak RSS", _resident(lambda r: r.peak_rss_bytes), numeric=True),
    )
    return table("resources", f"Memory of {subject.candidate} on {subject.system.system_id}", columns, subject.records)


def _resident(pick: Callable[[RecordRow], int | None]) -> Callable[[RecordRow], Content]:
    return lambda r: Piece(formats.FAILED, alert=True) if r.status == "failed" else formats.kib(pick(r))
