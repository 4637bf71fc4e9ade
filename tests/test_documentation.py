"""The Python examples of the README and of the documentation run, and print the shown output."""

import contextlib
import io
import os
import shutil
import textwrap
import warnings

import pytest

from support.documentation import PAGES, ROOT, Block, blocks_of, rounded

EXAMPLES = [block for page in PAGES for block in blocks_of(page) if block.info == "python"]
OPTIONAL = ("anndata", "dask", "distributed", "finufft", "h5py", "matplotlib", "mtkahypar", "pandas",
            "polars", "pyarrow", "pymetis", "zarr")  # fmt: skip


def test_pages_have_examples():
    assert {"README.md", "docs/evidence/stability.md"} <= {block.page for block in EXAMPLES}


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: f"{block.page}:{block.line}")
def test_example_prints_the_shown_output(block, tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")  # it may read and save files
    monkeypatch.chdir(tmp_path)
    printed = run(block, monkeypatch)
    if block.output is not None:
        assert " ".join(rounded(printed).split()) == " ".join(rounded(block.output).split())


def run(block: Block, monkeypatch: pytest.MonkeyPatch) -> str:
    """Standard output of a block; no window is opened."""
    with contextlib.suppress(ModuleNotFoundError):
        import matplotlib.pyplot as plt

        plt.switch_backend("agg")
        monkeypatch.setattr(plt, "show", lambda: plt.close("all"))
    stdout = io.StringIO()
    code = compile("\n" * (block.line - 1) + textwrap.dedent(block.text), block.page, "exec")
    try:
        with contextlib.redirect_stdout(stdout), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of results that are legal but doubtful
            exec(code, {"__name__": "documentation"})
    except ImportError as error:
        missing = missing_module(error)
        if missing is None or os.environ.get("CI") == "true":
            raise
        pytest.skip(f"{missing} is not installed")
    finally:
        with contextlib.suppress(NameError):
            plt.close("all")
    return stdout.getvalue()


def missing_module(error: BaseException | None) -> str | None:
    """The optional module whose absence caused an error."""
    while error is not None:
        name = (getattr(error, "name", None) or "").split(".")[0]
        if isinstance(error, ModuleNotFoundError) and name in OPTIONAL:
            return name
        error = error.__cause__ or error.__context__
    return None
