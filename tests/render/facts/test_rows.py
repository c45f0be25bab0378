"""The tables of one system: order, types, and that absence stays None."""

from typing import Any

from evidence import store
from render.facts import rows
from render.facts.rows import InstanceRow, RecordRow


def test_labels_are_in_natural_order() -> None:
    assert sorted(["Tins1024", "Tins128", "Tins-2", "A10b", "A9b"], key=rows.natural) == [
        "A9b",
        "A10b",
        "Tins128",
        "Tins1024",
        "Tins-2",
    ]


def test_rows_are_in_page_order(local: Any) -> None:
    local.kem("kem-b", "L1024").kem("kem-b", "L128").kem("kem-a", "L1")
    built = rows.build(store.load_system(local.write(), "local"))
    found = [(r.candidate, r.label, r.operation) for r in rows.rows(built.records, RecordRow)]
    operations = ("keygen", "enc", "dec")
    assert found == [(c, n, o) for c, n in [("kem-a", "L1"), ("kem-b", "L128"), ("kem-b", "L1024")] for o in operations]


def test_figures_are_derived_and_whole_numbers_stay_whole(local: Any) -> None:
    built = rows.build(store.load_system(local.kem().write(), "local"))
    row = rows.rows(built.records, RecordRow)[0]
    assert (row.calls, row.trials, row.calls_per_trial, row.mean_count) == (50, 5, 10, 260_000)
    assert (row.call_p25, row.call_p50, row.call_p75) == (95.0, 100.0, 110.0)
    assert type(row.pk_bytes) is int
    assert row.signature_bytes is None
    assert len(built.processes) == 15


def test_a_table_without_rows_has_its_columns(local: Any) -> None:
    built = rows.build(store.load_system(local.instance("kem-x", "X").write(), "local"))
    assert list(built.records.columns) == list(RecordRow._fields)
    assert rows.by_candidate(built.records, RecordRow) == {}
    assert [row.label for row in rows.by_candidate(built.instances, InstanceRow)["kem-x"]] == ["X"]
