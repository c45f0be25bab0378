"""Built pages: links, what search finds, and that no text of a candidate becomes markup."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

# The theme, and what the documentation names.
ELSEWHERE = ("https://squidfunk.github.io", "https://distributed.dask.org")


def _html(built: Path) -> Iterator[Path]:
    yield from sorted(built.rglob("*.html"))


def _target(built: Path, file: Path, path: str) -> Path:
    """Return the file that a link names, as a web server would find it."""
    base = built if path.startswith("/") else file.parent
    target = base / unquote(path).lstrip("/") if path else file
    return target / "index.html" if target.is_dir() else target


def test_every_link_leads_somewhere(built: Path, parse: Callable[[str], Any]) -> None:
    pages = {file: parse(file.read_text(encoding="utf-8")) for file in _html(built)}
    broken = []
    for file, page in pages.items():
        for _, href in page.links:
            link = urlsplit(href)
            if link.scheme:
                continue
            target = _target(built, file, link.path).resolve()
            known = pages.get(target)
            if not target.is_file() or (link.fragment and known and unquote(link.fragment) not in known.ids):
                broken.append((file.relative_to(built).as_posix(), href))
    assert broken == []
    assert len(pages) >= 14


def test_nothing_is_loaded_from_elsewhere(built: Path, parse: Callable[[str], Any]) -> None:
    for file in _html(built):
        for tag, address in parse(file.read_text(encoding="utf-8")).links:
            link = urlsplit(address)
            assert not (link.scheme or link.netloc) or tag == "a", (file, tag, address)
    for style in built.rglob("*.css"):
        assert "url(http" not in style.read_text(encoding="utf-8").replace("'", "").replace('"', "")


def test_links_to_elsewhere_are_those_of_the_catalog_the_theme_and_the_documentation(
    built: Path, data: Path, parse: Callable[[str], Any]
) -> None:
    links = {a for file in _html(built) for _, a in parse(file.read_text(encoding="utf-8")).links if urlsplit(a).scheme}
    written = "".join(file.read_text(encoding="utf-8") for file in (data / "catalog").rglob("*.yaml"))
    assert [link for link in sorted(links) if link not in written and not link.startswith(ELSEWHERE)] == []


def test_every_evidence_file_is_served(built: Path, data: Path) -> None:
    for system in ("x86_1", "arm_1", "local"):
        for file in (data / system).rglob("*"):
            if file.is_file():
                served = built / "performance" / "data" / system / file.relative_to(data / system)
                assert served.read_bytes() == file.read_bytes()


def test_search_finds_candidates_and_leaves_figures_out(built: Path) -> None:
    index = json.loads((built / "search" / "search_index.json").read_text(encoding="utf-8"))
    pages = [entry for entry in index["docs"] if entry["location"].startswith("performance/")]
    text = " ".join(f"{entry['title']} {entry['text']}" for entry in pages)
    assert "sign-16 Octarine" in text
    assert "Tins512" in text
    assert "CRYPTOFAIL" in text
    assert "879.7 k" not in text
    assert "__keygen.json" not in text


def test_hostile_text_stays_text(built: Path, parse: Callable[[str], Any], hostile: str) -> None:
    for file in sorted((built / "performance").rglob("*.html")):
        elements = parse(file.read_text(encoding="utf-8")).elements
        images = [given for tag, given in elements if tag == "img" and given.get("src") == "x"]
        handlers = [name for _, given in elements for name in given if name.startswith("on")]
        scripts = [given for tag, given in elements if tag == "a" and "javascript:" in (given.get("href") or "")]
        assert (images, handlers, scripts) == ([], [], []), file
    html = (built / "performance" / "local" / "kem-hostile" / "index.html").read_text(encoding="utf-8")
    assert '<script>document.title="owned"</script>' not in html
    assert html.count("{{ 7*7 }}") >= 8
    assert hostile in "\n".join(parse(html).sections["1. Basic information"].lines)


def test_hostile_text_stays_text_in_search(built: Path) -> None:
    index = (built / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "<script" not in index
    assert "<img" not in index


def test_every_part_of_a_page_is_in_its_place(built: Path) -> None:
    for file in sorted((built / "performance").rglob("*.html")):
        assert "<!--part" not in file.read_text(encoding="utf-8"), file


def test_sections_have_the_titles_of_the_guide(page: Callable[[str], Any]) -> None:
    assert list(page("performance/x86_1/sign-16").sections) == [
        "1. Basic information",
        "2. Assessment environment",
        "3. Functional testing (KAT)",
        "4. Performance",
        "5. Resource consumption",
        "6. Transmission and storage overhead",
        "Symmetric primitives",
        "7. Raw evidence index",
    ]


def test_tables_are_named_and_have_heads(page: Callable[[str], Any]) -> None:
    elements = page("performance/local/kem-kyber").elements
    tags = [tag for tag, _ in elements]
    assert tags.count("table") == tags.count("caption") == 7
    assert all(given.get("scope") in {"col", "row"} for tag, given in elements if tag == "th")


def test_a_local_quick_run_says_what_it_is(built: Path) -> None:
    html = (built / "performance" / "local" / "kem-kyber" / "index.html").read_text(encoding="utf-8")
    for words in (
        "virtual machine",
        "mean reference cycles (TSC)",
        "The host failed its checks",
        "quick plan",
        "unregistered",
    ):
        assert words in html
    assert "mean cycles" not in html


def test_a_page_of_four_parameter_sets_stays_small(built: Path) -> None:
    for address in ("arm_1/sign-18", "local/sign-four", "local/hash-x"):
        page = built / "performance" / address / "index.html"
        assert page.stat().st_size <= 80_000, (address, page.stat().st_size)


def test_pictures_have_words_and_stand_only_where_quantiles_are(built: Path, parse: Callable[[str], Any]) -> None:
    performance = built / "performance"
    pictures = {
        address: (performance / address / "index.html").read_text(encoding="utf-8").count('<svg class="strip"')
        for address in ("arm_1/sign-18", "local/sign-four", "local/kex-triple", "local/hash-x")
    }
    assert pictures == {"arm_1/sign-18": 0, "local/sign-four": 12, "local/kex-triple": 8, "local/hash-x": 16}
    html = (performance / "local" / "sign-four" / "index.html").read_text(encoding="utf-8")
    assert html.count('role="img"><title>Four-') == 12
    assert html.count("<desc>") == 12


def test_notes_stand_on_the_page_and_are_counted_on_the_summary(built: Path, page: Callable[[str], Any]) -> None:
    html = (built / "performance" / "arm_1" / "sign-29" / "index.html").read_text(encoding="utf-8")
    assert "verify_rejections 55 of 55 calls (55 timed, 0 warm-ups)" in html
    assert 'href="../../notes/#all-rejected"' in html
    head, *rows = page("performance/arm_1").sections["Digital signatures"].tables[0]
    counted = {row[head.index("instance")]: row[head.index("notes")] for row in rows}
    assert {label: counted[label] for label in ("Origami-128", "Tins256", "Tins512", "QingLuan-512")} == {
        "Origami-128": "4", "Tins256": "0", "Tins512": "4", "QingLuan-512": "0",
    }  # fmt: skip
    summary = (built / "performance" / "arm_1" / "index.html").read_text(encoding="utf-8")
    assert '<a href="sign-29/#notes" aria-label="4 notes on Tins512">4</a>' in summary


def test_hash_functions_stand_beside_the_baseline(page: Callable[[str], Any], built: Path) -> None:
    tables = page("performance/local").sections["Hash functions"].tables
    head, *rows = tables[1]
    assert head[:3] == ["candidate", "instance", "baseline"]
    assert head[3].endswith("32 B")
    assert [row[1:4] + row[-1:] for row in rows] == [
        ["X-256", "pseudoXOF-256", "1.17×", "1.60×"],
        ["X-512", "pseudoXOF-512", "1.40×", "2.40×"],
    ]
