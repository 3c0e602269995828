"""The site without building it: every page has its place, every link a target, every public name a text."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.S | re.M)


def tool(name: str) -> ModuleType:
    """A module of docs/site."""
    sys.path.insert(0, str(ROOT / "docs" / "site"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


STAGE, NAMES, DOCSTRINGS = tool("stage"), tool("names"), tool("docstrings")


def listed(pages: dict[str, str]) -> Iterator[str]:
    """What the toctrees of the pages name, without its ending."""
    for text in pages.values():
        for tree in TOCTREE.findall(text):
            yield from (line for line in tree.split() if not line.startswith(":"))


def staged() -> dict[str, str]:
    """The pages of the site, as they are written for Sphinx; those of names and commands are only named."""
    pages = {
        page.as_posix(): STAGE.staged_page((ROOT / "docs" / page).read_text(encoding="utf-8"), "docs" / page, page)
        for page in STAGE.pages()
    }
    for home, place in STAGE.OUTSIDE.items():
        pages[place] = STAGE.staged_page((ROOT / home).read_text(encoding="utf-8"), Path(home), Path(place))
    return pages


def made() -> set[str]:
    """The pages that are made by the build."""
    examples = {f"gallery/{path.stem}.rst" for path in (ROOT / "examples").glob("*.py")}
    return {*examples, "gallery/index.rst", "commands.md", *(f"api/{room}.rst" for room in NAMES.ROOMS)}


def missing(pages: dict[str, str]) -> set[str]:
    named = set(listed(pages))
    return {page for page in pages if page != "index.md" and page.removesuffix(".md") not in named}


def broken(pages: dict[str, str], others: set[str]) -> list[str]:
    """Links to pages that are not there."""
    found = []
    for page, text in pages.items():
        prose = "".join(part for is_prose, part in STAGE.outside_code(text) if is_prose)
        for link in re.findall(r"\]\(([^)\s]+)\)", prose):
            path = link.partition("#")[0]
            if not path or re.match(r"[a-z]+:", path) or path.endswith(".png"):
                continue
            there = (ROOT / page).parent.joinpath(path).resolve().relative_to(ROOT).as_posix()
            if there not in pages and there not in others:
                found.append(f"{page}: {link}")
    return found


def test_every_page_is_in_a_toctree() -> None:
    """Its name belongs into the toctree of for-fitting, for-research, for-scale, reference or develop: one line."""
    assert not missing(staged()), "add these names to a toctree in docs/for-*.md, docs/reference.md or docs/develop.md"


def test_toctrees_name_pages_that_are_there() -> None:
    pages = staged()
    there = {name.rpartition(".")[0] for name in {*pages, *made()}} | {"api/*"}
    named = list(listed(pages))
    assert set(named) <= there and len(named) == len(set(named))


def test_every_link_of_the_site_leads_to_a_page() -> None:
    assert broken(staged(), made()) == []


def test_lost_pages_and_links_are_found() -> None:
    pages = {"index.md": "```{toctree}\na\n```\n[b](b.md) [a](a.md#x)\n", "a.md": "`[c](c.md)`", "d.md": ""}
    assert missing(pages) == {"d.md"}
    assert broken(pages, set()) == ["index.md: b.md", "a.md: c.md"]


def test_links_out_of_the_documents_lead_to_pages_of_the_site() -> None:
    text = "[a](../CONTRIBUTING.md#laws) [b](../examples/drift.py) `examples/drift.py` [c](gap.md)\n"
    text += "```\n[d](../README.md)\n```"
    said = STAGE.staged_page(
        "[a](../../CHANGELOG.md) [b](../fit.md) [c](d.md#x)", Path("docs/lab/x.md"), Path("lab/x.md")
    )
    assert said == "[a](../changelog.md) [b](../fit.md) [c](d.md#x)"
    rooms = "[a](../examples) [b](../src/dcopt) [c](../src/dcopt/losses) [d](../src/dcopt/runs/stop.py)"
    said = STAGE.staged_page(rooms, Path("docs/x.md"), Path("x.md"))
    assert said == "[a](gallery/index.rst) [b](api/dcopt.rst) [c](api/dcopt.losses.rst) [d](api/dcopt.runs.stop.rst)"
    said = STAGE.staged_page(text, Path("docs/x.md"), Path("x.md"))
    assert said.splitlines()[0] == (
        "[a](contributing.md#laws) [b](gallery/drift.rst) [`examples/drift.py`](gallery/drift.rst) [c](gap.md)"
    )
    assert "[d](../README.md)" in said


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_every_example_has_a_short_title(path: Path) -> None:
    """The first line of its docstring, as in '''A short title: python examples/name.py [figure.png]'''."""
    title, line = STAGE.titled(path.read_text(encoding="utf-8")).splitlines()[1:3]
    assert 8 <= len(title) <= 72 and set(line) == {"="}
    assert "python" not in title


def test_every_public_name_says_what_it_is() -> None:
    silent = [
        f"{room}.{name}"
        for room, names in NAMES.documented().items()
        for name in names
        if inspect.isroutine(what := getattr(importlib.import_module(room), name)) or inspect.isclass(what)
        if not (what.__doc__ or "").strip()
    ]
    assert silent == []


def test_plain_text_is_escaped_for_the_reference() -> None:
    assert DOCSTRINGS.restructured("r = |x|* of `a|b` and coef_, x_1") == r"r = \|x\|\* of ``a|b`` and coef\_, x_1"


def test_a_docstring_becomes_one_of_numpydoc() -> None:
    text = """F = |x|.

    A step is
        x⁺ = x,
    which stays. Two ways:

    "a":   first,
        still
    b : second

    Parameters
    ----------
    x, y : a number
        of `any` size

    Attributes
    ----------
    coef_ (d,), n_iter_
    """
    lines = DOCSTRINGS.for_numpydoc([line.removeprefix("    ") for line in text.splitlines()])
    said = "\n".join(line for line in lines if line.strip())
    assert (
        said
        == r"""F = \|x\|.
A step is
::
    x⁺ = x,
which stays. Two ways:
- **"a"**: first, still
- **b**: second
Parameters
----------
x, y
    a number
    of ``any`` size
Notes
-----
Attributes: coef\_ (d,), n_iter\_"""
    )
