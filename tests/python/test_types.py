"""The stubs beside the package: mypy's stubtest compares them with what is there at run time, and
a program that uses the interface is read with their types."""
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")
pytest.importorskip("mypy", reason="mypy is not installed")
pytestmark = pytest.mark.once
SITE = Path(tokdrain.__file__).resolve().parent.parent
USE = """
    import asyncio
    import tokdrain
    from tokdrain.endpoints import BatchTokenizer

    model = tokdrain.Model.from_pretrained("x").with_options(timeout=3, now="2026-03-04")
    number: int = model.count("text") + model.count([{"role": "user", "content": "x"}], tools=[])
    ids: list[int] = model.encode("x")
    several: list[list[int]] = model.encode_batch(["x"])
    text: str = model.decode(ids)
    made: tokdrain.BatchEncoding = model.apply_chat_template([{"role": "user"}])
    first: int | None = model.spans([{"role": "user"}])[0].message
    with tokdrain.Counter(model, jobs=2, memory="1MiB") as counter:
        result: tokdrain.Result = counter.count("x")
        for result in counter.count_iter(iter(["x", "y"])):
            tokens: int | None = result.tokens
        async def main() -> list[tokdrain.Result]:
            one = await counter.acount("x")
            return [one] + [r async for r in counter.acount(["x"])]
        asyncio.run(main())
    BatchTokenizer("x", live_workers=1).close()
"""
WRONG = """
    import tokdrain
    model = tokdrain.Model()
    model.encode(3)
    model.with_options(timout=3)
    text: str = model.count("x")
    tokdrain.Counter(model).count_batch(3)
    tokdrain.Counter(model).count("x").token
    class Mine(tokdrain.Result): ...
"""


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mypy")
    config = folder / "mypy.ini"
    config.write_text("[mypy]\nignore_missing_imports = True\ncheck_untyped_defs = False\n"
                      "disable_error_code = var-annotated\n")

    def run(module, *arguments):
        return subprocess.run(
            [sys.executable, "-m", module, *map(str, arguments)], cwd=folder, text=True,
            capture_output=True, check=False,
            env=dict(os.environ, PYTHONPATH=str(SITE), MYPYPATH=str(SITE)))
    run.config = config
    return run


def test_stubs_are_what_is_there(mypy):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    done = mypy("mypy.stubtest", "tokdrain", "--ignore-missing-stub", "--concise",
                "--mypy-config-file", mypy.config)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_of_a_program(mypy, tmp_path):
    good, wrong = tmp_path / "good.py", tmp_path / "wrong.py"
    good.write_text(textwrap.dedent(USE))
    wrong.write_text(textwrap.dedent(WRONG))
    options = ["--config-file", mypy.config, "--python-version", "3.11"]
    done = mypy("mypy", *options, "--strict", good)
    assert done.returncode == 0, done.stdout + done.stderr
    done = mypy("mypy", *options, wrong)
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert lines == set(range(3, 10)), done.stdout
