"""Every way in which measuring can fail: one class per kind, with its exit status and remedy.

A caller of the library catches :class:`MeasureError`; only ``measure/cli.py`` prints one and exits.
"""


class MeasureError(Exception):
    """Base class. ``str()`` is the one line that a user reads: what happened, where, what to do."""

    exit_status = 1


class UsageError(MeasureError):
    """The command line asks for something that does not exist or cannot be combined."""

    exit_status = 2


class ToolMissingError(MeasureError):
    """A program that measuring needs is not installed; the message says what to install."""

    exit_status = 3


class SourceError(MeasureError):
    """Sources cannot be fetched, have another digest, or would unpack outside their folder."""

    exit_status = 4


class BuildError(MeasureError):
    """The compiler refuses a file, or an instance lacks what the interface demands."""

    exit_status = 5


class KatError(MeasureError):
    """The known-answer test could not be run at all (its result, good or bad, is no error)."""

    exit_status = 6


class HostError(MeasureError):
    """The host is not fit for the plan that was asked for."""

    exit_status = 7


class DriverError(MeasureError):
    """The driver refused or broke: no counter, an implausible count, a document that is not complete."""

    exit_status = 8


class StorageError(MeasureError):
    """A folder cannot be written, or holds something that this run must not touch."""

    exit_status = 9


class PublishError(MeasureError):
    """A campaign is not fit for publication: unfinished, or an absolute path or host name in its evidence."""

    exit_status = 10


class SandboxError(MeasureError):
    """A program that is not to be trusted cannot be run confined, and is not run otherwise."""

    exit_status = 12


class RemoteError(MeasureError):
    """The scheduler cannot be reached, no worker is there, or one was lost too often."""

    exit_status = 13
