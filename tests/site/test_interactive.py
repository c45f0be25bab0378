"""What a reader does: sort, filter, send a link, compare, download; with the keyboard, without JavaScript, on paper."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.slow
SUMMARY = "performance/arm_1/"
LOCAL = "performance/local/"
COMPARE = "performance/compare/"
READY = "html[data-tables=ready]"


def _open(tab: Page, address: str) -> None:
    tab.goto(address)
    tab.locator(READY).wait_for()


def _column(tab: Page, title: str, table: str = "table[data-sortable=sign]") -> list[str]:
    """Return the visible texts of a column, without what stands in brackets."""
    script = """([selector, title]) => {
        const table = document.querySelector(selector);
        const at = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent.trim() === title);
        return [...table.tBodies[0].rows].map((row) => row.cells[at].textContent.replace(/ \\(.*\\)/, "").trim());
    }"""
    return list(tab.evaluate(script, [table, title]))


def _head(tab: Page, title: str, table: str = "table[data-sortable=sign]") -> Any:
    return tab.locator(f"{table} thead th").filter(has_text=re.compile(f"^{title}$"))


# ---- Sorting


def test_a_column_sorts_by_its_figures(tab: Page, address: str) -> None:
    """As texts, 116 would stand after 1.09 G, and 9 M after 816 M."""
    _open(tab, address + SUMMARY)
    _head(tab, "sign").click()
    expect(_head(tab, "sign")).to_have_attribute("aria-sort", "ascending")
    up = _column(tab, "sign")
    assert up[:4] == ["14.93 M", "93.84 M", "227.75 M", "538.64 M"]
    assert up[-2:] == ["12.12 G", "18.40 G"]
    _head(tab, "sign").click()
    expect(_head(tab, "sign")).to_have_attribute("aria-sort", "descending")
    assert _column(tab, "sign") == up[::-1]
    assert "sort=sign.sign.desc" in tab.url


def test_labels_sort_as_people_count(tab: Page, address: str) -> None:
    _open(tab, address + SUMMARY)
    _head(tab, "instance").click()
    expect(_head(tab, "instance")).to_have_attribute("aria-sort", "ascending")
    assert _column(tab, "instance")[-3:] == ["Tins128", "Tins256", "Tins512"]


@pytest.mark.parametrize("clicks", [1, 2])
def test_what_is_absent_or_failed_comes_last_in_both_directions(tab: Page, address: str, clicks: int) -> None:
    _open(tab, address + LOCAL)
    table = "table[data-sortable=kem]"
    for order in ("ascending", "descending")[:clicks]:
        _head(tab, "dec", table).click()
        expect(_head(tab, "dec", table)).to_have_attribute("aria-sort", order)
    shown = _column(tab, "dec", table)
    assert set(shown[-2:]) == {"–", "failed"}


def test_the_keyboard_sorts(tab: Page, address: str) -> None:
    _open(tab, address + SUMMARY)
    _head(tab, "verify").locator("[role=button]").focus()
    tab.keyboard.press("Enter")
    expect(_head(tab, "verify")).to_have_attribute("aria-sort", "ascending")
    assert _column(tab, "verify")[0] == "6.83 M"


def test_a_ranking_sorts_by_each_metric(tab: Page, address: str) -> None:
    _open(tab, address + "performance/arm_1/ranking-128/")
    assert _column(tab, "rank") == ["1", "2", "3"]
    _head(tab, "signature").click()
    expect(_head(tab, "signature")).to_have_attribute("aria-sort", "ascending")
    assert _column(tab, "parameter set") == ["Origami-128", "Tins128", "QingLuan-128"]


# ---- Filters and links


def test_filters_narrow_the_rows_and_say_how_many(tab: Page, address: str) -> None:
    _open(tab, address + SUMMARY)
    told = tab.locator("form.filters output")
    assert told.inner_text() == "11 rows"
    tab.locator("select[name=strength]").select_option("256")
    assert _column(tab, "instance") == ["Origami-256", "QingLuan-256", "Tins256"]
    assert told.inner_text() == "3 of 11 rows"
    tab.get_by_label("Text").fill("qing")
    assert _column(tab, "instance") == ["QingLuan-256"]
    assert "strength=256" in tab.url
    assert "text=qing" in tab.url
    tab.get_by_role("button", name="Show all").click()
    tab.wait_for_function("document.querySelector('form.filters output').textContent === '11 rows'")
    assert "strength" not in tab.url


def test_rows_are_filtered_by_how_many_notes_they_have(tab: Page, address: str) -> None:
    _open(tab, address + SUMMARY)
    tab.locator("select[name=notes]").select_option("4")
    assert _column(tab, "notes") == ["4"] * len(_column(tab, "instance"))
    assert {"Origami-128", "Tins512"} <= set(_column(tab, "instance"))
    assert "notes=4" in tab.url


def test_the_family_filter_hides_the_other_sections(tab: Page, address: str) -> None:
    _open(tab, address + LOCAL)
    tab.get_by_label("Family").select_option("hash")
    heads = tab.locator("h2:visible").all_inner_texts()
    assert [head.rstrip("¶") for head in heads] == ["Hash functions", "The campaign"]
    assert tab.locator("table[data-sortable=hash-relative]").is_visible()


def test_a_filter_by_status_holds_in_every_table(tab: Page, address: str) -> None:
    _open(tab, f"{address}{LOCAL}?kat=BUILDFAIL")
    assert tab.locator("table[data-sortable]:visible tbody tr").count() == 1
    assert tab.locator("form.filters output").inner_text() == "1 of 12 rows"


def test_a_link_shows_the_same_view(tab: Page, address: str) -> None:
    _open(tab, f"{address}{SUMMARY}?strength=512&implementation=reference&sort=sign.public-key.desc")
    assert _column(tab, "instance") == ["Origami-512", "QingLuan-512", "Tins512"]
    assert tab.locator("select[name=strength]").input_value() == "512"
    url = tab.url
    tab.reload()
    tab.locator(READY).wait_for()
    assert tab.url == url


def test_a_link_with_nonsense_shows_everything(tab: Page, address: str) -> None:
    _open(tab, f"{address}{SUMMARY}?strength=9999&sort=sign.nothing.desc&sort=x&text=%3Cb%3E&h=kept")
    assert tab.locator("form.filters output").inner_text() == "0 of 11 rows"
    tab.get_by_label("Text").fill("")
    assert tab.locator("form.filters output").inner_text() == "11 rows"
    assert "h=kept" in tab.url


def test_the_head_and_the_first_column_stay_in_sight(tab: Page, address: str) -> None:
    tab.set_viewport_size({"width": 700, "height": 300})
    _open(tab, address + SUMMARY)
    box = tab.locator(".table-box:has([data-sortable])").first
    box.evaluate("box => box.scrollTo(200, 100)")
    at = """box => {
        const [table, corner] = [box.querySelector('table'), box.querySelector('thead th')];
        const [frame, head] = [box.getBoundingClientRect(), corner.getBoundingClientRect()];
        const first = table.tBodies[0].rows[5].cells[0].getBoundingClientRect();
        return [head.top - frame.top, head.left - frame.left, first.left - frame.left].map(Math.round);
    }"""
    assert box.evaluate("box => [box.scrollLeft > 0, box.scrollTop > 0]") == [True, True]
    assert box.evaluate(at) == [0, 0, 0]


# ---- Comparison


def _choose(tab: Page, system: str, path: str) -> None:
    tab.get_by_label("System").select_option(system)
    tab.locator(f"select[name=set] option[value='{path}']").wait_for(state="attached")
    tab.locator("select[name=set]").select_option(path)
    tab.get_by_role("button", name="Add", exact=True).click()


def _row(tab: Page, title: str) -> list[str]:
    row = tab.locator("table.compare tbody tr").filter(has=tab.get_by_role("rowheader", name=title, exact=True))
    return [" ".join(text.split()) for text in row.locator("td").all_text_contents()]


def test_sets_are_compared_against_a_baseline(tab: Page, address: str) -> None:
    tab.goto(address + COMPARE)
    _choose(tab, "arm_1", "sign-18/Origami-128")
    _choose(tab, "arm_1", "sign-20/QingLuan-128")
    tab.locator("table.compare thead th").nth(2).wait_for()
    assert _row(tab, "sign: cycles") == ["816.33 M", "14.93 M 0.0183×"]
    tab.get_by_role("radio", name="Take QingLuan-128 on arm_1 as baseline").check()
    tab.wait_for_function("document.querySelector('table.compare caption').textContent.includes('QingLuan-128')")
    assert _row(tab, "sign: cycles") == ["816.33 M 54.7×", "14.93 M"]
    assert _row(tab, "signature (bytes)") == ["116 0.00620×", "18720"]
    assert tab.url.endswith("?set=arm_1/sign-18/Origami-128&set=arm_1/sign-20/QingLuan-128&base=1")


def test_the_link_of_a_comparison_holds_the_choice(tab: Page, address: str) -> None:
    tab.goto(f"{address}{COMPARE}?set=arm_1/sign-29/Tins128&set=x86_1/sign-16/Octarine-128&set=x86_1/sign-9/No&base=1")
    tab.locator("html[data-compare=ready]").wait_for()
    assert _row(tab, "system") == ["arm_1", "x86_1"]
    assert _row(tab, "KAT") == ["CRYPTOFAIL", "PASS"]
    assert "1 of the address do not exist" in tab.locator("form.choose output").inner_text()
    assert "sign-9" not in tab.url


def test_counts_of_different_kinds_have_no_factor(tab: Page, address: str) -> None:
    tab.goto(f"{address}{COMPARE}?set=arm_1/sign-18/Origami-128&set=local/sign-four/Four-128")
    tab.locator("html[data-compare=ready]").wait_for()
    (counts,) = [row for row in [_row(tab, "sign: cycles or reference cycles (TSC)")] if row]
    assert "×" not in counts[1]
    assert "×" in _row(tab, "sign: time")[1]
    assert _row(tab, "machine") == ["real", "virtual"]


def test_eight_sets_are_the_most(tab: Page, address: str) -> None:
    labels = [f"sign-18/Origami-{n}" for n in (128, 256, 384, 512)] + [f"sign-20/QingLuan-{n}" for n in (128, 256, 384)]
    query = "&".join(f"set=arm_1/{label}" for label in [*labels, "sign-29/Tins128", "sign-29/Tins256"])
    tab.goto(f"{address}{COMPARE}?{query}")
    tab.locator("html[data-compare=ready]").wait_for()
    assert tab.locator("table.compare thead th").count() == 1 + 8


def test_a_comparison_with_the_keyboard_alone(tab: Page, address: str) -> None:
    tab.goto(f"{address}{COMPARE}?system=arm_1")
    tab.locator("html[data-compare=ready]").wait_for()
    tab.get_by_label("System").focus()
    for _ in range(3):
        tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Add"
    tab.keyboard.press("Enter")
    tab.locator("table.compare").wait_for()
    tab.locator("select[name=set]").focus()
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.locator("table.compare thead th").nth(2).wait_for()
    tab.locator("table.compare input[type=radio]").first.focus()
    tab.keyboard.press("ArrowDown")
    tab.wait_for_function("location.search.includes('base=1')")
    assert tab.evaluate("document.activeElement.type") == "radio"
    tab.get_by_role("button", name=re.compile("^Remove")).last.focus()
    tab.keyboard.press("Enter")
    tab.wait_for_function("document.querySelectorAll('table.compare thead th').length === 2")
    assert tab.evaluate("document.activeElement.matches('button.drop')")


# ---- Downloads


def test_every_file_of_the_index_is_served_with_its_digest(tab: Page, address: str) -> None:
    base = f"{address}performance/downloads/"
    index = tab.request.get(f"{base}index.json").json()
    assert index["version"] == 1
    assert [system["system_id"] for system in index["systems"]] == ["x86_1", "arm_1", "local"]
    for file in [*index["files"], *(file for system in index["systems"] for file in system["files"])]:
        body = tab.request.get(base + file["path"]).body()
        assert len(body) == file["size_bytes"], file["path"]


def test_a_download_is_saved(tab: Page, address: str, tmp_path: Path) -> None:
    tab.goto(f"{address}performance/downloads/")
    with tab.expect_download() as saving:
        tab.get_by_role("link", name=re.compile("^evidence as tar.gz")).nth(1).click()
    saving.value.save_as(tmp_path / "evidence.tar.gz")
    assert (tmp_path / "evidence.tar.gz").stat().st_size > 100_000


def test_the_data_of_a_chart_opens(tab: Page, address: str) -> None:
    tab.goto(f"{address}performance/arm_1/ranking-128/")
    link = tab.get_by_role("link", name=re.compile("^Data of the chart Size against cycles: sign"))
    body = tab.request.get(link.evaluate("a => a.href")).text()
    assert body.splitlines()[0] == "candidate,name,bytes,cost,unit,front"
    assert "sign-18,Origami-128,3112," in body


# ---- Without JavaScript, on paper, in both schemes


@pytest.fixture
def plain(browser: Browser) -> Iterator[Page]:
    """Return a tab in which no script runs."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


def test_without_javascript_tables_are_plain_and_whole(plain: Page, address: str) -> None:
    plain.goto(address + SUMMARY)
    assert plain.locator("table[data-sortable] tbody tr:visible").count() == 11
    assert not plain.locator("form.filters").is_visible()
    plain.goto(address + COMPARE)
    assert plain.locator("noscript").inner_text().startswith("To choose in this page needs JavaScript.")
    assert not plain.locator("form.choose").is_visible()


def test_the_plain_table_holds_the_same_text(tab: Page, plain: Page, address: str) -> None:
    """Before anything is sorted, a table with and without JavaScript shows the same cells in the same order."""
    for page in (SUMMARY, LOCAL, "performance/arm_1/ranking-256/", "performance/local/ranking-256/"):
        plain.goto(address + page)
        _open(tab, address + page)
        cells = "table[data-sortable] :is(th, td)"
        assert tab.locator(cells).all_text_contents() == plain.locator(cells).all_text_contents()


def test_on_paper_all_rows_show_and_controls_do_not(tab: Page, address: str) -> None:
    _open(tab, address + SUMMARY)
    tab.emulate_media(media="print")
    assert not tab.locator("form.filters").is_visible()
    box = tab.locator(".table-box").first
    assert box.evaluate("box => box.scrollHeight - box.clientHeight") <= 1


def test_charts_follow_the_scheme(browser: Browser, address: str) -> None:
    colours = set()
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{address}performance/arm_1/ranking-128/")
        colours.add(page.locator(".chart svg text").first.evaluate("text => getComputedStyle(text).fill"))
        context.close()
    assert len(colours) == 2


def test_charts_have_words(tab: Page, address: str) -> None:
    tab.goto(f"{address}performance/arm_1/ranking-128/")
    charts = tab.locator(".chart svg")
    assert charts.count() == 3
    names = "all => all.map(svg => [svg.getAttribute('role'), svg.querySelector('title').textContent, "
    for role, title, told in charts.evaluate_all(names + "svg.querySelector('desc').textContent])"):
        assert role == "img"
        assert title
        assert len(told) > 40
    figures = tab.locator("figure.chart")
    assert figures.count() == figures.locator("a[href$='.csv']").count()


# ---- Conventions


def test_the_first_key_skips_to_the_content(tab: Page, address: str) -> None:
    tab.goto(address + SUMMARY)
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.matches('.md-skip')")


def test_pages_say_what_they_are_when_shared(built: Path, parse: Callable[[str], Any]) -> None:
    for file in built.rglob("*.html"):
        elements = parse(file.read_text(encoding="utf-8")).elements
        named = {
            given.get("property") or given.get("name"): given.get("content") for tag, given in elements if tag == "meta"
        }
        assert named["og:title"], file
        assert named["og:description"], file
        assert file.name == "404.html" or named["description"], file


def test_the_feed_lists_every_campaign(tab: Page, address: str) -> None:
    tab.goto(address)
    href = tab.locator("link[type='application/atom+xml']").evaluate("link => link.href")
    text = tab.request.get(href).text()
    assert re.findall(r'<link rel="alternate" type="text/html" href="(\w+/)"/>', text) == ["local/", "arm_1/", "x86_1/"]


def test_search_finds_sets_and_documentation(tab: Page, address: str) -> None:
    for word, place in (("Tins512", "sign-29"), ("dispute", "dispute-a-figure")):
        tab.goto(address)
        tab.locator("input.md-search__input").click()
        tab.keyboard.type(word)
        tab.locator(".md-search-result__link").first.wait_for()
        assert place in " ".join(tab.locator(".md-search-result__link").evaluate_all("all => all.map(a => a.href)"))


def test_the_search_index_is_small(built: Path) -> None:
    """A page that nobody remarks anything about: its title and its parameter sets, at most 300 bytes."""
    index = json.loads((built / "search" / "search_index.json").read_text(encoding="utf-8"))
    for page in ("performance/local/sign-four/", "performance/local/kex-triple/"):
        ours = [each for each in index["docs"] if each["location"].partition("#")[0] == page]
        assert sum(len(json.dumps(each, ensure_ascii=False)) for each in ours) <= 300, ours
        assert re.search("Four-128, Four-192|Triple-256", ours[0]["text"])
