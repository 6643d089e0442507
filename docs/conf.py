"""Settings of the documentation; everything is built and read offline."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
os.environ.setdefault("MPLBACKEND", "agg")

import qed

project = "qed"
author = "the qed developers"
copyright = "2026, the qed developers"
version = release = qed.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "course",
    "house",
    "mathml",
    "pictures",
    "rooms",
    "typography",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "course/index.rst"]
exclude_patterns += [
    f"{folder}/**/*.{kind}" for folder in ("gallery", "course") for kind in ("ipynb", "zip", "codeobj.json", "py")
]
suppress_warnings = ["config.cache"]
default_role = "autolink"
# Two dashes are an option of a command, not a long dash.
smartquotes_action = "qe"
nitpicky = False

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
python_maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "qed"
html_static_path = ["_static"]
html_css_files = ["qed.css"]
html_js_files = ["offline.js"]
html_favicon = "_static/qed.svg"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
# Without it the theme complains on the console of whoever comes for the first time.
html_context = {"default_mode": "auto"}
html_theme_options = {
    "show_prev_next": False,
    "show_toc_level": 3,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "logo": {"text": "qed ∎"},
}
html_sidebars = {"index": [], "changes": []}

sphinx_gallery_conf = {
    "examples_dirs": ["../examples", "../course"],
    "gallery_dirs": ["gallery", "course"],
    "filename_pattern": r"[\\/](plot|chapter)_",
    "nested_sections": False,
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("pictures.scraper",),
    "reset_modules": ("matplotlib", "pictures.style"),
    "image_srcset": ["2x"],
    "thumbnail_size": (400, 240),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
    "doc_module": ("qed",),
    "reference_url": {"qed": None},
    "backreferences_dir": "gallery/backreferences",
    "abort_on_example_error": False,
}
