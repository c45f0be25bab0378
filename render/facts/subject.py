"""What a page is about: one system, or one candidate on one system, with everything its sections read."""

from typing import NamedTuple
from urllib.parse import quote

from evidence.catalog import Candidate, System
from evidence.operations import Family, family_of
from evidence.types import Campaign, Environment
from render.facts import environment
from render.facts.marks.scene import Raised
from render.facts.rows import Frames, InstanceRow, ProfileRow, RecordRow


class SystemLink(NamedTuple):
    """Another system's page of the same candidate; without ``href`` there is none."""

    system_id: str
    href: str
    here: bool
    registered: bool


class SystemSubject(NamedTuple):
    """One system. ``entry`` is its place in the catalog, None where it is not registered."""

    system_id: str
    entry: System | None
    campaign: Campaign
    environment: Environment
    frames: Frames
    notes: tuple[Raised, ...] = ()

    @property
    def architecture(self) -> str | None:
        """Return the machine's architecture, as the catalog or else the evidence names it."""
        return self.entry.architecture if self.entry else self.environment.architecture

    @property
    def architecture_text(self) -> str:
        """Return how titles name the architecture."""
        return environment.architecture_text(self.architecture)


class CandidateSubject(NamedTuple):
    """One candidate on one system. ``entry`` is its catalog file, None where there is none."""

    candidate: str
    entry: Candidate | None
    system: SystemSubject
    systems: tuple[SystemLink, ...]
    instances: tuple[InstanceRow, ...]
    records: tuple[RecordRow, ...]
    profiles: tuple[ProfileRow, ...]
    notes: tuple[Raised, ...] = ()

    @property
    def family(self) -> Family:
        """Return the candidate's family."""
        return family_of(self.candidate)

    @property
    def name(self) -> str:
        """Return id and algorithm: ``sign-18 Origami``."""
        return f"{self.candidate} {self.entry.algorithm}" if self.entry else self.candidate

    def evidence_href(self, file: str) -> str:
        """Return the link from the candidate's page to a file of its system's evidence."""
        return f"../../data/{self.system.system_id}/{quote(file)}"
