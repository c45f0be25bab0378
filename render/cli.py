"""``python -m render``: evidence to pages."""

import argparse
import gc
import sys
from collections.abc import Sequence
from pathlib import Path

from evidence.faults import FaultyError
from render.output import unchanged


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand; return 0, 1 when evidence has faults or pages would change, 2 when a path cannot be used."""
    options = _parser().parse_args(arguments)
    gc.set_threshold(100_000)  # evidence holds no cycles: looking through all of it for some takes a fifth of a run
    try:
        return int(options.run(options))
    except FaultyError as error:
        print(error, file=sys.stderr)
        print(f"{len(error.faults)} fault(s); nothing was written", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"render: {error.filename or options.out}: {error.strerror or error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m render", description=__doc__.partition(": ")[2])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("pages", help="render all pages and copy the evidence that they link")
    command.add_argument("--data", type=Path, default=Path("data"), help="folder of the systems (default: data)")
    command.add_argument("--catalog", type=Path, help="folder of the catalog (default: DATA/catalog)")
    command.add_argument(
        "--out", type=Path, default=Path("site_src/performance"), help="folder of the pages (default: %(default)s)"
    )
    command.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 naming the pages that would change"
    )
    command.add_argument(
        "--cache",
        type=Path,
        default=Path("build/render"),
        help="folder that keeps what need not be made again (default: %(default)s)",
    )
    command.set_defaults(run=_pages)
    return parser


def _pages(options: argparse.Namespace) -> int:
    catalog = options.catalog or options.data / "catalog"
    state = unchanged.State(options.data, catalog, options.out, options.cache)
    known = None if options.check else unchanged.files_of_last_run(state)
    if known is not None:
        print(f"{options.out}: 0 written, {known} unchanged, 0 removed")
        return 0
    from render import site  # noqa: PLC0415 - a second of imports, which the line above need not wait for

    result = site.render(options.data, catalog, options.out, check=options.check, cache=options.cache)
    if options.check:
        return _told(result.changed, result.stale, options.out)
    unchanged.remember(state)
    counts = result.counts
    print(f"{options.out}: {counts.written} written, {counts.unchanged} unchanged, {counts.removed} removed")
    return 0


def _told(changed: Sequence[str], stale: Sequence[str], out: Path) -> int:
    """Print what a run would do; return 1 if that is anything."""
    for path in changed:
        print(f"would change: {out / path}")
    for path in stale:
        print(f"would be removed: {out / path}")
    return 1 if changed or stale else 0
