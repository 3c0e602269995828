"""The public names of dcopt as pages of the reference, and docstrings as reStructuredText."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType

ROOMS = {  # module: what it is for, as the heading of its page
    "dcopt": "Problems, runs, results and estimators",
    "dcopt.losses": "Losses",
    "dcopt.regularizers": "Penalties and constraints",
    "dcopt.problems": "Problems with a constructor of their own",
    "dcopt.convex": "Convex parts G",
    "dcopt.sums": "Sums of components",
    "dcopt.estimators": "Estimators of the gradient",
    "dcopt.subproblems": "Solvers of the convex program of a step",
    "dcopt.local": "The local method and its policies",
    "dcopt.adaptive": "Adaptive κ",
    "dcopt.measures": "Measures of convergence",
    "dcopt.runs.stop": "Rules that end a run",
    "dcopt.theory.formulas": "The theorems as formulas",
    "dcopt.store": "Models and checkpoints",
    "dcopt.learn.files": "Files of fitted estimators",
}


def public(module: ModuleType) -> list[str]:
    """`__all__`; without it, what the module itself defines, but for names with an underscore."""
    declared = getattr(module, "__all__", None)
    if declared is not None:
        return sorted(declared, key=str.lower)
    own = (name for name, what in vars(module).items() if getattr(what, "__module__", None) == module.__name__)
    return sorted((name for name in own if not name.startswith("_")), key=str.lower)


def documented() -> dict[str, list[str]]:
    """module: the names on its page; a name is on the page of the first module that has it."""
    seen: set[int] = set()
    pages: dict[str, list[str]] = {}
    for room in ROOMS:
        module = importlib.import_module(room)
        pages[room] = []
        for name in public(module):
            what = getattr(module, name)
            if inspect.ismodule(what) or id(what) in seen:
                continue
            if callable(what):
                seen.add(id(what))
            pages[room].append(name)
    return pages


def reference() -> Iterator[tuple[str, str]]:
    """One page for each module, with a table of its names; Sphinx makes a page of each name."""
    for room, listed in documented().items():
        module = importlib.import_module(room)
        registries = [name for name in listed if isinstance(getattr(module, name), dict)]
        rows = "\n".join(f"   ~{room}.{name}" for name in listed if name not in registries)
        parts = [
            f"{ROOMS[room]}\n{'=' * 2 * len(ROOMS[room])}",
            f"``{room}``",
            f".. autosummary::\n   :toctree: names\n   :nosignatures:\n\n{rows}",
            *(registered(f"{room}.{name}", getattr(module, name)) for name in registries),
        ]
        yield f"api/{room}.rst", "\n\n".join(parts) + "\n"


def registered(name: str, registry: dict[str, object]) -> str:
    """The names of a registry, such as those of losses, by which they can be asked for."""
    words = ", ".join(f"``{word}``" for word in registry)
    return f".. py:data:: {name}\n\n   The registered names: {words}."
