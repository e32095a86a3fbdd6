"""Fixtures shared by all Python tests: where the build, the shared material and models are.

TD_BUILD is the build folder (default build), TOKDRAIN_SHARED the shared test material (default
../shared beside the repository), TD_MODELS the folder that `make models` fills."""
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("TOKDRAIN_SHARED") or ROOT.parent / "shared")
BUILD = (ROOT / (os.environ.get("TD_BUILD") or "build")).resolve()
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
MODELS = Path(os.environ.get("TD_MODELS") or CACHE / "tokdrain" / "models")

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

SANITIZER = BUILD.name in ("build-asan", "build-tsan", "build-selfcheck")


def pytest_configure(config):
    config.addinivalue_line("markers", "once: runs none of the build's code; left to the plain "
                                       "build where another build is tested")


def pytest_collection_modifyitems(config, items):
    once = [item for item in items if SANITIZER and item.get_closest_marker("once")]
    if once:
        config.hook.pytest_deselected(items=once)
        items[:] = [item for item in items if item not in once]


@pytest.fixture(scope="session")
def root():
    """The repository's top folder."""
    return ROOT


@pytest.fixture(scope="session")
def build_dir():
    return BUILD


@pytest.fixture(scope="session")
def program(build_dir):
    """Path of the tokdrain program."""
    path = build_dir / "tokdrain"
    if not path.exists():
        pytest.skip(f"the program is not built: {path.relative_to(ROOT)}")
    return path


@pytest.fixture(scope="session")
def shared_dir():
    if not SHARED.is_dir():
        pytest.skip("shared test material is absent (TOKDRAIN_SHARED)")
    return SHARED


@pytest.fixture(scope="session")
def template_dir(shared_dir):
    """Real chat templates."""
    path = shared_dir / "templates"
    if not path.is_dir():
        pytest.skip("shared test material has no templates")
    return path


@pytest.fixture(scope="session")
def model_dir():
    """model_dir("qwen3"): the folder of a real tokenizer, or skips."""
    def get(name):
        path = MODELS / name
        if not (path / "tokenizer.json").is_file():
            pytest.skip(f"the real tokenizer {name} is absent (make models)")
        return path
    return get


@pytest.fixture(scope="session")
def model_file():
    """model_file("tiktoken/cl100k_base.tiktoken"): a real vocabulary file, or skips."""
    def get(name):
        path = MODELS / name
        if not path.is_file():
            pytest.skip(f"the real vocabulary {name} is absent (make models)")
        return path
    return get
