"""Settings of the documentation; everything is built and read offline."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

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
    "mathml",
    "rooms",
]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.zip", "gallery/*.codeobj.json", "gallery/*.py"]
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
suppress_warnings = ["config.cache", "myst.header"]

html_theme = "pydata_sphinx_theme"
html_title = "qed"
html_static_path = ["_static"]
html_css_files = ["qed.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_end": ["theme-switcher"],
    "logo": {"text": "qed ∎"},
}
html_sidebars = {"index": []}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
    "show_signature": False,
}
