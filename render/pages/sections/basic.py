"""Section 1, Basic information."""

from evidence.operations import FAMILIES
from render.facts.subject import CandidateSubject
from render.look.table import Line, Piece, line


def view(subject: CandidateSubject) -> list[Line]:
    """Return the lines ``label: value``; a link that the catalog does not give has no line."""
    family = FAMILIES[subject.family]
    variants = dict.fromkeys(instance.variant for instance in subject.instances)
    labels = dict.fromkeys(instance.label for instance in subject.instances)
    return [
        line("Category", f"{family.category}; function: {family.function}"),
        *([line("Algorithm", subject.entry.algorithm)] if subject.entry else []),
        line("Implementation versions measured", ", ".join(variants)),
        line("Parameter sets", ", ".join(labels)),
        *_links(subject),
    ]


def _links(subject: CandidateSubject) -> list[Line]:
    system_id = subject.system.system_id
    links = subject.entry.links if subject.entry else None
    offered = [
        ("Security evaluation", f"{subject.candidate} report", links and links.security_report),
        ("Measurement method", f"{system_id} method", "../method/"),
        ("Submission", "NICCS page", links and links.submission),
        ("Specification", f"{subject.candidate} specification", links and links.specification),
    ]
    return [line(label, Piece(text, href)) for label, text, href in offered if href]
