"""Sphinx's settings for the site: `make docs`. The pages come from stage.py; nothing is asked of a network."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
os.environ.setdefault(
    "DCOPT_MIRROR", "http://127.0.0.1:9"
)  # The examples do not download: they say what they take instead.
os.environ.setdefault("DCOPT_CACHE", "")

import matplotlib  # noqa: E402
from docstrings import for_numpydoc  # noqa: E402
from pygments.lexers.special import TextLexer  # noqa: E402
from sphinx.highlighting import lexers  # noqa: E402
from stage import LONG  # noqa: E402

import dcopt  # noqa: E402

matplotlib.use("Agg")

project = "dcopt"
author = "The dcopt developers"
copyright = "The dcopt developers"
version = release = dcopt.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["gallery/*.ipynb", "gallery/*.py"]
smartquotes = False  # --report is an option, not a dash
highlight_language = "text"
default_role = "code"
templates_path = [str(HERE / "templates")]
suppress_warnings = ["config.cache", "myst.header"]  # a function in sphinx_gallery_conf; tables below H4 in benchmarks

# ------------------------------------------------------------------------------------------------- pages

lexers["csv"] = TextLexer()  # Pygments has none for it
myst_heading_anchors = 4  # the same names as on GitHub
myst_enable_extensions = ["colon_fence", "attrs_inline", "attrs_block", "deflist"]

# ------------------------------------------------------------------------------------------------- names

autosummary_generate = True
autosummary_imported_members = True
autodoc_default_options = {"member-order": "bysource"}
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
autoclass_content = "class"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# ----------------------------------------------------------------------------------------------- gallery


def arguments(_: Any, script: dict[str, Any]) -> list[str]:
    """What every example is called with: the file of its figure."""
    name = Path(script["src_file"]).stem
    return ["numpy", os.devnull] if name == "own_components" else [str(HERE.parent / "_build" / "figure.png")]


sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": str(HERE.parent / "_build" / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": rf"/(?!{'|'.join(LONG)})\w+\.py",
    "reset_argv": arguments,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "min_reported_time": 10_000,
    "plot_gallery": True,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
    "thumbnail_size": (400, 280),
    "default_thumb_file": str(HERE / "static" / "text.png"),
}

# -------------------------------------------------------------------------------------------------- look

html_theme = "pydata_sphinx_theme"
html_title = f"dcopt {release}"
html_static_path = [str(HERE / "static")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # Browsers refuse to read pages of the file system for it.
html_theme_options: dict[str, Any] = {
    "logo": {"text": "dcopt"},
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}


def as_text(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """The house's docstrings for numpydoc."""
    lines[:] = for_numpydoc(lines)


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", as_text, priority=100)
