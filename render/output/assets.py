"""Scripts of packaged libraries, copied into the generated site so that nothing is loaded from another host."""

import importlib.util
from pathlib import Path

# Where it lies below the output folder, the package that carries it, and where it lies in the package.
LIBRARIES = {"assets/datatables.js": ("itables", "html/dt_bundle.js")}


def libraries() -> dict[str, Path]:
    """Return the files to copy by their place in the site.

    Raises:
        ModuleNotFoundError: when a package is not installed.
    """
    return {place: _folder(package) / path for place, (package, path) in LIBRARIES.items()}


def _folder(package: str) -> Path:
    """Return a package's folder without running the package."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"the package {package} is not installed; pip install 'katalog[render]' brings it")
    return Path(found.origin).parent
