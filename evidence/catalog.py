"""The catalog: what people write about systems and candidates, in YAML.

``data/catalog/systems.yaml`` lists the systems in the order in which pages name them;
``data/catalog/candidates/<id>.yaml`` describes one candidate each.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
import yaml

from evidence.faults import Fault, FaultyError, PathFault, convert
from evidence.types import CandidateId, Count, Label, Positive, RelativePath, Sha256, SystemId

T = TypeVar("T")
Url = Annotated[str, msgspec.Meta(pattern=r"^https?://[^\s\"'<>\\]{1,500}\Z")]
Define = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(=[A-Za-z0-9_.+-]*)?\Z")]


class CatalogStruct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the catalog types."""


class Harness(CatalogStruct, frozen=True, kw_only=True):
    """The programs that made a system's evidence, where katalog did not make it; section 7 names them."""

    name: str
    url: Url | None = None
    scripts: tuple[RelativePath, ...] = ()


class System(CatalogStruct, frozen=True, kw_only=True):
    """A registered machine. ``hostnames`` are those that its evidence may show."""

    architecture: Literal["x86_64", "aarch64"]
    description: str
    hostnames: tuple[str, ...] = ()
    harness: Harness | None = None


class Links(CatalogStruct, frozen=True, kw_only=True):
    """Addresses of the candidate; an absent one is left out of the page."""

    submission: Url | None = None
    security_report: Url | None = None
    specification: Url | None = None


class Survey(CatalogStruct, frozen=True, kw_only=True):
    """Verdict of the survey of symmetric primitives."""

    verdict: str
    note: str | None = None


class ExternalSizes(CatalogStruct, frozen=True, kw_only=True):
    """Sizes stated by the submission, in bytes; they go before those of the interface."""

    public_key_bytes: Count | None = None
    ciphertext_bytes: Count | None = None
    signature_bytes: Count | None = None
    basis: Literal["encoded", "fixed", "maximum-variable", "nominal-variable"]


class Footnote(CatalogStruct, frozen=True, kw_only=True):
    """A note on instances whose label matches ``instances`` (a regular expression, searched).

    ``action`` says whether those instances are timed all the same (measure) or not at all (exclude);
    ``text`` is Markdown.
    """

    instances: str
    action: Literal["measure", "exclude"]
    text: str

    def matches(self, label: str) -> bool:
        """Return whether the note speaks of the instance with this label."""
        return re.search(self.instances, label) is not None


class Source(CatalogStruct, frozen=True, kw_only=True):
    """Where the sources come from: exactly one of a local folder, a PyPI sdist, an archive."""

    path: str | None = None
    pypi: str | None = None
    archive: str | None = None
    sha256: Sha256 | None = None


class NistKat(CatalogStruct, frozen=True, kw_only=True):
    """Known answer: SHA-256 of the NIST response text, first record (spec nist-kat)."""

    format: Literal["nist"]
    sha256: Sha256
    rng: Literal["nist-aes256-ctr-drbg", "hqc-shake"]


class Instance(CatalogStruct, frozen=True, kw_only=True):
    """Build recipe of one parameter set. Paths and globs are relative to the source's top folder."""

    label: Label
    name: str | None = None  # of the algorithm instance, where it differs from the label
    variant: str = "reference"
    level: Positive | None = None  # claimed strength in bits
    dir: RelativePath
    sources: tuple[RelativePath, ...]
    exclude: tuple[RelativePath, ...] = ()
    include: tuple[RelativePath, ...] = ()
    defines: tuple[Define, ...] = ()
    adapter: Literal["pqclean_kem", "pqclean_sign"] | None = None
    kat: NistKat


class Candidate(CatalogStruct, frozen=True, kw_only=True):
    """One candidate. The build recipe (source, instances) is optional: evidence alone is rendered too."""

    id: CandidateId
    algorithm: str
    links: Links = Links()
    survey: Survey | None = None
    sizes: dict[Label, ExternalSizes] = {}
    footnotes: tuple[Footnote, ...] = ()
    source: Source | None = None
    instances: tuple[Instance, ...] = ()


class Catalog(NamedTuple):
    """All systems, in page order, and all candidates by id."""

    systems: dict[str, System]
    candidates: dict[str, Candidate]


def load(folder: Path) -> Catalog:
    """Load a catalog folder.

    Raises:
        FaultyError: with every fault of every file, by line, with the nearest known key.
    """
    faults: list[Fault] = []
    systems_file = folder / "systems.yaml"
    systems = _read(systems_file, dict[SystemId, System], faults) or {}
    candidates: dict[str, Candidate] = {}
    for file in sorted((folder / "candidates").glob("*.yaml")):
        candidate = _read(file, Candidate, faults)
        if candidate is not None:
            faults.extend(_contradictions(candidate, file))
            candidates[candidate.id] = candidate
    if faults:
        raise FaultyError(faults)
    return Catalog(systems, candidates)


def _read(file: Path, to: type[T], faults: list[Fault]) -> T | None:
    try:
        text = file.read_text(encoding="utf-8")
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
        value = yaml.load(text, Loader=yaml.CSafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        faults.append(Fault(str(file), "", f"cannot be read: {error}"))
        return None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        faults.append(Fault(str(file), str(line), f"not YAML: {error.problem}"))
        return None
    except yaml.YAMLError as error:
        faults.append(Fault(str(file), "", f"not YAML: {error}"))
        return None
    lines = dict(_lines(node, "$")) if node else {}
    faults.extend(Fault(str(file), str(line), f"key {key!r} stands twice") for line, key in _doubled(node))
    result = convert(value, to)
    if isinstance(result, list):
        faults.extend(_at_line(file, fault, lines) for fault in result)
        return None
    return result


def _at_line(file: Path, fault: PathFault, lines: dict[str, int]) -> Fault:
    message = fault.message if fault.path == "$" else f"{fault.path.removeprefix('$.')}: {fault.message}"
    return Fault(str(file), str(lines.get(fault.path, 1)), message)


def _lines(node: Any, path: str) -> Iterator[tuple[str, int]]:
    """Yield the line on which each path of a YAML document begins."""
    yield path, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = f"{path}.{key.value}"
            yield from _lines(value, inner)
            yield inner, key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _lines(value, f"{path}[{index}]")


def _doubled(node: Any) -> Iterator[tuple[int, str]]:
    if isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            if key.value in seen:
                yield key.start_mark.line + 1, key.value
            seen.add(key.value)
            yield from _doubled(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _doubled(value)


def _contradictions(candidate: Candidate, file: Path) -> Iterator[Fault]:
    """Yield what is well-formed and still cannot be right."""
    if file.stem != candidate.id:
        yield Fault(str(file), "1", f"id {candidate.id!r} must be the file's name")
    labels = [instance.label for instance in candidate.instances]
    for label in sorted({label for label in labels if labels.count(label) > 1}):
        yield Fault(str(file), "1", f"instances: label {label!r} stands twice")
    for footnote in candidate.footnotes:
        try:
            re.compile(footnote.instances)
        except re.error as error:
            yield Fault(str(file), "1", f"footnotes: {footnote.instances!r} is no regular expression: {error}")
    source = candidate.source
    if source and sum(bool(place) for place in (source.path, source.pypi, source.archive)) != 1:
        yield Fault(str(file), "1", "source: give exactly one of path, pypi, archive")
    if source and not source.path and not source.sha256:
        yield Fault(str(file), "1", "source: a pypi or archive source needs its sha256")
    if candidate.instances and not source:
        yield Fault(str(file), "1", "instances need a source")
