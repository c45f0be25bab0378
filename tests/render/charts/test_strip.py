"""The picture of single calls: what its axis spans, where its marks stand, and its words."""

import re
import xml.etree.ElementTree as ET

import pytest

from evidence.derive import CallQuantiles
from render.charts import strip
from render.look import formats

CALLS = CallQuantiles(500, 90.0, 100.0, 110.0, 120.0, 130.0, 160.0, 5000.0)


def test_the_axis_holds_most_calls_and_all_trial_means() -> None:
    axis = strip.span(CALLS, (125.0, 190.0))
    assert (axis.start, axis.end) == (90.0, 220.0)  # a third of 190 - 100 on either side, not below the least call
    assert (axis.below, axis.above) == (False, True)
    assert not axis.logarithmic


def test_the_whole_is_shown_where_nothing_lies_far_out() -> None:
    axis = strip.span(CALLS._replace(max=170.0), (125.0,))
    assert (axis.start, axis.end, axis.below, axis.above) == (90.0, 170.0, False, False)


@pytest.mark.parametrize(("p95", "logarithmic"), [(200.0, False), (400.0, True)])
def test_the_axis_is_logarithmic_from_three_times(p95: float, logarithmic: bool) -> None:
    assert strip.span(CALLS._replace(p95=p95), (125.0,)).logarithmic is logarithmic


def test_places_on_a_linear_and_on_a_logarithmic_axis() -> None:
    linear = strip.Axis(100.0, 200.0, below=False, above=False)
    assert [linear.x(value) for value in (100, 150, 200, 900)] == [4, 90, 176, 176]
    logarithmic = strip.Axis(100.0, 10_000.0, below=False, above=False)
    assert [round(logarithmic.x(value), 6) for value in (50, 100, 1000, 10_000)] == [4, 4, 90, 176]
    assert strip.Axis(5.0, 5.0, below=False, above=False).x(5.0) == 90
    assert strip.Axis(0.0, 10.0, below=False, above=False).x(5.0) == 90


def test_the_picture_says_in_words_what_it_shows() -> None:
    svg = strip.picture("K <512>", CALLS, (125.0, 190.0), formats.count)
    root = ET.fromstring(svg)
    assert root.find("title") is not None
    assert [node.text for node in root][:2] == [
        "K <512>, linear axis from 90 to 220",
        "90 to 5000, half of all 110 to 130, median 120; trial means 125, 190",
    ]
    assert root.attrib["role"] == "img"
    assert len(svg) < 700
    assert "\n" not in svg


def test_marks_stand_in_order_within_the_picture() -> None:
    placed = strip.place("K", CALLS, (125.0, 190.0), formats.count)
    places = [float(mark) for mark in placed.marks]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (4, 176)
    assert placed.box == f"{(130 - 110) / 130 * 172:.1f}"
    assert placed.means == (f"{4 + 35 / 130 * 172:.1f}", f"{4 + 100 / 130 * 172:.1f}")


def test_equal_costs_have_a_box_that_can_be_seen() -> None:
    svg = strip.picture("K", CallQuantiles(5, *(7.0,) * 7), (7.0,) * 5, formats.count)
    assert re.search(r'<rect x="90" y="2" width="1"', svg)
