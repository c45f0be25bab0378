"""The method page: what a campaign's own account says, and its change log."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from evidence import store
from evidence.types import Change, ChangedFigure, ParallelControl, TimedWork
from render.facts.subject import CandidateSubject
from render.pages import method

Make = Callable[..., CandidateSubject]


@pytest.fixture
def lines(local: Any, subject: Make) -> Callable[..., dict[str, str]]:
    """Return a function that gives the page's lines on the plan, for a campaign with other fields."""

    def of(**changes: Any) -> dict[str, str]:
        report = subject(local.kem())
        loaded = store.load_system(local.write(), "local")
        campaign = msgspec.structs.replace(loaded.campaign, **changes)
        found = method.view(report.system._replace(campaign=campaign), loaded)["plan"]
        return {line.label: "".join(piece.text for piece in line.pieces) for line in found}

    return of


def test_the_share_of_timed_work_is_stated_where_it_is_known(lines: Callable[..., dict[str, str]]) -> None:
    assert "Timed work" not in lines()
    told = lines(timed_work=TimedWork(timed_s=90.0, wall_s=100.0))["Timed work"]
    assert told == "90.0% of 100 s of measuring was inside timed loops"


@pytest.mark.parametrize(("together_s", "text"), [(1.015, "1.50% longer than alone"), (0.99, "1.00% less than alone")])
def test_what_several_cores_do_is_stated(lines: Callable[..., dict[str, str]], together_s: float, text: str) -> None:
    control = ParallelControl(operation="kem-a/A enc", cpus=(2, 3), alone_s=1.0, together_s=together_s)
    told = lines(parallel_control=control)["Several cores"]
    assert told == f"a call of kem-a/A enc took {text} while cores 2, 3 all measured it"


def test_the_change_log_stands_with_the_latest_first(local: Any, subject: Make) -> None:
    report = subject(local.kem())
    loaded = store.load_system(local.write(), "local")
    first = Change(published_utc="2026-11-01T00:00:00+00:00", katalog_version="1", instances=1, records=3)
    slower = ChangedFigure(operation="kem-a/A enc", verdict="slower", ratio=1.1)
    later = msgspec.structs.replace(
        first, published_utc="2026-11-02T00:00:00+00:00", replaced_sha256="0" * 64, changed=(slower, slower)
    )
    table = method.view(report.system, loaded._replace(changes=(first, later)))["changes"]
    cells = [["".join(p.text for p in c.pieces) for c in (row.header, *row.cells)] for row in table.rows]
    assert cells == [
        ["2026-11-02T00:00:00", "1", "3", "2 slower"],
        ["2026-11-01T00:00:00", "1", "3", "first publication"],
    ]
