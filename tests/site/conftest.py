"""The site as a reader gets it: rendered from the committed evidence and a hostile local system, built by MkDocs."""

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Browser, ConsoleMessage, sync_playwright
from playwright.sync_api import Page as Tab

from evidence import store
from evidence.types import Change, Changes, KatStatus, ProfileCall
from render import site

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Text that would do harm in HTML, in Markdown, in YAML or in a template, if any of them let it.
HOSTILE = (
    """<script>document.title="owned"</script><img src=x onerror=alert(1)>"'`"""
    "{{ 7*7 }}*_[x](javascript:alert(1)): # &lt;<!--part 1-->"
)


class Page(HTMLParser):
    """What a test asks of a page: its sections with text and tables, its links, its ids, its elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.sections: dict[str, Section] = {}
        self.links: list[tuple[str, str]] = []  # element, address
        self.ids: set[str] = set()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._section = Section()
        self._into: list[str] | None = None
        self._in_heading_link = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.elements.append((tag, given))
        if identity := given.get("id"):
            self.ids.add(identity)
        self.links += [(tag, given[name] or "") for name in ("href", "src") if name in given]
        if tag == "h2":
            self._into = []
        elif tag == "a" and "headerlink" in (given.get("class") or ""):
            self._in_heading_link = True
        elif tag == "li":
            self._section.lines.append("")
        elif tag == "table":
            self._section.tables.append([])
        elif tag == "tr" and self._section.tables:
            self._section.tables[-1].append([])
        elif tag in {"th", "td"} and self._section.tables and self._section.tables[-1]:
            self._into = []

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._in_heading_link = False
        if self._into is None:
            return
        text = " ".join("".join(self._into).split())
        if tag == "h2":
            self._section = self.sections[text] = Section()
            self._into = None
        elif tag in {"th", "td"}:
            self._section.tables[-1][-1].append(text)
            self._into = None

    def handle_data(self, data: str) -> None:
        if self._in_heading_link:
            return
        if self._into is not None:
            self._into.append(data)
        elif self._section.lines:
            self._section.lines[-1] += data


class Section:
    """One section: the lines of its lists, and its tables as rows of cell texts."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.tables: list[list[list[str]]] = []


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory, system_builder: Any) -> Path:
    """Return a data folder with the committed systems, a local one, and a candidate whose every text is hostile."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("catalog", "x86_1", "arm_1"):
        shutil.copytree(ROOT / "data" / name, folder / name)
    entry = {
        "id": "kem-hostile",
        "algorithm": HOSTILE,
        "sizes": {"H": {"public_key_bytes": 700, "basis": "fixed"}},
        "survey": {"verdict": HOSTILE, "note": HOSTILE},
        "footnotes": [{"instances": "", "action": "measure", "text": HOSTILE}],
    }
    (folder / "catalog" / "candidates" / "kem-hostile.yaml").write_text(yaml.safe_dump(entry))
    local = system_builder(folder, "local", host_problems=(HOSTILE,), history_note=HOSTILE, harness_additions=HOSTILE)
    local.kem().instance("kem-hostile", "H", variant=HOSTILE, guide_result=HOSTILE)
    local.record("kem-hostile", "H", "enc").record("kem-hostile", "H", "dec", status="failed", reason=HOSTILE)
    local.instance("kem-hostile", "Broken", kat=KatStatus.BUILDFAIL, flags=None, reason=HOSTILE)
    local.profile("kem-hostile", "H", "enc", status="failed", reason=HOSTILE)
    local.kex().hash_function("hash-x", "X-256", 256, 40.0).hash_function("hash-x", "X-512", 512, 60.0)
    for bits in (256, 512):
        local.hash_function("hash-iccs", f"pseudoXOF-{bits}", bits, 25.0)
    for level in (128, 192, 256, 512):
        local.sign("sign-four", f"Four-{level}")
        for operation in ("keygen", "sign", "verify"):
            calls = [
                ProfileCall(fn=fn, in_bits=256, out_bits=256, calls=30, ticks=ticks)
                for fn, ticks in (("shake128", 300), ("shake256", 450), ("randombytes", 20))
            ]
            roles: dict[str, Any] = {"shake128": "hash", "shake256": "hash", "randombytes": "drng"}
            local.profile("sign-four", f"Four-{level}", operation, *calls, roles=roles)
    local.write()
    _log_publication(folder)
    return folder


def _log_publication(folder: Path) -> None:
    """Give the local system a change log."""
    loaded = store.load_system(folder, "local")
    entry = Change(
        published_utc="2026-10-05T08:00:00+00:00",
        katalog_version="0.1.0",
        instances=len(loaded.build),
        records=len(loaded.records),
        replaced_sha256="0" * 64,
        note=HOSTILE,
    )
    changes = Changes(schema=3, entries=(entry,))
    store.write_atomically(folder / "local" / store.CHANGES, store.encode(changes))


def configuration(docs: Path, target: Path) -> str:
    """Return the project's configuration for a site made elsewhere."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    places = {"site_src": docs, "site_theme": ROOT / "site_theme", "site_dir: site": f"site_dir: {target}"}
    for ours, theirs in places.items():
        text = text.replace(ours, str(theirs))
    return text


@pytest.fixture(scope="session")
def built(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built site; the build must pass without a warning."""
    folder = tmp_path_factory.mktemp("site")
    docs = folder / "docs"
    shutil.copytree(ROOT / "site_src", docs, ignore=shutil.ignore_patterns("performance"))
    site.render(data, data / "catalog", docs / "performance", check=False)
    (folder / "mkdocs.yml").write_text(configuration(docs, folder / "site"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(folder / "mkdocs.yml")],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return folder / "site"


@pytest.fixture(scope="session")
def page(built: Path) -> Callable[[str], Page]:
    """Return a function that reads a built page, by its address below the site."""
    return lambda address: Page((built / address / "index.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def parse() -> Callable[[str], Page]:
    """Return the parser of pages."""
    return Page


@pytest.fixture(scope="session")
def hostile() -> str:
    """Return the hostile text."""
    return HOSTILE


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def address(built: Path) -> Iterator[str]:
    """Yield the address of a server of the built site on this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(built)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Yield a browser."""
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
def tab(browser: Browser, address: str) -> Iterator[Tab]:
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
