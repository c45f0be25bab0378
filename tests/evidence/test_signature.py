"""Signed manifests: made and checked with OpenSSH itself."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from evidence import store
from evidence.cli import main
from evidence.signature import sign_argv

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen (openssh-client)")


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """Return a folder with two key pairs and a file that trusts the first."""
    folder = tmp_path / "keys"
    folder.mkdir()
    for name in ("ours", "theirs"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    (folder / "trusted").write_text("operator@example.org " + (folder / "ours.pub").read_text())
    return folder


def sign(copy: Path, key: Path) -> None:
    for system in ("x86_1", "arm_1"):
        (copy / system / store.SIGNATURE).unlink(missing_ok=True)
        subprocess.run(sign_argv(key, copy / system / store.MANIFEST), check=True, capture_output=True)


def verified(copy: Path, keys: Path) -> int:
    return main(["verify", "--data", str(copy), "--trusted", str(keys / "trusted")])


def test_a_trusted_signature_passes(copy: Path, keys: Path, capsys: Any) -> None:
    sign(copy, keys / "ours")
    assert verified(copy, keys) == 0
    assert "      2 signatures" in capsys.readouterr().out


def test_a_missing_a_foreign_and_a_broken_signature_are_found(copy: Path, keys: Path, capsys: Any) -> None:
    assert verified(copy, keys) == 1
    assert "x86_1/MANIFEST.sha256.sig: is missing" in capsys.readouterr().err
    sign(copy, keys / "theirs")
    assert verified(copy, keys) == 1
    assert "x86_1/MANIFEST.sha256.sig: is by nobody in " in capsys.readouterr().err
    sign(copy, keys / "ours")
    file = copy / "x86_1" / "kat" / "sign-16" / "Octarine-128.log"
    file.write_text(file.read_text() + "\n")
    (copy / "x86_1" / store.MANIFEST).write_bytes(store.manifest(copy / "x86_1"))
    assert verified(copy, keys) == 1
    assert "x86_1/MANIFEST.sha256.sig: does not fit MANIFEST.sha256" in capsys.readouterr().err
