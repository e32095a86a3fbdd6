"""The wheel and the source archive: built, installed elsewhere, and used by every CPython here."""
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parents[2]
USE = """
import sys, tokdrain
model = tokdrain.Model.built_in()
chat = [{"role": "user", "content": "How many tokens is this?"}]
with tokdrain.Counter(model, jobs=2) as counter:
    assert [r.tokens for r in counter.count_batch([chat] * 9)] == [model.count(chat)] * 9
made = model.apply_chat_template(chat)
assert model.decode(made.input_ids) == model.apply_chat_template(chat, tokenize=False)
try:
    model.count(chat, chat_template="{{ x.y }}")
except tokdrain.TemplateError as error:
    assert error.line == 1
print(tokdrain.__version__, model.count(chat))
"""


def run(*command, **how):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                          **how)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def version():
    return re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("mesonpy", reason="meson-python is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    run(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-q",
        "--disable-pip-version-check", "-w", folder, ROOT, env=dict(os.environ, PATH=path))
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "-q", "--target",
        folder, "--disable-pip-version-check", wheel)
    return folder


def test_what_is_in_it(wheel):
    assert re.fullmatch(rf"tokdrain-{version()}-cp3\d+-abi3-.*\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as z:
        names = {n for n in z.namelist() if ".dist-info/" not in n}
        metadata = z.read(next(n for n in z.namelist() if n.endswith("/METADATA"))).decode()
    assert all(n.startswith("tokdrain/") for n in names)
    source = {str(p.relative_to(ROOT / "python")) for p in (ROOT / "python/tokdrain").rglob("*.py*")
              if "__pycache__" not in p.parts}
    assert names == source | {"tokdrain/py.typed", "tokdrain/_core.abi3.so", "tokdrain/bin/tokdrain"}
    assert f"Version: {version()}\n" in metadata and "Requires-Dist: numpy" in metadata


def test_only_the_stable_abi_and_no_symbols_of_ours(site):
    module = site / "tokdrain" / "_core.abi3.so"
    defined = run("nm", "-D", "--defined-only", module).split()
    assert [n for n in defined if n.startswith(("td_", "tdpy_", "jj_"))] == []
    assert "PyInit__core" in defined
    needed = re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", module))
    assert {n.split(".so")[0] for n in needed} <= {"libonig", "libxxhash", "libc", "libm",
                                                   "libpthread", "ld-linux-x86-64",
                                                   "ld-linux-aarch64"}


@pytest.mark.parametrize("minor", [10, 11, 12, 13, 14])
def test_every_python(minor, site):
    python = shutil.which(f"python3.{minor}")
    versions = Path.home() / ".pyenv" / "versions"
    for found in sorted(versions.glob(f"3.{minor}.*/bin/python3")):
        python = str(found)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    clean["PYTHONPATH"] = str(site)
    if python is None or subprocess.run([python, "-c", f"import sys; assert sys.version_info[1] == "
                                         f"{minor}"], env=clean, check=False,
                                        capture_output=True).returncode:
        pytest.skip(f"there is no CPython 3.{minor} here")
    assert run(python, "-c", USE, env=clean) == f"{version()} 20\n"
    line = run(python, "-m", "tokdrain", "--version", env=clean)
    assert version() in line
    line = subprocess.run([python, "-m", "tokdrain.endpoints.metrics_aggregator", "--nope"],
                          env=clean, capture_output=True, check=False)
    assert line.returncode == 2


def test_the_source_archive_builds_the_same(tmp_path):
    """It holds what git knows; building it again is what pip does with it."""
    mesonpy = pytest.importorskip("mesonpy", reason="meson-python is not installed")
    if not (ROOT / ".git").exists():
        pytest.skip("the source is no git checkout")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    code = f"import mesonpy; print(mesonpy.build_sdist({str(tmp_path)!r}))"
    name = run(sys.executable, "-c", code, cwd=ROOT,
               env=dict(os.environ, PATH=path)).splitlines()[-1]
    assert name == f"tokdrain-{version()}.tar.gz" and mesonpy is not None
    with tarfile.open(tmp_path / name) as archive:
        names = {n.partition("/")[2] for n in archive.getnames()}
    assert {"meson.build", "pyproject.toml", "PKG-INFO", "python/tokdrain/__init__.py",
            "src/python/core.h", "include/tokdrain/tokdrain.h", "tools/embed.py",
            "assets/default/tokenizer.json", "LICENSE"} <= names
