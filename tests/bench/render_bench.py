"""Does rendering grow linearly, and is it fast enough for 10 000 pages?

Synthetic evidence in four systems, made from the committed records of one candidate (four parameter sets, three
operations, with profiles) under many names.

    python tests/bench/render_bench.py [PAGES ...]        default: 250 1000 4000

MkDocs also copies the evidence, some thirty files a page; its target is for the pages alone.

Each step runs in a process of its own. Times are those of the processor, because others may use the machine. On a busy
one they still grow, up to twofold: a fixed loop runs before and after each step, and what is judged is the time divided
by how much slower than at its best that loop was. Both are printed.

Exits with 1 when a target of the table at the end is missed.
"""

import hashlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from evidence import store
from evidence.types import Build, BuildInstance, Record
from render.charts import specs
from render.charts.draw import Drawer, Plan

ROOT = Path(__file__).resolve().parents[2]
MODEL, CANDIDATE = "arm_1", "sign-20"
SYSTEMS = 4
SIZES = (250, 1000, 4000)
TARGETS = {
    "render, ms a page": 12.0,
    "mkdocs, ms a page": 12.0,  # without the copying of evidence files
    "second render, share of the first": 0.25,
    "second render, files written": 0,
    "growth of render time a page": 1.2,
    "growth of mkdocs time a page": 1.2,
    "chart, ms": 40.0,
    "page of four sets, KB of HTML": 80.0,
    "search index, bytes a page": 300.0,
}


class Step(NamedTuple):
    """What a step took: processor seconds of it and its children, its largest memory, and what it printed.

    ``loop_seconds`` is what a fixed loop took beside it.
    """

    seconds: float
    loop_seconds: float
    megabytes: float
    told: str


class Figures(NamedTuple):
    """What was measured at one size."""

    pages: int
    first: Step
    second: Step
    again: Step
    mkdocs_whole: Step
    mkdocs: Step
    charts: int
    html_bytes: int
    index_bytes: int


def main(sizes: list[int]) -> int:
    """Measure all sizes, print the tables, and return the exit status."""
    found = []
    for pages in sizes:
        with tempfile.TemporaryDirectory(prefix="render-bench-") as folder:
            found.append(measure(Path(folder), pages))
        print_size(found[-1])
    return report(found)


def measure(folder: Path, pages: int) -> Figures:
    """Make evidence for so many pages, and run every step over it."""
    make_evidence(folder / "data", pages)
    docs = folder / "docs"
    shutil.copytree(ROOT / "site_src", docs, ignore=shutil.ignore_patterns("performance"))
    first = render(folder, folder / "elsewhere")
    shutil.rmtree(folder / "elsewhere")
    second = render(folder, docs / "performance")
    again = render(folder, docs / "performance")
    built_whole = build_site(folder, docs)
    shutil.rmtree(docs / "performance" / "data")
    built = build_site(folder, docs)
    page = folder / "site" / "performance" / "s0" / "sign-c0" / "index.html"
    index = json.loads((folder / "site" / "search" / "search_index.json").read_text(encoding="utf-8"))
    ours = [each for each in index["docs"] if "/sign-c" in each["location"]]
    charts = len(list((folder / "cache" / "charts").iterdir()))
    size = sum(len(json.dumps(each, ensure_ascii=False)) for each in ours)
    return Figures(pages, first, second, again, built_whole, built, charts, page.stat().st_size, size)


def make_evidence(data: Path, pages: int) -> None:
    """Write four systems with together so many candidates."""
    loaded = store.load_system(ROOT / "data", MODEL)
    (data / "catalog" / "candidates").mkdir(parents=True)
    (data / "catalog" / "systems.yaml").write_text("{}\n", encoding="utf-8")
    for number in range(SYSTEMS):
        folder = data / f"s{number}"
        names = [f"sign-c{index}" for index in range(number, pages, SYSTEMS)]
        anonymous = msgspec.structs.replace(loaded.campaign.environment_at_start, hostname=None)
        ended = msgspec.structs.replace(loaded.campaign.environment_at_end, hostname=None)
        campaign = msgspec.structs.replace(
            loaded.campaign, system_id=folder.name, environment_at_start=anonymous, environment_at_end=ended
        )
        store.write_atomically(folder / "campaign.json", store.encode(campaign))
        built: dict[str, BuildInstance] = {}
        for index, name in enumerate(names):
            built |= _write_candidate(folder, name, 1 + index % 97 / 100, loaded)
        store.write_atomically(folder / "build.json", store.encode(Build(schema=3, instances=built)))


def _write_candidate(folder: Path, name: str, factor: float, loaded: store.SystemEvidence) -> dict[str, BuildInstance]:
    """Write logs, records and profiles of a candidate; return its builds."""
    built = {}
    for model in (each for each in loaded.build.values() if each.candidate == CANDIDATE):
        path = store.kat_log_path(name, model.label)
        text = (loaded.folder / store.kat_log_path(CANDIDATE, model.label)).read_bytes()
        text = text.replace(CANDIDATE.encode(), name.encode())
        _write(folder / path, text)
        digest = hashlib.sha256(text).hexdigest()
        ours = msgspec.structs.replace(model, candidate=name, kat_log=path, kat_log_sha256=digest)
        built[f"{name}/{model.label}"] = ours
    for model in (each for each in loaded.records if each.candidate == CANDIDATE):
        record = _record(model, built[f"{name}/{model.label}"], factor)
        _write(folder / store.record_path(record), store.encode(record))
    for model in (each for each in loaded.profiles if each.candidate == CANDIDATE):
        profile = msgspec.structs.replace(model, candidate=name)
        _write(folder / store.profile_path(profile), store.encode(profile))
    return built


def _record(model: Record, built: BuildInstance, factor: float) -> Record:
    """Return a record of another candidate, all counts larger by a factor."""
    processes = tuple(
        msgspec.structs.replace(
            process,
            trials=tuple(msgspec.structs.replace(t, cycles=int((t.cycles or 1) * factor)) for t in process.trials),
        )
        for process in model.processes
    )
    return msgspec.structs.replace(
        model,
        candidate=built.candidate,
        kat_log=built.kat_log,
        kat_log_sha256=built.kat_log_sha256,
        environment=msgspec.structs.replace(model.environment, hostname=None),
        processes=processes,
    )


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def render(folder: Path, out: Path) -> Step:
    """Render all pages; the cache of charts lies beside the data."""
    data = folder / "data"
    words = ["pages", "--data", str(data), "--out", str(out), "--cache", str(folder / "cache")]
    return run([sys.executable, "-m", "render", *words])


def build_site(folder: Path, docs: Path) -> Step:
    """Build the site with the project's configuration."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    places = {"site_src": docs, "site_theme": ROOT / "site_theme", "site_dir: site": f"site_dir: {folder / 'site'}"}
    for ours, theirs in places.items():
        text = text.replace(ours, str(theirs))
    (folder / "mkdocs.yml").write_text(text, encoding="utf-8")
    return run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", str(folder / "mkdocs.yml")])


def run(argv: list[str]) -> Step:
    """Run a program in the project's folder; return its processor time and its largest resident size."""
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    before = loop_seconds()
    with tempfile.TemporaryFile() as told:
        process = subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=told, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        text = told.read().decode()
    if process.returncode:
        raise SystemExit(f"{' '.join(argv)} ended with {process.returncode}:\n{text[-3000:]}")
    loop = (before + loop_seconds()) / 2
    return Step(used.ru_utime + used.ru_stime, loop, used.ru_maxrss / 1024, text)


def loop_seconds() -> float:
    """Return the processor time of a fixed piece of Python, the median of five."""
    return statistics.median(_processor_seconds(lambda: sum(i * i % 7 for i in range(2_000_000))) for _ in range(5))


def chart_milliseconds() -> float:
    """Return the processor time of one chart of thirty sets, the least of ten."""
    rows = [
        {"name": f"Set-{i}", "bytes": 100 * (i + 1), "cost": 1e6 * (40 - i), "front": specs.FRONT[i % 3 > 0]}
        for i in range(30)
    ]
    ticks = {"x": specs.ticks(row["bytes"] for row in rows), "y": specs.ticks(row["cost"] for row in rows)}  # type: ignore[misc]
    plan = Plan("bench", "Bench", "", specs.size_against_cost("bytes", "cycles"), rows, ticks)
    Drawer(None).figure(plan)  # what starts once is not counted
    return 1000 * min(_processor_seconds(lambda: Drawer(None).figure(plan)) for _ in range(10))


def _processor_seconds(act: Callable[[], Any]) -> float:
    before = resource.getrusage(resource.RUSAGE_SELF)
    act()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def steps(figures: Figures) -> dict[str, Step]:
    """Return the steps under their names."""
    return {
        "first render, with charts": figures.first,
        "render, charts kept": figures.second,
        "render again": figures.again,
        "mkdocs, with the evidence": figures.mkdocs_whole,
        "mkdocs, pages alone": figures.mkdocs,
    }


def print_size(figures: Figures) -> None:
    """Print one line for each step at one size."""
    print(f"{figures.pages} pages, {figures.charts} charts")
    for name, step in steps(figures).items():
        each = 1000 * step.seconds / figures.pages
        loop = 1000 * step.loop_seconds
        print(f"  {name:26} {step.seconds:8.2f} s {each:7.2f} ms a page {step.megabytes:6.0f} MB  loop {loop:4.0f} ms")
    index = figures.index_bytes / figures.pages
    print(f"  page {figures.html_bytes / 1000:.1f} KB, search index {index:.0f} B a page", flush=True)


def report(found: list[Figures]) -> int:
    """Print every target with what was reached; return 1 if any was missed."""
    least_loop = min(step.loop_seconds for figures in found for step in steps(figures).values())

    def each(figures: Figures, step: Step) -> float:
        """Return milliseconds a page, as they would be at the best pace seen."""
        return 1000 * step.seconds * least_loop / step.loop_seconds / figures.pages

    last, least = found[-1], found[0]
    written = int(last.again.told.split(" written")[0].rpartition(" ")[2])
    reached = {
        "render, ms a page": each(last, last.second),
        "mkdocs, ms a page": each(last, last.mkdocs),
        "second render, share of the first": each(last, last.again) / each(last, last.second),
        "second render, files written": written,
        "growth of render time a page": each(last, last.second) / each(least, least.second),
        "growth of mkdocs time a page": each(last, last.mkdocs) / each(least, least.mkdocs),
        "chart, ms": chart_milliseconds() * least_loop / loop_seconds(),
        "page of four sets, KB of HTML": last.html_bytes / 1000,
        "search index, bytes a page": last.index_bytes / last.pages,
    }
    print(f"judged at the pace of a loop in {1000 * least_loop:.0f} ms")
    missed = [name for name, value in reached.items() if value > TARGETS[name]]
    for name, value in reached.items():
        print(f"{'MISSED' if name in missed else 'met':7} {name:36} {value:8.2f}  target {TARGETS[name]:g}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main([int(word) for word in sys.argv[1:]] or list(SIZES)))
