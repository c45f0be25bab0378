"""What workers send back: checked, and put beside the attempts of this machine, one instance as a whole or not at all.

All operations of an instance come from one core of one machine: an answer replaces whatever there was of its instance,
and an instance that is not finished is measured from its beginning.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from evidence.types import BuildInstance, Environment
from evidence.verify import changed_settings
from measure.cluster.worker import Answer, Entry
from measure.errors import RemoteError
from measure.timing import trials
from measure.timing.attempts import RunFolder, read
from measure.timing.trials import Rig


def decode(answer: bytes) -> Answer:
    """Return an answer.

    Raises:
        RemoteError: when it is none.
    """
    try:
        return msgspec.json.decode(answer, type=Answer)
    except msgspec.DecodeError as error:
        raise RemoteError(f"a worker's answer is not as agreed: {error}") from error


def fault(rig: Rig, built: BuildInstance, answer: Answer, reference: Environment) -> str | None:
    """Return why an answer does not count: it must be about the instance, driver and kind of machine asked for."""
    if answer.error or not answer.entries:
        return answer.error or "answers with nothing"
    operations = set(trials.operations_of(rig, built))
    for entry in answer.entries:
        attempt, found = entry.attempt, entry.attempt.environment
        made_with = (attempt.library_sha256, attempt.driver_sha256)
        known = entry.operation in operations and entry.number in ("calibration", *range(rig.planning.trials))
        if not known or made_with != (built.library_sha256, rig.driver_sha256):
            return f"{entry.operation}: is not what was asked for"
        if changed := changed_settings(found, reference):
            return f"{entry.operation}: {difference(changed[0], found, reference)}"
    return None


def difference(name: str, found: Environment, wanted: Environment) -> str:
    """Return one line about a setting that differs."""
    return f"{name} is {getattr(found, name)!r}, wanted {getattr(wanted, name)!r}"


def keep(rig: Rig, built: BuildInstance, answer: Answer, shards: Mapping[str, str]) -> None:
    """Keep an answer, and put its attempts in the places of all earlier ones; a kill in between costs nothing.

    Raises:
        StorageError: when the folder cannot be written.
    """
    entries = tuple(_labelled(entry, shards[answer.worker]) for entry in answer.entries)
    file = rig.folder.returned_file(built.candidate, built.label)
    rig.folder.write(file, msgspec.structs.replace(answer, worker=shards[answer.worker], entries=entries))
    trials.drop_attempts(rig, built)
    take_in(rig.folder)


def _labelled(entry: Entry, shard: str) -> Entry:
    return msgspec.structs.replace(entry, attempt=msgspec.structs.replace(entry.attempt, shard=shard))


def take_in(folder: RunFolder) -> None:
    """Put the attempts of all kept answers in their places, in those of the instances' earlier attempts.

    Raises:
        StorageError: when the folder cannot be written.
    """
    for file in sorted((folder.path / "returned").glob("*/[!.]*.json")):
        if answer := read(file, Answer):
            _spread(folder, answer.entries)
        file.unlink()


def _spread(folder: RunFolder, entries: Sequence[Entry]) -> None:
    for place in {_file(folder, entry).parent for entry in entries}:
        shutil.rmtree(place, ignore_errors=True)
    for entry in entries:
        folder.write(_file(folder, entry), entry.attempt)


def _file(folder: RunFolder, entry: Entry) -> Path:
    return folder.attempt_file(entry.operation, entry.number)
