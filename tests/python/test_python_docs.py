"""The Python sessions of README.md and docs/ run as they stand, and print what they say."""
import doctest
import re
from pathlib import Path

import pytest

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")
ROOT = Path(__file__).resolve().parents[2]
PAGES = [p for p in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
         if "```pycon" in p.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_sessions(page):
    sessions = re.findall(r"```pycon\n(.*?)```", page.read_text(), re.S)
    names, runner = {}, doctest.DocTestRunner(verbose=False)
    for number, session in enumerate(sessions):
        test = doctest.DocTestParser().get_doctest(session, names, f"{page.name}:{number}",
                                                   str(page), 0)
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.summarize(verbose=False) == (0, runner.tries) and runner.tries > 0


def test_python_page_names_what_there_is():
    """Each public name and each method of Model and Counter is told."""
    text = (ROOT / "docs" / "python.md").read_text()
    for name in [*tokdrain.__all__, *(n for c in (tokdrain.Model, tokdrain.Counter)
                                      for n in vars(c) if not n.startswith("_"))]:
        assert name in text or name == "__version__", name
