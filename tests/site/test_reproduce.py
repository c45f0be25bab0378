"""What a reader is told to run: the program on each page gives the figures of the page, the commands are accepted."""

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from evidence import catalog, plans
from measure import campaign, cli
from render.look import formats

ADDRESSES = ("arm_1/sign-18", "x86_1/sign-16", "local/kem-kyber", "local/kex-triple", "local/hash-x")
LINE = re.compile(r"mean=(\S+) s  median trial=(\S+) s  (\S+) ops/s")


def _block(built: Path, address: str) -> str:
    html = (built / "performance" / address / "index.html").read_text(encoding="utf-8")
    return html[html.index('<details class="reproduce"') :]


def _program(built: Path, address: str) -> str:
    return unescape(_block(built, address).partition('<pre class="program"><code>')[2].partition("</code>")[0])


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_program_gives_the_figures_of_the_page(
    built: Path, page: Callable[[str], Any], tmp_path: Path, address: str
) -> None:
    head, *rows = page(f"performance/{address}").sections["4. Performance"].tables[0]
    system, candidate = address.split("/")
    program = tmp_path / "recompute.py"
    program.write_text(_program(built, address), encoding="utf-8")
    served = built / "performance" / "data" / system / "records" / candidate
    is_hash = candidate.startswith("hash-")
    for row in rows:
        cells = dict(zip(head, row, strict=True))
        operation = f"hash_{cells['message'].removesuffix(' B')}" if is_hash else cells["operation"]
        done = subprocess.run(
            [sys.executable, "-I", str(program), str(served / f"{cells['instance']}__{operation}.json")],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found = LINE.search(done.stdout)
        assert found
        mean, median, per_second = map(float, found.groups())
        assert formats.duration(mean) == cells["mean time"]
        count = next(cells[title] for title in head if title.startswith("mean ") and title != "mean time")
        assert formats.count(float(done.stdout.partition("mean=")[2].split()[0])) == count
        assert f"calls={cells['n' if is_hash else 'n (trials × iters)'].split()[0]}\n" in done.stdout
        if not is_hash:
            assert (formats.duration(median), formats.general(per_second)) == (cells["median trial"], cells["ops/s"])
    assert len(rows) >= 3


def test_the_program_takes_several_files_and_one_that_failed(built: Path, tmp_path: Path) -> None:
    program = tmp_path / "recompute.py"
    program.write_text(_program(built, "local/kem-hostile"), encoding="utf-8")
    files = sorted((built / "performance" / "data" / "local" / "records" / "kem-hostile").glob("*.json"))
    done = subprocess.run(
        [sys.executable, "-I", str(program), *map(str, files)], capture_output=True, text=True, check=True
    )
    assert [line.split()[:2] for line in done.stdout.splitlines() if line.startswith("H ")] == [
        ["H", "dec"],
        ["H", "enc"],
    ]


def test_the_program_is_short_and_the_same_on_every_page(built: Path) -> None:
    programs = {_program(built, address) for address in ADDRESSES}
    assert len(programs) == 1
    assert 10 <= len(programs.pop().splitlines()) <= 20


def test_commands_choose_what_the_page_shows(built: Path, data: Path) -> None:
    block = unescape(_block(built, "local/kem-kyber"))
    commands = re.findall(r"python -m (measure run .*)", block.replace("</code>", "\n"))
    assert commands == ["measure run --only '^kem-kyber/'", "measure run --only '^kem-kyber/Kyber512$'"]
    people = catalog.load(data / "catalog")
    for command, labels in zip(commands, (["Kyber512", "Kyber768", "Kyber1024"], ["Kyber512"]), strict=True):
        options = cli._parser().parse_args(shlex.split(command)[1:])
        chosen = campaign.choose(people, options.only, plans.QUICK)
        assert [one.instance.label for one in chosen] == labels


def test_a_candidate_without_a_recipe_says_so(built: Path) -> None:
    block = _block(built, "arm_1/sign-18")
    assert "holds no build recipe" in block
    assert "measure run" not in block
    assert "data/arm_1/records/sign-18/*.json" in block
