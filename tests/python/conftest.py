"""Python tests of the package: the one that the build folder holds, unless one is installed.

A build with sanitizers can be loaded only by an interpreter that has their runtime from the start;
test_sanitized.py starts one."""
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = (ROOT / (os.environ.get("TD_BUILD") or "build")).resolve()
sys.path[:0] = [str(ROOT / "tests" / "conformance")]
SANITIZED = BUILD.name in ("build-asan", "build-tsan", "build-selfcheck")
if (BUILD / "python" / "tokdrain" / "_core.abi3.so").exists() and \
        (not SANITIZED or "san" in os.environ.get("LD_PRELOAD", "")):
    sys.path.insert(0, str(BUILD / "python"))


@pytest.fixture(scope="session")
def default_dir():
    """The built-in model as a directory."""
    return ROOT / "assets" / "default"


@pytest.fixture(scope="session")
def load(model_dir, default_dir):
    """load("qwen3"): (tokdrain's model, transformers' tokenizer), each loaded once."""
    import tokdrain
    from transformers import AutoTokenizer
    loaded = {}

    def get(name):
        if name not in loaded:
            folder = default_dir if name == "default" else model_dir(name)
            loaded[name] = (tokdrain.Model.from_pretrained(folder),
                            AutoTokenizer.from_pretrained(folder))
        return loaded[name]
    return get
