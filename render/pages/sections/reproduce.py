"""At the end of section 7: how to measure the same here, and how to compute the figures again."""

import re
from functools import cache
from typing import NamedTuple

from evidence import plans
from render.facts.subject import CandidateSubject
from render.look import templating


class Reproduce(NamedTuple):
    """Commands and a program to paste; ``measure`` is empty where the catalog holds no recipe."""

    measure: list[str]
    recompute: str
    program: str
    names_commands: bool


def view(subject: CandidateSubject) -> Reproduce:
    """Return the commands for this page's candidate."""
    return Reproduce(
        _measure(subject),
        f"python3 recompute.py data/{subject.system.system_id}/records/{subject.candidate}/*.json",
        program(),
        subject.system.campaign.katalog_version is not None,
    )


@cache
def program() -> str:
    """Return the program that computes the figures again; a reader needs nothing else to run it."""
    return (templating.TEMPLATES / "recompute.py").read_text(encoding="utf-8")


def _measure(subject: CandidateSubject) -> list[str]:
    """Return the commands that build, check and time what this page shows: all of it, and one instance."""
    known = {instance.label for instance in subject.entry.instances} if subject.entry else set()
    labels = [instance.label for instance in subject.instances if instance.label in known]
    words = plans.options(subject.system.campaign.planning)
    plan = f" {words}" if words else ""
    patterns = [f"^{subject.candidate}/", *(f"^{subject.candidate}/{_literal(label)}$" for label in labels[:1])]
    return [f"python -m measure run{plan} --only '{pattern}'" for pattern in patterns] if labels else []


def _literal(label: str) -> str:
    """Return a label as a regular expression of its own; of its signs only ``+`` and ``.`` have a meaning."""
    return re.sub(r"([+.])", r"\\\1", label)
