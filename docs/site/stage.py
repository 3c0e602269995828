"""Collect the pages of the site in one folder: python docs/site/stage.py FOLDER

The pages of docs/ stay as they are, readable without the site. Here they are copied, links that leave docs/ are led to
pages of the site, the examples get titles for the gallery, and the lists of public names and of commands are written.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import commands
import names
from docstrings import restructured

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TOOLS = ("_build", "site")  # folders of docs/ that hold no pages
OUTSIDE = {  # files outside docs/ that are pages of the site
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "tests/README.md": "tests.md",
    "SECURITY.md": "security.md",
    "benchmarks/peers/README.md": "peers.md",
}
GALLERY = "gallery"
PLACES = {"README.md": "index.md", "examples": f"{GALLERY}/index.rst", "src/dcopt/cli": "commands.md"}
LONG = {  # examples that are not run for the site; their picture is the one in docs/img
    "matrix_completion": "It takes a minute and was not run for this page. The picture is of an earlier run.",
}
CODE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$", re.S | re.M)


def pages() -> list[Path]:
    """The pages of docs/, relative to it."""
    found = (page.relative_to(DOCS) for page in DOCS.rglob("*.md"))
    return sorted(page for page in found if page.parts[0] not in TOOLS)


def outside_code(text: str) -> Iterator[tuple[bool, str]]:
    """The parts of a page: (is it prose?, the part)."""
    end = 0
    for block in CODE.finditer(text):
        yield True, text[end : block.start()]
        yield False, block.group()
        end = block.end()
    yield True, text[end:]


def led(link: str, home: Path, place: Path) -> str:
    """Where a link of the file `home` (below the root) leads on the site, from the page `place`."""
    path, mark, anchor = link.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return link
    target = (ROOT / home.parent / path).resolve()
    try:
        inside = target.relative_to(ROOT).as_posix()
    except ValueError:
        return link
    if inside in OUTSIDE:
        there = OUTSIDE[inside]
    elif inside.startswith("examples/") and inside.endswith(".py"):
        there = f"{GALLERY}/{target.stem}.rst"
    elif (room := inside.removeprefix("src/").removesuffix(".py").replace("/", ".")) in names.ROOMS:
        there = f"api/{room}.rst"
    elif inside in PLACES:
        there = PLACES[inside]
    elif inside.startswith("docs/"):
        there = inside.removeprefix("docs/")
    else:
        return link
    return Path(os.path.relpath(there, place.parent)).as_posix() + mark + anchor


def staged_page(text: str, home: Path, place: Path) -> str:
    """The page as the site has it: its links, and the names of examples as links to the gallery."""
    parts = []
    for prose, part in outside_code(text):
        if prose:
            part = re.sub(r"\]\(([^)\s]+)\)", lambda found: f"]({led(found[1], home, place)})", part)
            part = re.sub(
                r"(?<!\[)`(examples/(\w+)\.py)`", rf"[`\1`]({'../' * (len(place.parts) - 1)}{GALLERY}/\2.rst)", part
            )
        parts.append(part)
    return "".join(parts)


def mark_of_question(found: re.Match[str]) -> str:
    return found[1].replace(":", "") + "\0"


def titled(source: str, name: str = "") -> str:
    """An example whose text begins with a title: the first line of its docstring up to "python examples/…"."""
    found = re.match(r'"""(.*?)"""', source, re.S)
    if not found:
        raise SystemExit(f"an example has no docstring: {source[:60]!r}")
    head, _, rest = found[1].strip().partition("\n")
    title, _, command = re.sub(r"(\?|:) python (?=examples/)", mark_of_question, head).partition("\0")
    title, _, more = title.rstrip(".: ").partition(": ")
    run = f"Run it with ``python {command}``." if command else ""
    body = restructured("\n\n".join(part for part in (f"{more[:1].upper()}{more[1:]}.", rest.strip()) if part != "."))
    picture, hint = "", ""
    if name in LONG:
        picture = f".. image:: /img/{name}.png\n\n{LONG[name]}"
        hint = f"\n# sphinx_gallery_thumbnail_path = 'img/{name}.png'\n"
    title = f"{restructured(title)}\n{'=' * (2 * len(title))}"
    text = "\n\n".join(part for part in (title, body, run, picture) if part)
    return f'r"""\n{text}\n"""{hint}{source[found.end() :]}'


def write(path: Path, text: str) -> None:
    """Only what has changed, so that the next build does no more than it must."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def stage(out: Path) -> None:
    written = set(pages())
    for page in pages():
        text = (DOCS / page).read_text(encoding="utf-8")
        write(out / page, staged_page(text, Path("docs") / page, page))
    for home, place in OUTSIDE.items():
        write(out / place, staged_page((ROOT / home).read_text(encoding="utf-8"), Path(home), Path(place)))
        written.add(Path(place))
    shutil.copytree(DOCS / "img", out / "img", dirs_exist_ok=True)
    for name, text in (*names.reference(), *commands.pages()):
        write(out / name, text)
        written.add(Path(name))
    for old in out.rglob("*.md"):
        if old.relative_to(out) not in written and GALLERY not in old.parts:
            old.unlink()
    shutil.rmtree(out / "api" / "names", ignore_errors=True)  # Sphinx makes them anew.
    examples = out.parent / "examples"
    kept = {"GALLERY_HEADER.rst"}
    write(
        examples / "GALLERY_HEADER.rst",
        "Gallery\n=======\n\nEvery example is a script of ``examples/`` that was run to make this page.\n",
    )
    for example in sorted((ROOT / "examples").glob("*.py")):
        write(examples / example.name, titled(example.read_text(encoding="utf-8"), example.stem))
        kept.add(example.name)
    for old in examples.iterdir():
        if old.name not in kept:
            old.unlink()


if __name__ == "__main__":
    stage(Path(sys.argv[1]).resolve())
