"""Hash functions beside pseudoXOF of the same width and length, and what is said where it was not measured."""

from collections.abc import Callable
from typing import Any

from render.facts import entry
from render.facts.counters import Kind
from render.facts.entry import Entry
from render.facts.subject import CandidateSubject
from render.look.table import Table
from render.pages import summary
from render.pages.sections import hash_baseline

Make = Callable[..., CandidateSubject]
TICKS = Kind("reference cycles", "TSC")


def _cells(table: Table) -> list[list[str]]:
    return [["".join(p.text for p in c.pieces) for c in (row.header, *row.cells)] for row in table.rows]


def _entries(local: Any, subject: Make, *candidates: str) -> list[Entry]:
    return [each for name in candidates for each in entry.of_report(subject(local, name))]


def test_costs_are_multiples_of_the_same_width_and_length(local: Any, subject: Make) -> None:
    local.hash_function("hash-x", "X-256", 256, 50.0).hash_function("hash-x", "X-384", 384, 50.0)
    local.hash_function("hash-iccs", "pseudoXOF-256", 256, 25.0).hash_function("hash-iccs", "sm3hash-256", 256, 20.0)
    table = hash_baseline.table_of(_entries(local, subject, "hash-iccs", "hash-x"), TICKS)
    assert table is not None
    assert [head.title for head in table.heads] == [
        "candidate", "instance", "baseline",
        "32 B", "128 B", "512 B", "1024 B", "4096 B", "8192 B", "16384 B", "65536 B",
    ]  # fmt: skip
    assert [row[1:5] + row[-1:] for row in _cells(table)] == [
        ["sm3hash-256", "pseudoXOF-256", "0.94×", "0.88×", "0.80×"],
        ["X-256", "pseudoXOF-256", "1.29×", "1.62×", "2.00×"],
        ["X-384", "pseudoXOF-384", "–", "–", "–"],
    ]


def test_times_are_compared_where_records_share_no_counter(local: Any, subject: Make) -> None:
    local.hash_function("hash-x", "X-256", 256, 50.0).hash_function("hash-iccs", "pseudoXOF-256", 256, 25.0)
    table = hash_baseline.table_of(_entries(local, subject, "hash-iccs", "hash-x"), None)
    assert table is not None
    assert table.caption.startswith("Hash functions: time of one call")
    assert _cells(table)[0][-1] == "2.00×"


def test_without_the_baseline_there_is_no_table_and_the_page_says_why(local: Any, subject: Make) -> None:
    local.hash_function("hash-x", "pseudoXOF-256", 256, 50.0)
    report = subject(local, "hash-x")
    assert hash_baseline.table_of(entry.of_report(report), TICKS) is None
    page = summary.render(report.system, entry.of_report(report))
    assert "were not measured on this system, so that costs relative to pseudoXOF are not given" in page
