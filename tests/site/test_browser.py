"""The site in a browser: nothing from elsewhere, no errors, evidence opens, small screens, both schemes."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.slow
SCREENSHOTS = Path(__file__).parent / "screenshots"
KINDS = {
    "start": "",
    "systems": "performance/",
    "summary": "performance/arm_1/",
    "method": "performance/arm_1/method/",
    "candidate": "performance/arm_1/sign-29/",
    "local": "performance/local/kem-kyber/",
    "kex": "performance/local/kex-triple/",
    "hash": "performance/local/hash-x/",
    "four": "performance/local/sign-four/",
    "local-summary": "performance/local/",
    "ranking": "performance/arm_1/ranking-128/",
    "local-ranking": "performance/local/ranking-256/",
    "compare": "performance/compare/?set=arm_1/sign-18/Origami-128&set=arm_1/sign-20/QingLuan-128"
    "&set=x86_1/sign-16/Octarine-128&base=1",
    "downloads": "performance/downloads/",
    "documentation": "docs/",
    "tutorial": "docs/tutorial/",
    "reference": "docs/reference/evidence/",
    "missing": "404.html",
    "notes": "performance/notes/",
    "audit": "performance/size-audit/",
    "survey": "performance/symmetric-survey/",
    "hostile": "performance/local/kem-hostile/",
}


@pytest.mark.parametrize("kind", KINDS)
def test_pages_open_without_errors_and_without_the_rest_of_the_world(tab: Page, address: str, kind: str) -> None:
    answer = tab.goto(address + KINDS[kind])
    assert answer is not None
    assert answer.ok
    assert tab.locator("h1").count() == 1
    tab.wait_for_load_state("networkidle")
    assert tab.title() != "owned"


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_scrolls_sideways_on_a_small_screen(tab: Page, address: str, kind: str) -> None:
    tab.set_viewport_size({"width": 360, "height": 740})
    tab.goto(address + KINDS[kind])
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("width", [1280, 1920])
def test_no_table_leaves_its_column_on_a_large_screen(tab: Page, address: str, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 900})
    for kind in ("candidate", "local", "method", "summary"):
        tab.goto(address + KINDS[kind])
        over = "[...document.querySelectorAll('.table-box')].filter(b => b.scrollWidth > b.clientWidth + 1).length"
        assert tab.evaluate(over) == 0, kind


def test_evidence_opens_from_the_page(tab: Page, address: str) -> None:
    tab.goto(address + KINDS["candidate"])
    links = tab.locator("table.evidence a")
    assert links.count() == 21
    for href in links.evaluate_all("all => all.map(a => a.href)"):
        assert tab.request.get(href).ok
    tab.get_by_role("link", name="records/sign-29/Tins128__verify.json").click()
    assert '"verify_rejections"' in tab.content()


def test_search_finds_a_candidate(tab: Page, address: str) -> None:
    tab.goto(address)
    tab.locator("input.md-search__input").click()
    tab.keyboard.type("Octarine")
    tab.locator(".md-search-result__link").first.wait_for()
    assert "sign-16" in tab.locator(".md-search-result__link").first.inner_text()


def test_the_scheme_can_be_switched(tab: Page, address: str) -> None:
    tab.emulate_media(color_scheme="light")
    tab.goto(address)
    scheme = "document.body.getAttribute('data-md-color-scheme')"
    assert tab.evaluate(scheme) == "default"
    tab.locator("label.md-header__button[for=__palette_1]").click()
    assert tab.evaluate(scheme) == "slate"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screenshots_for_people_to_look_at(tab: Page, address: str, scheme: Any) -> None:
    SCREENSHOTS.mkdir(exist_ok=True)
    tab.emulate_media(color_scheme=scheme)
    for kind, path in KINDS.items():
        tab.goto(address + path)
        tab.screenshot(path=SCREENSHOTS / f"{kind}-{scheme}.png", full_page=True)
        assert (SCREENSHOTS / f"{kind}-{scheme}.png").stat().st_size > 10_000
