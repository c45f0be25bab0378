"""One changed character anywhere in the data folder is found."""

import random
import shutil
from pathlib import Path

import pytest

from evidence import catalog
from evidence.faults import FaultyError
from evidence.verify import verify

# Places that carry no claim of the evidence, each with its reason.
NO_CLAIM = {
    "catalog": "what people write: names, links and notes stand in no other place to hold them against",
    "README.md": "explains the folder to people",
}
PLACES = 200


def found(data: Path) -> int:
    """Return the number of faults of a data folder."""
    try:
        return len(verify(data, catalog.load(data / "catalog")).faults)
    except FaultyError as error:
        return len(error.faults)


def claiming(data: Path) -> list[Path]:
    files = [file for file in sorted(data.rglob("*")) if file.is_file()]
    return [file for file in files if file.relative_to(data).parts[0] not in NO_CLAIM]


def other(byte: int, drawn: random.Random) -> int:
    """Return another digit for a digit, else another printable character."""
    choices = b"0123456789" if 0x30 <= byte <= 0x39 else bytes(range(0x20, 0x7F))
    return drawn.choice([choice for choice in choices if choice != byte])


@pytest.mark.slow
def test_a_flipped_character_is_found_in_each_of_200_places(copy: Path) -> None:
    shutil.copytree(Path(__file__).resolve().parents[2] / "data" / "schema", copy / "schema")
    assert found(copy) == 0
    drawn = random.Random(20261130)
    files = claiming(copy)
    weights = [file.stat().st_size for file in files]
    places = drawn.choices(files, weights, k=PLACES // 2)
    # Half of the places by file instead of by size, so that small files and manifests are met as well.
    places += drawn.choices(files, k=PLACES // 2)
    missed = []
    for file in places:
        content = bytearray(file.read_bytes())
        at = drawn.randrange(len(content))
        original = content[at]
        content[at] = other(original, drawn)
        file.write_bytes(content)
        if found(copy) == 0:
            missed.append((file.relative_to(copy).as_posix(), at))
        content[at] = original
        file.write_bytes(content)
    assert missed == []
    assert found(copy) == 0
