"""Many machines of one kind: a Dask scheduler hands out instances, workers measure, this side checks and keeps.

One job is one instance, so that all its operations run on one core of one machine. A worker gets jobs only once it has
introduced itself and is of the campaign's kind: then it is granted the resource that jobs ask for. Not more jobs are
handed out than there are such workers: a lost worker makes only its own job suspect, and a late one finds work.
"""

import contextlib
import queue
import secrets
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from evidence.types import BuildInstance, Counter, Environment, HostCheck
from evidence.verify import changed_settings
from measure.cluster import returned, worker
from measure.cluster.worker import CLOSE_TIMEOUT_S, CONNECT_TIMEOUT_S, Answer, Introduction, Rules, programs
from measure.driver import probe
from measure.errors import HostError, MeasureError, RemoteError
from measure.timing import trials
from measure.timing.cores import name_of
from measure.timing.trials import Rig, Tell

if TYPE_CHECKING:
    from distributed import Client, Future

POLL_S = 0.5
ANSWER_TIMEOUT_S = 60.0
NO_WORKER_S = 600.0  # a queue of other people's jobs may be before the workers
ALL_REFUSED_S = 30.0
KEPT = "what was finished is kept, the same command goes on from there"


class Terms(NamedTuple):
    """What a worker must be, and what it is given."""

    scheduler: str
    rules: Rules
    reference: Environment
    counter: Counter
    refuses_problems: bool


class Hooks(NamedTuple):
    """Whom to tell."""

    say: Callable[[str], None]
    note: Callable[[HostCheck], str]  # puts a worker on record, and names it
    tell: Tell


def terms(rig: Rig, scheduler: str, reference: Environment, *, refuses_problems: bool) -> Terms:
    """Return the terms of a campaign, the counter being that of this machine.

    Raises:
        DriverError: when there is none.
    """
    rules = Rules(
        planning=rig.planning,
        versions=rig.versions,
        driver=rig.driver.read_bytes(),
        driver_sha256=rig.driver_sha256,
    )
    return Terms(scheduler, rules, reference, probe.probe(rig.driver, rig.cpu).counter, refuses_problems)


def refusals(found: Introduction, wanted: Terms) -> list[str]:
    """Return why a worker must not measure: what is found, and what is wanted; nothing where it may."""
    ours = programs()
    differing = [name for name in ours if found.programs.get(name) != ours[name]]
    reasons = [f"{name} is {found.programs.get(name)}, wanted {ours[name]}" for name in differing]
    if found.environment is None or found.counter is None:
        return [*reasons, found.error or "did not say what it is"]
    changed = changed_settings(found.environment, wanted.reference)
    reasons += [returned.difference(name, found.environment, wanted.reference) for name in changed]
    if (found.counter.name, found.counter.unit) != (wanted.counter.name, wanted.counter.unit):
        reasons.append(f"counter is {found.counter.name}, wanted {wanted.counter.name}")
    return reasons + (list(found.problems) if wanted.refuses_problems else [])


def hand_out(rig: Rig, instances: Sequence[BuildInstance], wanted: Terms, hooks: Hooks) -> None:
    """Have workers measure all instances.

    Raises:
        ToolMissingError: when ``distributed`` is not installed.
        RemoteError: when the scheduler cannot be reached or is lost, no worker is there, or an instance cost too many.
        HostError: when no worker that is there may measure.
    """
    with _connected(wanted.scheduler) as client:
        try:
            Handout(client, rig, wanted, hooks).run(instances)
        except MeasureError:
            raise
        except Exception as error:
            # A client without a scheduler fails in many ways.
            if client.status == "running" and not isinstance(error, OSError):
                raise
            raise RemoteError(_lost(wanted, type(error).__name__)) from error


def _lost(wanted: Terms, how: str) -> str:
    return f"--scheduler {wanted.scheduler}: the connection was lost ({how}); {KEPT}"


@contextlib.contextmanager
def _connected(scheduler: str) -> Iterator["Client"]:
    worker.need_distributed()
    from distributed import Client  # noqa: PLC0415

    try:
        client = Client(scheduler, timeout=CONNECT_TIMEOUT_S, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise RemoteError(worker.unreachable(scheduler, error)) from error
    try:
        theirs = client.sync(client.scheduler.versions)["packages"]["distributed"]  # type: ignore[union-attr]
        ours = programs()["distributed"]
        if theirs != ours:
            raise RemoteError(f"--scheduler {scheduler}: distributed is {theirs}, wanted {ours}; install one on all")
        yield client
    finally:
        client.close(timeout=CLOSE_TIMEOUT_S)


class Handout:
    """A phase under way: who is there, what is left, and what waits for an answer."""

    def __init__(self, client: "Client", rig: Rig, wanted: Terms, hooks: Hooks) -> None:
        self.client, self.rig, self.wanted, self.hooks = client, rig, wanted, hooks
        self.resource = f"measure-{secrets.token_hex(8)}"  # what another campaign granted is none here
        self.left: list[BuildInstance] = []
        self.jobs: dict[Hashable, BuildInstance] = {}  # by key
        self.failed: dict[str, str] = {}  # instances that failed somewhere, with the reason
        self.given_up: list[str] = []
        self.asked: dict[str, Future[bytes]] = {}  # by address
        self.admitted: set[str] = set()
        self.refused: dict[str, str] = {}
        self.shards: dict[str, str] = {}  # the names of all that ever were admitted
        self.waiting: dict[Hashable, Callable[[Future[bytes]], None]] = {}  # by key
        self.done: queue.Queue[Future[bytes]] = queue.Queue()
        self.alone_since_s = time.monotonic()

    def run(self, instances: Sequence[BuildInstance]) -> None:
        """Go on until every instance is measured or given up.

        Raises:
            RemoteError, HostError: as ``hand_out`` does.
        """
        self.left = list(instances)
        while self.left or self.jobs:
            self._meet()
            while self.left and len(self.jobs) < len(self.admitted):
                self._order(self.left.pop(0))
            with contextlib.suppress(queue.Empty):
                future = self.done.get(timeout=POLL_S)
                if then := self.waiting.pop(future.key, None):
                    then(future)
                future.release()  # else a lost worker's result would be computed again
        if self.given_up:
            raise RemoteError(f"{len(self.given_up)} instance(s) not measured, first {self.given_up[0]}; {KEPT}")

    def _meet(self) -> None:
        """See who came and who went.

        Raises:
            RemoteError, HostError: when nobody may measure, and has not for some time.
        """
        present = set(self.client.nthreads())
        for address in self.admitted - present:
            self.hooks.say(f"{self.shards[address]}: is lost; what it had under way is handed out again")
        self.admitted &= present
        self.refused = {address: reason for address, reason in self.refused.items() if address in present}
        for address in self.asked.keys() - present:
            self.asked.pop(address).cancel()
        for address in present - self.asked.keys() - self.refused.keys() - self.admitted:
            self._ask(address)
        if self.admitted or self.asked:
            self.alone_since_s = time.monotonic()
        elif time.monotonic() - self.alone_since_s > (ALL_REFUSED_S if present else NO_WORKER_S):
            raise self._nobody()

    def _nobody(self) -> MeasureError:
        if self.refused:
            reason = list(self.refused.values())[-1]
            return HostError(f"no worker may measure; the last was refused: {reason}; {KEPT}")
        return RemoteError(
            f"--scheduler {self.wanted.scheduler}: no worker for {NO_WORKER_S:.0f} s; start some with "
            f"`python -m measure worker --scheduler {self.wanted.scheduler}`; {KEPT}"
        )

    def _ask(self, address: str) -> None:
        rules = msgspec.msgpack.encode(self.wanted.rules)
        self.asked[address] = self._submit(
            worker.introduce, rules, partial(self._judge, address), workers=[address], priority=1
        )

    def _order(self, built: BuildInstance) -> None:
        library = (self.rig.folder.path / (built.library or "")).read_bytes()
        order = worker.Order(rules=self.wanted.rules, built=built, library=library)
        future = self._submit(
            worker.measure,
            msgspec.msgpack.encode(order),
            partial(self._collect, built),
            resources={self.resource: 1},
        )
        self.jobs[future.key] = built

    def _submit(
        self, work: Callable[[bytes], bytes], content: bytes, then: Callable[["Future[bytes]"], None], **where: object
    ) -> "Future[bytes]":
        future = self.client.submit(work, content, pure=False, **where)
        self.waiting[future.key] = then
        future.add_done_callback(self.done.put)
        return future

    def _judge(self, address: str, future: "Future[bytes]") -> None:
        """Admit a worker that has introduced itself, or refuse it."""
        if self.asked.pop(address, None) is None:
            return
        try:
            found = msgspec.json.decode(future.result(timeout=ANSWER_TIMEOUT_S), type=Introduction)
            reasons = refusals(found, self.wanted)
        except Exception as error:  # noqa: BLE001 - whatever a program says that is none of ours
            reasons = [f"cannot introduce itself: {type(error).__name__}: {' '.join(str(error).split()):.200}"]
        if reasons:
            self._refuse(address, "; ".join(reasons))
            return
        if not self._grant(address, 1):
            self._refuse(address, "does not answer")
            return
        problems, cpu = found.problems, found.cpu or 0
        self.shards[address] = self.hooks.note(
            HostCheck(phase="time", cpu=cpu, utc=trials.utc_now(), problems=problems)
        )
        self.admitted.add(address)
        self.hooks.say(f"{self.shards[address]}: {address}, core {cpu}")

    def _refuse(self, address: str, reason: str) -> None:
        self.hooks.say(f"worker {address} is refused: {reason} (start it again once that is mended)")
        self.refused[address] = reason
        self.admitted.discard(address)
        self._grant(address, 0)

    def _grant(self, address: str, amount: int) -> bool:
        """Let a worker take this campaign's jobs, or no longer; return whether it heard."""
        try:
            self.client.run(worker.grant, self.resource, amount, workers=[address])
        except Exception:  # noqa: BLE001 - whatever goes wrong with a worker
            return False
        return True

    def _collect(self, built: BuildInstance, future: "Future[bytes]") -> None:
        """Keep an answer, or hand the instance out again.

        Raises:
            RemoteError: when the scheduler is lost.
        """
        from distributed.scheduler import KilledWorker  # noqa: PLC0415

        self.jobs.pop(future.key)
        if future.cancelled():
            raise RemoteError(_lost(self.wanted, "cancelled"))
        try:
            answer = returned.decode(future.result(timeout=ANSWER_TIMEOUT_S))
        except TimeoutError:  # it was lost before it could be fetched
            future.cancel()
            self.left.insert(0, built)
        except KilledWorker as error:
            self._give_up(built, f"{error.allowed_failures + 1} workers were lost while they measured it")
        except Exception as error:
            if future.status != "error" and not isinstance(error, RemoteError):
                raise  # it is the connection that failed, not the job
            self._fail(built, None, f"{type(error).__name__}: {' '.join(str(error).split()):.200}")
        else:
            self._keep(built, answer)

    def _keep(self, built: BuildInstance, answer: Answer) -> None:
        shard = self.shards.get(answer.worker)
        reason = returned.fault(self.rig, built, answer, self.wanted.reference) if shard else "was never admitted"
        if reason:
            self._fail(built, answer.worker, f"{shard or answer.worker}: {reason}")
            return
        returned.keep(self.rig, built, answer, self.shards)
        if not trials.is_finished(self.rig, built):
            trials.drop_attempts(self.rig, built)
            self._fail(built, answer.worker, f"{shard}: its answer is not complete")
            return
        self.hooks.tell(1, f"{name_of(built)} by {shard}, {len(answer.entries)} processes")

    def _fail(self, built: BuildInstance, address: str | None, reason: str) -> None:
        """Hand an instance out again that a worker failed at, though not to that one; the second failure ends that."""
        if name_of(built) in self.failed:
            self._give_up(built, reason)
            return
        self.failed[name_of(built)] = reason
        self.hooks.say(f"{name_of(built)}: {reason}; it is handed out again")
        if address:
            self._refuse(address, reason)
        self.left.insert(0, built)

    def _give_up(self, built: BuildInstance, reason: str) -> None:
        """Leave an instance out, and go on with the others."""
        self.given_up.append(f"{name_of(built)}: {reason}")
        self.hooks.tell(1, f"{name_of(built)}: {reason}; it is not handed out again")
