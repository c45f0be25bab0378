"""Hostile evidence and catalogs: a clear refusal or a safe load, in bounded time and memory, whatever the bytes."""

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence import catalog, store
from evidence.faults import Fault, FaultyError
from evidence.verify import verify

ROOT = Path(__file__).resolve().parents[2]
RECORD = "records/sign-16/Octarine-128__sign.json"
PROFILE = "profile/sign-16/Octarine-128__sign.json"
DOCUMENTS = (RECORD, PROFILE, "build.json", "campaign.json")

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**62, max_value=2**70)
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.text(max_size=20)
    | st.sampled_from(["", "../../etc/passwd", "/etc/passwd", "<script>", "{{ 7 * 7 }}", "a\x00b", "\ud800", "9" * 400])
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in inner:
        yield from places(entry, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@pytest.fixture(scope="module", params=["schema 2", "schema 3"])
def system(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with one candidate's system, in either schema, and the catalog."""
    data = tmp_path_factory.mktemp("data")
    source = ROOT / "data" if request.param == "schema 3" else ROOT / "tests/data/published/evidence"
    shutil.copytree(source / "x86_1", data / "x86_1")
    shutil.copytree(ROOT / "data" / "catalog", data / "catalog")
    return data


def survives(data: Path) -> None:
    """Load and verify; anything but a list of faults with file names is a failure."""
    try:
        faults = verify(data, catalog.load(data / "catalog")).faults
    except FaultyError as error:
        faults = error.faults
    assert all(fault.file and str(fault) for fault in faults)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_value_anywhere_is_refused_or_loaded(system: Path, data: st.DataObject) -> None:
    file = system / "x86_1" / data.draw(st.sampled_from(DOCUMENTS))
    original = file.read_bytes()
    document = json.loads(original)
    path = data.draw(st.sampled_from(list(places(document))))
    try:
        file.write_text(json.dumps(replaced(document, path, data.draw(values))), errors="surrogatepass")
        survives(system)
    finally:
        file.write_bytes(original)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(DOCUMENTS), raw=st.binary(max_size=200), keep=st.floats(0, 1))
def test_any_bytes_are_refused(system: Path, name: str, raw: bytes, keep: float) -> None:
    file = system / "x86_1" / name
    original = file.read_bytes()
    try:
        file.write_bytes(original[: int(len(original) * keep)] + raw)
        survives(system)
    finally:
        file.write_bytes(original)


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=300) | st.binary(max_size=100).map(lambda raw: raw.decode("latin-1")))
def test_any_catalog_text_is_refused_or_loaded(text: str) -> None:
    folder = ROOT / "build" / "fuzz-catalog"
    (folder / "candidates").mkdir(parents=True, exist_ok=True)
    (folder / "systems.yaml").write_text("m_1: {architecture: x86_64, description: a machine}\n")
    (folder / "candidates" / "sign-1.yaml").write_text(text, errors="surrogatepass")
    try:
        catalog.load(folder)
        faults: tuple[Fault, ...] = ()
    except FaultyError as error:
        faults = error.faults
    assert all("sign-1.yaml" in fault.file for fault in faults)


def faults_of(data: Path, system_id: str = "x86_1") -> str:
    with pytest.raises(FaultyError) as caught:
        store.load_system(data, system_id)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"schema": 3, "schema": 3}', "key 'schema' stands twice"),
        ('{"schema": 2, "mean_seconds": NaN}', "not JSON"),
        ('{"schema": 2, "mean_seconds": 1e999}', "not JSON"),
        ('{"schema": ' + "9" * 5000 + "}", "not JSON"),
        ("\ufeff{}", "not JSON"),
        ('"text"', "$: must be an object"),
        ("", "not JSON"),
    ],
    ids=["deep", "doubled", "NaN", "infinite", "huge", "mark", "text", "empty"],
)
def test_odd_documents_are_one_line(copy: Path, text: str, expected: str) -> None:
    (copy / "x86_1" / RECORD).write_text(text)
    found = faults_of(copy)
    assert f"x86_1/{RECORD}: " in found
    assert expected in found
    assert found.count("\n") == 0


def test_a_key_that_stands_twice_deep_inside_is_found(copy: Path) -> None:
    file = copy / "x86_1" / RECORD
    file.write_text(file.read_text().replace('"exit_code": 0,', '"exit_code": 7, "exit_code": 0,', 1))
    assert "key 'exit_code' stands twice in one object" in faults_of(copy)


def test_links_and_pipes_are_refused(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text("{}")
    (copy / "x86_1/records/sign-16/link.json").symlink_to(tmp_path / "secret.json")
    (copy / "x86_1/records/away").symlink_to(tmp_path)
    os.mkfifo(copy / "x86_1/records/sign-16/pipe.json")
    found = faults_of(copy)
    assert "x86_1/records/sign-16/link.json: is no ordinary file; evidence holds no links" in found
    assert "x86_1/records/sign-16/pipe.json: is no ordinary file" in found
    assert "x86_1/records/away: is a link" in found


def test_a_file_of_a_gigabyte_is_refused_unread(copy: Path) -> None:
    with (copy / "x86_1" / RECORD).open("r+b") as stream:
        stream.truncate(1 << 30)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "larger than 16 MiB" in faults_of(copy)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10  # KiB


@pytest.mark.slow
def test_as_many_rows_as_a_file_may_hold_stay_in_memory_bounds(copy: Path) -> None:
    row = '{"fn":"a","calls":1,"ticks":1}'
    file = copy / "x86_1" / PROFILE
    document = json.loads(file.read_bytes())
    document["calls"] = []
    head = json.dumps(document)
    count = (store.FILE_LIMIT_BYTES - len(head)) // (len(row) + 1)
    file.write_text(head.replace('"calls": []', f'"calls": [{",".join([row] * count)}]'))
    script = (
        "import resource, sys; from pathlib import Path; from evidence import store\n"
        "loaded = store.load_system(Path(sys.argv[1]), 'x86_1')\n"
        "print(max(len(p.calls) for p in loaded.profiles), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    out = subprocess.run(
        [sys.executable, "-c", script, str(copy)], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert int(out[0]) == count
    assert int(out[1]) < 1 << 20  # KiB


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id: &a sign-1\nalgorithm: *a\n", "anchors and aliases are not read"),
        ("a: " + "[" * 100 + "]" * 100 + "\n", "nested too deeply"),
        ("id: sign-1\nalgorithm: " + "x" * (2 << 20) + "\n", "larger than 1 MiB"),
        ("? [a, b]\n: c\n", "a key must be a word"),
        ("1: 2\n", "unknown key"),
        ("id: sign-1\nalgorithm: a\x00b\n", "not YAML"),
        ("id: sign-1\n--- \nid: sign-2\n", "not YAML"),
        ("<<: {id: sign-1}\nalgorithm: X\n", "merge keys are not read"),
        ("id: sign-1\nalgorithm: 2026-99-99\n", "not YAML: month must be in 1..12"),
    ],
    ids=["alias", "deep", "large", "list as key", "number as key", "NUL", "two documents", "merge", "no date"],
)
def test_odd_catalogs_are_refused(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "candidates").mkdir()
    (tmp_path / "systems.yaml").write_text("m_1: {architecture: x86_64, description: a machine}\n")
    (tmp_path / "candidates" / "sign-1.yaml").write_text(text)
    with pytest.raises(FaultyError) as caught:
        catalog.load(tmp_path)
    assert expected in str(caught.value)
    assert "sign-1.yaml:" in str(caught.value)
