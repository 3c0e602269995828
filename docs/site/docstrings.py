"""The docstrings of dcopt, plain text with `code`, as reStructuredText with the sections of numpydoc."""

from __future__ import annotations

import re

ENTRY = re.compile(r'^("[\w-]+"(?=:)|[\w*][\w, *]*?(?= :)) ?: +(\S.*)$')  # name : what it is


def restructured(text: str) -> str:
    """Plain text with `code` as reStructuredText: marks that would mean something there are escaped."""
    parts = re.split(r"(``[^`]+``|`[^`\n]+(?:\n[^`\n]+)?`)", text)
    for i, part in enumerate(parts):
        if i % 2:
            parts[i] = f"``{part.strip('`')}``"
        else:
            parts[i] = re.sub(r"([*|\\])|(?<=\w)(_)(?!\w)", lambda found: "\\" + found[0], part)
    return "".join(parts)


def for_numpydoc(lines: list[str]) -> list[str]:
    """Sections by sections; the text before the first one has no name."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for i, line in enumerate(lines):
        if i + 1 < len(lines) and line.strip() and re.fullmatch(r"-{3,}", lines[i + 1].strip()):
            sections.append((line.strip(), []))
        elif not (i and sections[-1][0] == lines[i - 1].strip() and re.fullmatch(r"-{3,}", line.strip())):
            sections[-1][1].append(line)
    out: list[str] = []
    for name, body in sections:
        if name == "Attributes" and not any(ENTRY.match(line) for line in body):
            name, body = "Notes", [f"Attributes: {' '.join(line.strip() for line in body if line.strip())}", ""]
        out += [name, "-" * len(name)] if name else []
        if name == "Examples":
            out += body
        elif name in ("Parameters", "Attributes"):
            out += described(body)
        else:
            out += prose(body)
    return out


def described(body: list[str]) -> list[str]:
    """`name : text` as a name and its text below it, because numpydoc takes what stands after the colon for a type."""
    split: list[str] = []
    for line in body:
        found = ENTRY.match(line)
        split += [found[1], "    " + found[2]] if found else [line]
    return restructured("\n".join(split)).split("\n")


def prose(body: list[str]) -> list[str]:
    """Paragraphs; lines that are set in are formulas, and are kept as they are; `name : text` are items of a list."""
    out: list[str] = []
    kind, piece = "", []  # the lines that belong together

    def close() -> None:
        nonlocal kind, piece
        if kind == "formula":
            least = min(len(line) - len(line.lstrip()) for line in piece)
            out.extend(["", "::", "", *(f"    {line[least:]}" for line in piece), ""])
        elif kind == "item":
            found = ENTRY.match(piece[0])
            assert found
            text = restructured(" ".join([found[2], *(line.strip() for line in piece[1:])]))
            out.extend(["", f"- **{restructured(found[1])}**: {text}", ""])
        elif kind:
            out.extend(["", *restructured("\n".join(piece)).split("\n"), ""])
        kind, piece = "", []

    for line in body:
        inset = line.startswith("  ")
        if not line.strip():
            close()
        elif ENTRY.match(line) and not inset and kind in ("", "item"):
            close()
            kind, piece = "item", [line]
        elif inset and kind in ("item", "formula"):
            piece.append(line)
        elif inset:
            close()
            kind, piece = "formula", [line]
        elif kind == "text":
            piece.append(line)
        else:
            close()
            kind, piece = "text", [line]
    close()
    return out
