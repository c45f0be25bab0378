"""The JSON Schemas of the evidence files, generated from the types."""

import msgspec

from evidence.types import Build, Campaign, Changes, Profile, Record

DOCUMENTS: dict[str, type[msgspec.Struct]] = {
    "build.json": Build,
    "campaign.json": Campaign,
    "changes.json": Changes,
    "profile.json": Profile,
    "record.json": Record,
}


def documents() -> dict[str, bytes]:
    """Return file name and text of every schema; the same types give the same bytes."""
    return {name: _text(document) for name, document in DOCUMENTS.items()}


def _text(document: type[msgspec.Struct]) -> bytes:
    schema = msgspec.json.schema(document)
    return msgspec.json.format(msgspec.json.encode(schema, order="sorted"), indent=1) + b"\n"
