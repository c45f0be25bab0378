"""The clock command tells how fast the core runs, with whatever counter there is."""

import statistics

import pytest


def test_the_clock_is_told_window_by_window(driver):
    ended = driver("clock", "--cpu", "0")
    rates_hz = ended.document["clock_hz"]
    assert len(rates_hz) == 25
    assert ended.document["counter"]["name"]
    # Other programs may have had the core for a while, but not faster than it is.
    assert 1e8 < statistics.quantiles(rates_hz)[2] < 1e10


def test_a_counter_that_is_asked_for_is_taken(driver):
    assert driver("clock", "--cpu", "0", "--counter", "clock").document["counter"]["name"] == "clock"


@pytest.mark.parametrize(("words", "status"), [([], 2), (["--cpu", "99999"], 15)])
def test_a_core_that_is_none_is_refused(driver, words, status):
    assert driver("clock", *words).status == status
