"""Charts: which sets stand out, where names and lines stand, what is kept, and what a reader is told."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence import catalog, store
from evidence.operations import Family
from render import site
from render.charts import bars, plans, specs
from render.charts.draw import Drawer, Plan
from render.facts.counters import CORE_CYCLES
from render.facts.entry import Entry, of_report

ROWS = [
    {"name": "small", "bytes": 100, "cost": 5e6, "front": "front"},
    {"name": "fast & <slow>", "bytes": 9000, "cost": 1e4, "front": "others"},
]
POINTS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), max_size=12)


def _plan(rows: list[dict[str, Any]] = ROWS, title: str = "A <title>") -> Plan:
    return Plan("chart", title, "What it “shows” & says", specs.size_against_cost("size (bytes)", "mean cycles"), rows)


def test_the_front_by_hand() -> None:
    points = [(1, 9), (2, 9), (3, 5), (4, 5), (5, 1), (3, 5)]
    assert plans.front(points) == [True, False, True, False, True, True]


@given(POINTS)
def test_the_front_is_what_nothing_beats(points: list[tuple[float, float]]) -> None:
    for (x, y), best in zip(points, plans.front(points), strict=True):
        beaten = any(a <= x and b <= y and (a, b) != (x, y) for a, b in points)
        assert best != beaten


def test_names_keep_their_distance() -> None:
    places = plans.spread({"a": 10.0, "b": 10.0, "c": 1000.0}, least=0.5)
    assert places == {"a": 10.0, "b": pytest.approx(10**1.5), "c": pytest.approx(1000.0)}


@pytest.mark.parametrize(
    ("values", "ticks"),
    [([12, 4e5], [10.0, 100.0, 1e3, 1e4, 1e5, 1e6]), ([30, 70], [10.0, 20.0, 50.0, 100.0, 200.0, 500.0])],
)
def test_lines_of_a_logarithmic_axis(values: list[float], ticks: list[float]) -> None:
    assert specs.ticks(values) == ticks


def test_a_chart_is_one_line_with_words_and_the_page_s_colours() -> None:
    svg = Drawer(None).figure(_plan()).svg
    assert "\n" not in svg
    assert "<title" in svg
    assert "A &lt;title&gt;" in svg
    assert "“shows” &amp; says" in svg
    assert "var(--chart-1)" in svg
    assert "white" not in svg
    assert "graphics-symbol" not in svg
    assert "<script" not in svg


def test_hostile_names_stay_text() -> None:
    rows = [{**ROWS[0], "name": "<script>alert(1)</script>"}]
    svg = Drawer(None).figure(_plan(rows)).svg
    assert "<script" not in svg
    assert "&lt;script&gt;" in svg


def test_an_equal_chart_is_not_drawn_again(tmp_path: Path) -> None:
    first = Drawer(tmp_path / "charts")
    one = first.figure(_plan())
    assert first.drawn == 1
    second = Drawer(tmp_path / "charts")
    assert second.figure(_plan()) == one
    assert second.drawn == 0
    second.figure(_plan(title="Another title"))
    assert second.drawn == 0  # words are not part of the drawing
    second.figure(_plan([{**ROWS[0], "bytes": 101}]))
    assert second.drawn == 1


def test_drawing_twice_gives_the_same() -> None:
    assert Drawer(None).figure(_plan()) == Drawer(None).figure(_plan())


@pytest.fixture(scope="module")
def entries(committed: Path) -> list[Entry]:
    loaded = store.load_system(committed, "arm_1")
    present = {"arm_1": {key: built.kat.value for key, built in loaded.build.items()}}
    people = catalog.load(committed / "catalog")
    subject = site.system_subject(loaded, people, present)
    return [entry for report in site.subjects(subject, people, present) for entry in of_report(report)]


def test_the_chart_of_size_against_cost(entries: list[Entry]) -> None:
    at_128 = [entry for entry in entries if entry.level == 128]
    sign, verify = plans.size_against_cost(Family.SIGN, at_128, CORE_CYCLES)
    assert (sign.name, verify.name) == ("sign-size-sign", "sign-size-verify")
    assert [row["name"] for row in sign.rows if row["front"] == specs.FRONT[0]] == ["Origami-128", "QingLuan-128"]
    assert "QingLuan-128 (18797 B, 14.93 M)" in sign.told
    assert sign.rows[0]["unit"] == "cycles"


def test_one_set_alone_has_no_chart(entries: list[Entry]) -> None:
    assert plans.size_against_cost(Family.SIGN, entries[:1], None) == []


def test_the_bars_of_shares(entries: list[Entry]) -> None:
    found = plans.shares(Family.SIGN, [entry for entry in entries if entry.instance.label == "Tins128"])
    assert [(bar.operation, round(bar.hash_share, 3)) for bar in found] == [("sign", 0.21), ("verify", 0.219)]
    figure = bars.figure(Family.SIGN, found)
    assert figure is not None
    assert "Tins128 sign 21%" in figure.svg
    assert figure.csv.splitlines()[0] == "name,operation,hash_share,drng_share"
    assert bars.figure(Family.SIGN, []) is None
