"""The report of one candidate on one system, after §3.5 (1) to (7) of the guide."""

from typing import Any

from render.facts import environment
from render.facts.subject import CandidateSubject
from render.look import templating
from render.pages.sections import (
    assessment,
    basic,
    distribution,
    evidence_index,
    kat,
    performance,
    raised,
    reproduce,
    resources,
    sizes,
    symmetric,
)


def path(subject: CandidateSubject) -> str:
    """Return where the page lies below the output folder."""
    return f"{subject.system.system_id}/{subject.candidate}/index.md"


def view(subject: CandidateSubject) -> dict[str, Any]:
    """Return the page's view model: its frame, and one view for each section."""
    return {
        "subject": subject,
        "title": f"{subject.name} — performance on {subject.system.architecture_text}",
        "guide": environment.guide_text(subject.system.architecture),
        "basic": basic.view(subject),
        "assessment": assessment.view(subject),
        "kat": kat.view(subject),
        "performance": performance.view(subject),
        "distribution": distribution.view(subject),
        "raised": raised.view(subject),
        "resources": resources.view(subject),
        "sizes": sizes.view(subject),
        "symmetric": symmetric.view(subject),
        "reproduce": reproduce.view(subject),
        "evidence": evidence_index.view(subject),
    }


def render(subject: CandidateSubject) -> str:
    """Return the page as Markdown that holds HTML."""
    return templating.render("candidate.md.j2", view(subject))
