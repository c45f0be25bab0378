"""Detached signatures of manifests, made and checked by OpenSSH: ``ssh-keygen -Y``."""

import shutil
import subprocess
from pathlib import Path

from evidence import store
from evidence.faults import Fault
from evidence.verify import Verified

NAMESPACE = "katalog"


def sign_argv(key: Path, manifest: Path) -> list[str]:
    """Return the command that signs a manifest; it writes ``<manifest>.sig`` beside it."""
    return ["ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(manifest)]


def add_signatures(result: Verified, data: Path, trusted: Path) -> Verified:
    """Return a verification with the manifests' signatures checked, too: each must be by a trusted signer.

    Args:
        result: what was verified so far.
        data: folder of the systems.
        trusted: allowed signers, in the format of ssh-keygen(1).
    """
    systems = store.systems(data)
    faults = [
        Fault(f"{system}/{store.SIGNATURE}", "", why) for system in systems if (why := _why_not(data / system, trusted))
    ]
    return Verified({**result.checked, "signatures": len(systems)}, (*result.faults, *faults))


def _why_not(folder: Path, trusted: Path) -> str | None:
    """Return why a folder's manifest does not count as signed; None when it does."""
    manifest, signature = folder / store.MANIFEST, folder / store.SIGNATURE
    if shutil.which("ssh-keygen") is None:
        return "cannot be checked: ssh-keygen is not installed; install openssh-client"
    if not signature.is_file():
        return "is missing"
    found = _keygen(["find-principals", "-f", str(trusted), "-s", str(signature)], b"")
    signers = found.stdout.decode(errors="replace").split()
    if found.returncode or not signers:
        return f"is by nobody in {trusted}"
    words = ["verify", "-f", str(trusted), "-I", signers[0], "-n", NAMESPACE, "-s", str(signature)]
    return f"does not fit {store.MANIFEST}" if _keygen(words, manifest.read_bytes()).returncode else None


def _keygen(words: list[str], stdin: bytes) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(["ssh-keygen", "-Y", *words], input=stdin, capture_output=True, check=False, timeout=60)
