"""The catalog: what people write about systems and candidates, in YAML.

``data/catalog/systems.yaml`` lists the systems in the order in which pages name them;
``data/catalog/candidates/<id>.yaml`` describes one candidate each.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeVar

import msgspec

from evidence import yamlfile
from evidence.faults import Fault, FaultyError, PathFault, convert
from evidence.operations import Family, family_of
from evidence.types import CandidateId, Count, Label, Positive, RelativePath, Sha256, SystemId

T = TypeVar("T")
Url = Annotated[str, msgspec.Meta(pattern=r"^https?://[^\s\"'<>\\]{1,500}\Z")]
Define = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(=[A-Za-z0-9_.+-]*)?\Z")]
LibraryName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,39}\Z")]
KatFileName = Annotated[
    str, msgspec.Meta(pattern=r"^KAT_(SIG|KEM|KEX|2_12|2_23|2_33|Loop)_[^/\\\x00-\x1f\x7f]{1,120}\Z")
]
KatMode = Annotated[str, msgspec.Meta(pattern=r"^(strict|nolen)(:[1-9][0-9]{0,4})?\Z")]
KAT_KINDS = {
    Family.SIGN: ("SIG",),
    Family.KEM: ("KEM",),
    Family.KEX: ("KEX",),
    Family.HASH: ("2_12", "2_23", "Loop", "2_33"),
}
PKC_RECORDS = 10


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


class NistKat(CatalogStruct, frozen=True, kw_only=True, tag_field="format", tag="nist"):
    """Known answer: SHA-256 of the NIST response text, first record (spec nist-kat)."""

    sha256: Sha256
    rng: Literal["nist-aes256-ctr-drbg", "hqc-shake"]

    @property
    def format(self) -> str:
        """Name of the format."""
        return "nist"


class KatFile(CatalogStruct, frozen=True, kw_only=True):
    """One submitted KAT file: its name, and the digest of its canonical text where that is known.

    ``submitted`` is the file itself, relative to the source's top folder; it is read to show the first difference,
    and its digest counts where ``canonical_sha256`` is not given.
    """

    file: KatFileName
    canonical_sha256: Sha256 | None = None
    mode: KatMode = "strict"
    submitted: RelativePath | None = None

    @property
    def kind(self) -> str:
        """What the file holds, by its name: SIG, KEM, KEX, 2_12, 2_23, 2_33 or Loop."""
        return next(kind for kinds in KAT_KINDS.values() for kind in kinds if self.file.startswith(f"KAT_{kind}_"))

    @property
    def records(self) -> int | None:
        """How many records the mode keeps; None for all."""
        _, _, count = self.mode.partition(":")
        return int(count) if count else None


class IccsKat(CatalogStruct, frozen=True, kw_only=True, tag_field="format", tag="iccs"):
    """Known answers in the official text format: one file, or several of a hash function under ``files``.

    ``records`` is how many records a SIG, KEM or KEX file has, 10 where nothing is said.
    """

    file: KatFileName | None = None
    canonical_sha256: Sha256 | None = None
    mode: KatMode = "strict"
    submitted: RelativePath | None = None
    records: Positive | None = None
    files: tuple[KatFile, ...] = ()

    @property
    def format(self) -> str:
        """Name of the format."""
        return "iccs"

    @property
    def known(self) -> tuple[KatFile, ...]:
        """All files that the recipe names."""
        if self.file is None:
            return self.files
        given = KatFile(
            file=self.file, canonical_sha256=self.canonical_sha256, mode=self.mode, submitted=self.submitted
        )
        return (given, *self.files)


Kat = NistKat | IccsKat


class Instance(CatalogStruct, frozen=True, kw_only=True):
    """Build recipe of one parameter set. Paths and globs are relative to the source's top folder.

    Without ``sources`` every source file below ``dir`` is taken that is no driver; without ``include`` every folder
    below ``dir`` that holds headers is searched for them.
    """

    label: Label
    name: str | None = None  # of the algorithm instance, where it differs from the label
    variant: str = "reference"
    level: Positive | None = None  # claimed strength in bits
    dir: RelativePath
    sources: tuple[RelativePath, ...] = ()
    exclude: tuple[RelativePath, ...] = ()
    include: tuple[RelativePath, ...] = ()
    defines: tuple[Define, ...] = ()
    libraries: tuple[LibraryName, ...] = ()  # of the system, such as gmp
    adapter: Literal["pqclean_kem", "pqclean_sign"] | None = None
    digest_bits: Positive | None = None  # of a hash function whose headers do not define DIGEST_BIT_LENGTH
    kat: Kat = IccsKat()


class Candidate(CatalogStruct, frozen=True, kw_only=True):
    """One candidate. The build recipe (source, instances) is optional: evidence alone is rendered too."""

    id: CandidateId
    algorithm: str
    links: Links = Links()
    survey: Survey | None = None
    sizes: dict[Label, ExternalSizes] = {}
    footnotes: tuple[Footnote, ...] = ()
    recommended: tuple[Label, ...] = ()  # sets that stand for the candidate in rankings, one for each strength
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
    document = yamlfile.read(file)
    if isinstance(document, list):
        faults.extend(document)
        return None
    result = convert(document.value, to)
    if isinstance(result, list):
        faults.extend(_at_line(file, fault, document.lines) for fault in result)
        return None
    return result


def _at_line(file: Path, fault: PathFault, lines: dict[str, int]) -> Fault:
    message = fault.message if fault.path == "$" else f"{fault.path.removeprefix('$.')}: {fault.message}"
    return Fault(str(file), str(lines.get(fault.path, 1)), message)


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
    for instance in candidate.instances:
        for message in kat_contradictions(instance.kat, family_of(candidate.id)):
            yield Fault(str(file), "1", f"instances: {instance.label}: kat: {message}")


def kat_contradictions(kat: Kat, family: Family) -> Iterator[str]:
    """Yield what cannot be right about the known answers of an instance of ``family``."""
    if isinstance(kat, NistKat):
        if family not in {Family.KEM, Family.SIGN}:
            yield f"format nist has no text for a {family.value}"
        return
    if kat.file is None and (kat.canonical_sha256 or kat.submitted):
        yield "canonical_sha256 and submitted need the name of their file"
    kinds = [known.kind for known in kat.known]
    for known in kat.known:
        if known.kind not in KAT_KINDS[family]:
            yield f"{known.file}: is no file of a {family.value}"
        if known.records and kat.records and known.records != kat.records:
            yield f"{known.file}: mode {known.mode} contradicts records: {kat.records}"
        if known.records and family is Family.HASH:
            yield f"{known.file}: mode {known.mode}: the files of a hash have no Count to cut at"
    for kind in sorted({kind for kind in kinds if kinds.count(kind) > 1}):
        yield f"two files of kind {kind}"
