"""Conversion of plain data into the frozen types, with every fault listed, not only the first."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

T = TypeVar("T")


class Fault(NamedTuple):
    """One fault of one file. ``where`` is a line number, a JSON path, or empty for the whole file."""

    file: str
    where: str
    message: str

    def __str__(self) -> str:
        """Return ``file:line: message`` or ``file: $.path: message``."""
        separator = ":" if self.where.isdigit() else ": "
        place = f"{separator}{self.where}" if self.where else ""
        return f"{self.file}{place}: {self.message}"


class FaultyError(Exception):
    """Raised with all faults that a load found; ``str()`` gives one line each."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class PathFault(NamedTuple):
    """A fault at a path such as ``$.processes[2].wall_s``."""

    path: str
    message: str


def convert(value: object, to: type[T]) -> T | list[PathFault]:
    """Return ``value`` as ``to``, or every fault in it with its path.

    The fast path is msgspec's own conversion; only where that refuses is the value walked piece by piece.
    """
    try:
        return msgspec.convert(value, to)
    except msgspec.ValidationError as error:
        found = list(_walk(value, to, "$"))
        return found or [PathFault("$", str(error))]


def _walk(value: object, to: Any, path: str) -> Iterator[PathFault]:
    """Yield the faults of ``value`` against the type ``to``, going down as far as the types agree."""
    target = _strip_optional(to)
    info = msgspec.inspect.type_info(target)
    if value is None and target is not to:
        return
    if isinstance(info, msgspec.inspect.UnionType) and _tagged(info) and isinstance(value, Mapping):
        yield from _walk_union(value, _tagged(info), path)
    elif isinstance(info, msgspec.inspect.StructType) and isinstance(value, Mapping):
        yield from _walk_struct(value, info.cls, path)
    elif isinstance(info, msgspec.inspect.VarTupleType | msgspec.inspect.ListType) and isinstance(value, list | tuple):
        item = target.__args__[0]
        for index, entry in enumerate(value):
            yield from _walk(entry, item, f"{path}[{index}]")
    elif isinstance(info, msgspec.inspect.DictType) and isinstance(value, Mapping):
        item = target.__args__[1]
        for key, entry in value.items():
            yield from _walk(entry, item, f"{path}.{key}")
    else:
        yield from _leaf(value, to, path)


def _tagged(info: msgspec.inspect.UnionType) -> dict[str, msgspec.inspect.StructType]:
    """Return the structs of a union by their tags."""
    structs = (kind for kind in info.types if isinstance(kind, msgspec.inspect.StructType))
    return {str(kind.tag): kind for kind in structs if kind.tag_field}


def _walk_union(
    value: Mapping[Any, object], structs: Mapping[str, msgspec.inspect.StructType], path: str
) -> Iterator[PathFault]:
    """Yield the faults against that struct of a tagged union which the value's tag names."""
    field = next(iter(structs.values())).tag_field
    tag = value.get(field)
    known = " or ".join(repr(name) for name in structs)
    if isinstance(tag, str) and tag in structs:
        yield from _walk_struct(value, structs[tag].cls, path)
    elif field in value:
        yield PathFault(f"{path}.{field}", f"expected {known}, got {tag!r:.60}")
    else:
        yield PathFault(path, f"required key {field!r} is missing; it is {known}")


def _walk_struct(value: Mapping[Any, object], struct: type[msgspec.Struct], path: str) -> Iterator[PathFault]:
    hints = {field.encode_name: field for field in msgspec.structs.fields(struct)}
    tag_field = struct.__struct_config__.tag_field
    names = [*([tag_field] if tag_field else []), *hints]
    for key in value:
        if key not in names:
            near = difflib.get_close_matches(str(key), names, 1)
            advice = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(names)}"
            yield PathFault(f"{path}.{key}", f"unknown key {str(key)!r}{advice}")
    for name, field in hints.items():
        if name in value:
            yield from _walk(value[name], field.type, f"{path}.{name}")
        elif field.required:
            yield PathFault(path, f"required key {name!r} is missing")


def _leaf(value: object, to: Any, path: str) -> Iterator[PathFault]:
    try:
        msgspec.convert(value, to)
    except msgspec.ValidationError as error:
        yield PathFault(path, f"{str(error).partition(' - at `')[0]}, got {value!r:.60}")


def _strip_optional(to: Any) -> Any:
    """Return ``X`` for ``X | None``, else ``to``."""
    arguments = getattr(to, "__args__", ())
    rest = [argument for argument in arguments if argument is not type(None)]
    return rest[0] if type(None) in arguments and len(rest) == 1 else to
