"""The site in a browser: nothing from elsewhere, no errors, evidence opens, small screens, both schemes."""

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

pytestmark = pytest.mark.slow
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
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
    "notes": "performance/notes/",
    "audit": "performance/size-audit/",
    "survey": "performance/symmetric-survey/",
    "hostile": "performance/local/kem-hostile/",
}


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address(built: Path) -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(built)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine; install the package chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


def _is_fault(message: ConsoleMessage) -> bool:
    # For a bare JSON file the browser asks the server for an icon of its own accord.
    return message.type == "error" and not message.location["url"].endswith("/favicon.ico")


@pytest.fixture
def tab(browser: Browser, address: str) -> Iterator[Page]:
    """Return a tab that notes faults, and fails the test if there were any."""
    faults: list[str] = []
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    opened.on("console", lambda message: faults.append(message.text) if _is_fault(message) else None)
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on(
        "request", lambda asked: None if asked.url.startswith((address, "data:", "blob:")) else faults.append(asked.url)
    )
    yield opened
    opened.close()
    assert faults == []


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
