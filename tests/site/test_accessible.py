"""Every kind of page under axe: no serious fault, in both schemes."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.site.test_browser import KINDS

pytestmark = pytest.mark.slow
SERIOUS = {"serious", "critical"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_no_serious_fault(tab: Page, address: str, kind: str, scheme: Any) -> None:
    tab.emulate_media(color_scheme=scheme)
    tab.goto(address + KINDS[kind])
    tab.wait_for_load_state("networkidle")
    found = Axe().run(tab).response["violations"]
    told = [
        f"{fault['id']} ({fault['impact']}): {node['html'][:160]} {node['failureSummary'][:300]}"
        for fault in found
        if fault["impact"] in SERIOUS
        for node in fault["nodes"][:3]
    ]
    assert told == []
