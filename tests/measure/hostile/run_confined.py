"""Run a program confined, as whoever runs this: KIND CONFINE FOLDER TIMEOUT_S CPU_S WORD...; says how in JSON."""

import json
import os
import sys
from pathlib import Path

from measure.confine.process import Limits
from measure.confine.sandbox import Sandbox, View


def main() -> None:
    kind, confine, folder, timeout_s, cpu_s, *words = sys.argv[1:]
    view = View(Path(folder), read=(Path(words[0]),), write=(Path(folder),))
    limits = Limits(float(timeout_s), 1 << 30, 1 << 20, cpu_s=int(cpu_s))
    env = {"PATH": "/usr/bin:/bin", "HOSTILE_MARK": os.environ["HOSTILE_MARK"]}
    ended = Sandbox(kind, Path(confine)).run(words, limits, view, env=env)
    facts = {name: getattr(ended, name) for name in ("exit_code", "signal", "timed_out", "wall_ns", "sandbox")}
    printed = {
        "text": ended.stdout.data[:100].decode("latin-1"),
        "cut": ended.stdout.cut,
        "bytes": len(ended.stdout.data),
    }
    sys.stdout.write(json.dumps({**facts, **printed}))


if __name__ == "__main__":
    main()
