"""``python -m measure init``: a first manifest of a submission folder, with a comment wherever a person decides."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from evidence.operations import Family
from measure.errors import StorageError, UsageError
from measure.submission.discover import FoundInstance, FoundKat, Name, instances, kat_files, same_name

HELP = "write a first manifest of a submission folder, with comments where a person must decide"
FAMILY_OF_KIND = {"SIG": Family.SIGN, "KEM": Family.KEM, "KEX": Family.KEX}
ON_REQUEST = "2_33"
USUAL_RECORDS = 10
LEVELS = frozenset({80, 112, 128, 192, 256, 384, 512})


class Submission(NamedTuple):
    """What was found in a folder, for one family."""

    id: str
    algorithm: str
    path: str  # of the folder, as the manifest names it
    instances: Sequence[FoundInstance]
    kats: Sequence[FoundKat]
    left_out: Sequence[FoundInstance]  # of other families


def survey(folder: Path, candidate_id: str | None, root: Path) -> Submission:
    """Look through a submission folder.

    Args:
        folder: the submission as downloaded and unpacked.
        candidate_id: the id to give; None makes one from family and folder.
        root: the folder to which local sources in the catalog are relative.

    Raises:
        UsageError: when there is no such folder, no interface in it, or none of the family that the id names.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    found = instances(folder)
    if not found:
        raise UsageError(f"{folder}: no file in it declares sig_keygen, kem_enc, kex_init_a or CryptHash")
    family = Family(candidate_id.partition("-")[0]) if candidate_id else _most_frequent(found)
    chosen = [one for one in found if one.family is family]
    if not chosen:
        raise UsageError(f"{folder}: holds no {family.value}, but {', '.join(sorted({one.family for one in found}))}")
    inside = folder.resolve().is_relative_to(root.resolve())
    return Submission(
        id=candidate_id or f"{family.value}-{_slug(folder.resolve().name)}",
        algorithm=_algorithm(chosen, folder),
        path=os.path.relpath(folder.resolve(), root.resolve()) if inside else str(folder.resolve()),
        instances=chosen,
        kats=kat_files(folder),
        left_out=[one for one in found if one.family is not family],
    )


def manifest(found: Submission) -> str:
    """Return the manifest as YAML with comments."""
    return "\n".join(_lines(found)) + "\n"


def write(found: Submission, catalog: Path) -> Path:
    """Write the manifest into a catalog folder; return the file.

    Raises:
        StorageError: when it is there already, or cannot be written.
    """
    file = catalog / "candidates" / f"{found.id}.yaml"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as stream:
            stream.write(manifest(found))
    except FileExistsError:
        raise StorageError(f"{file}: is there already and is not overwritten; choose another --id") from None
    except OSError as error:
        raise StorageError(f"{file}: cannot be written: {error.strerror}") from error
    return file


def _lines(found: Submission) -> Iterator[str]:
    yield f"id: {found.id}  # decide: the catalog's number or name of the submission"
    yield f"algorithm: {_scalar(found.algorithm)}  # decide: its name as the submission writes it"
    yield "# decide: links: {submission: https://..., specification: https://...}"
    yield "source:"
    yield f"  path: {_scalar(found.path)}  # decide: for others, an archive with its sha256"
    yield "instances:  # decide: smallest first, the quick plan takes the first"
    taken: set[str] = set()
    labels: set[str] = set()
    for instance in found.instances:
        for name in instance.names or (Name(Path(instance.folder).name or found.algorithm, None),):
            kats = [kat for kat in found.kats if same_name(kat.name, name.name) and _fits(kat, instance.family)]
            taken.update(kat.path for kat in kats)
            yield from _instance_lines(instance, name, _label(name.name, instance, labels), kats)
    yield from _closing(found, taken)


def _instance_lines(instance: FoundInstance, name: Name, label: str, kats: Sequence[FoundKat]) -> Iterator[str]:
    yield f"  - label: {_scalar(label)}"
    if not instance.names:
        yield "    # decide: no header gives ALGORITHM_INSTANCE as text; the label is the folder's name"
    elif label != name.name:
        yield f"    name: {_scalar(name.name)}"
    if instance.variant not in {None, "reference"}:
        yield f"    variant: {instance.variant}"
    if instance.variant is None:
        yield "    # decide: variant: reference, performance or resource (reference where nothing is said)"
    yield from _level_lines(instance.family, name.name)
    yield f"    dir: {_scalar(instance.folder)}"
    if name.condition:
        yield f"    # decide: defines: [...]; the header has this name under: {_comment(name.condition)}"
    if instance.libraries:
        yield f"    libraries: [{', '.join(instance.libraries)}]  # decide: its headers are included"
    yield from _kat_lines(instance.family, kats)


def _level_lines(family: Family, name: str) -> Iterator[str]:
    numbers = [int(digits) for digits in re.findall(r"\d+", name)]
    guess = next((number for number in numbers if number in LEVELS), None)
    if guess and family is not Family.HASH:
        yield f"    level: {guess}  # decide: claimed strength in bits; taken from the name"
    else:
        yield "    # decide: level: claimed strength in bits"


def _kat_lines(family: Family, kats: Sequence[FoundKat]) -> Iterator[str]:
    """Yield the known answers: one file, or a list for a hash function."""
    useful = [kat for kat in kats if kat.answers]
    yield from (f"    # {_comment(kat.path)} is a blank template without answers" for kat in kats if not kat.answers)
    if not useful:
        yield "    # decide: no KAT file bears this name; without a digest the test can only say NOKAT"
        yield "    kat: {format: iccs}"
        return
    yield "    kat:"
    yield "      format: iccs"
    if family is Family.HASH:
        yield from _hash_lines(useful)
    else:
        yield from _choice_lines(useful, "      ")
        if useful[0].records != USUAL_RECORDS and useful[0].records:
            yield f"      records: {useful[0].records}"


def _hash_lines(kats: Sequence[FoundKat]) -> Iterator[str]:
    yield "      files:"
    for kind in sorted({kat.kind for kat in kats}):
        lines = list(_choice_lines([kat for kat in kats if kat.kind == kind], "          "))
        lines[0] = lines[0].replace("          ", "        - ", 1)
        if kind == ON_REQUEST:
            yield "        # decide: takes 3 messages of 1 GiB; uncomment to have it tested"
            lines = [f"        # {line.removeprefix('        ')}" for line in lines]
        yield from lines


def _choice_lines(kats: Sequence[FoundKat], indent: str) -> Iterator[str]:
    """Yield the first of several files of one kind; others with another digest are for a person to choose from."""
    first, others = kats[0], kats[1:]
    yield f"{indent}file: {_scalar(_standard_name(first))}"
    yield f"{indent}canonical_sha256: {first.canonical_sha256}"
    if first.mode != "strict":
        yield f"{indent}mode: {first.mode}"
    yield f"{indent}submitted: {_scalar(first.path)}"
    for other in others:
        if other.canonical_sha256 != first.canonical_sha256:
            yield f"{indent}# decide: or {_comment(other.path)}: {other.canonical_sha256} {other.mode}"


def _standard_name(kat: FoundKat) -> str:
    return f"KAT_{kat.kind}_{kat.name}.txt"


def _closing(found: Submission, taken: set[str]) -> Iterator[str]:
    for kat in found.kats:
        if kat.path not in taken:
            yield f"# decide: no instance bears the name of {_comment(kat.path)}: {kat.canonical_sha256} {kat.mode}"
    for other in found.left_out:
        family = other.family.value
        yield f"# decide: {_comment(other.folder)} is a {family}, for a manifest of its own: --id {family}-..."


def _fits(kat: FoundKat, family: Family) -> bool:
    return FAMILY_OF_KIND.get(kat.kind, Family.HASH) is family


def _label(name: str, instance: FoundInstance, labels: set[str]) -> str:
    """Return a label that no other instance has: the name, with the variant or a number where it stands twice."""
    base = re.sub(r"[^A-Za-z0-9+._-]+", "-", name).strip("-._+")[:60] or "instance"
    variant = f"{base}-{instance.variant or 'other'}"
    options = [base, variant, *(f"{variant}-{number}" for number in range(2, 1000))]
    label = next(option for option in options if option not in labels)
    labels.add(label)
    return label


def _most_frequent(found: Sequence[FoundInstance]) -> Family:
    families = [one.family for one in found]
    return max(families, key=families.count)


def _algorithm(found: Sequence[FoundInstance], folder: Path) -> str:
    """Return what the instances' names have in common, else the folder's name."""
    names = [name.name for one in found for name in one.names]
    common = os.path.commonprefix(names)  # noqa: RUF071 - character by character is what is meant
    return re.sub(r"[-_\d\s]+$", "", common) or folder.resolve().name


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40].strip("-") or "new"


def _scalar(text: str) -> str:
    """Return a text as a YAML scalar on one line, quoted where it must be."""
    return yaml.safe_dump(text, allow_unicode=True, width=10_000).removesuffix("...\n").strip()


def _comment(text: str) -> str:
    """Return a text as it may stand in a comment: on one line, cut."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:200]
