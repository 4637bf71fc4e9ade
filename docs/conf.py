"""Settings of the documentation site: `make -C docs html` builds it into docs/_build/html."""

import sys
from pathlib import Path

import liftcluster

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
for name in ("anndata", "datasets", "plot"):  # lazy attributes, which autodoc takes for modules
    sys.modules[f"liftcluster.{name}"] = getattr(liftcluster, name)
sys.modules["liftcluster.anndata.plot"] = liftcluster.anndata.plot

project = "liftcluster"
author = "The liftcluster developers"
copyright = author
version = release = liftcluster.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "numpydoc",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxcontrib.bibtex",
    "mathml",  # this and the next are in _ext/
    "llms",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "sg_execution_times.rst", "gallery/sg_*"]
templates_path = ["_templates"]
nitpicky = False
highlight_language = "none"  # blocks without a language are output
suppress_warnings = ["config.cache"]  # sphinx-gallery's settings contain functions

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4

autosummary_generate = True
# Consensus and consensus are one file on disks that ignore case.
_NAMES = set(liftcluster.__all__)
autosummary_filename_map = {
    f"liftcluster.{name}": f"liftcluster.{name}_class"
    for name in _NAMES
    if name != name.lower() and name.lower() in _NAMES
}
autodoc_typehints = "none"  # the types stand in the docstrings
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

math_renderer = html_math_renderer = "mathml"

bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"

plot_include_source = False
plot_html_show_source_link = True
plot_html_show_formats = False
plot_formats = [("png", 160)]
plot_rcparams = {"figure.constrained_layout.use": True, "font.size": 9}
plot_apply_rcparams = True

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"make_",
    "doc_module": ("liftcluster",),
    "backreferences_dir": "gallery/backreferences",
    "reference_url": {"liftcluster": None},
    "within_subsection_order": "FileNameSortKey",
    "remove_config_comments": True,
    "show_memory": False,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 0,
    "matplotlib_animations": False,
    "abort_on_example_error": False,  # a failure is a warning, and warnings are errors
}

html_theme = "pydata_sphinx_theme"
html_title = "liftcluster"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}  # without it the theme reports an error in the console
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "start": []}  # they have no pages below them
html_theme_options = {
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_prev_next": True,
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
