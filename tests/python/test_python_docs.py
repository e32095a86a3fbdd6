"""The Python sessions of README.md and docs/ run as they stand, and print what they say."""
import ast
import asyncio
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


class Mapped:
    """A data set that calls what it is given as `datasets` does."""

    def map(self, function, *, batched, num_proc):
        assert batched and num_proc == 2
        assert function({"messages": [CHAT]})["tokens"] == [tokdrain.Model.built_in().count(CHAT)]
        return self

    def filter(self, function, *, batched):
        assert batched and function({"messages": [CHAT]}) == [True]
        return self


CHAT = [{"role": "user", "content": "Hi"}]


def a_function(city: str) -> str:
    """Weather of a place.

    Args:
        city: The place.
    """


def python_blocks():
    text = (ROOT / "docs" / "python.md").read_text()
    return [b for b in re.findall(r"```python\n(.*?)```", text, re.S) if "distributed" not in b]


def test_blocks_of_the_python_page():
    """One after the other, with the names that they take for granted; engines for many machines
    have tests of their own."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    requests = [CHAT, "text"]
    names = {"messages": CHAT, "a_function": a_function, "texts": ["a", "b"], "requests": requests,
             "generator": iter(requests), "request": CHAT, "many": iter(requests),
             "table": pa.table({"messages": [CHAT], "tools": ["[]"]}), "dataset": Mapped(),
             "array_or_chunked_array": pa.array([CHAT])}
    blocks = python_blocks()
    assert len(blocks) >= 4
    for block in blocks:
        for name in ("path/or/cached-name", "model"):
            block = block.replace(f'"{name}"', repr(str(ROOT / "assets" / "default")))
        code = compile(block, "docs/python.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        made = eval(code, names)  # noqa: S307 - a coroutine when the block awaits
        if made is not None:
            asyncio.run(made)
    assert names["model"].count(CHAT) == names["table"]["tokens"][0].as_py()
