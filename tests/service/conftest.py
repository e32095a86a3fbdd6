import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
collect_ignore = []
try:
    import msgspec  # noqa: F401
    import zmq  # noqa: F401
except ImportError:
    collect_ignore = [p.name for p in Path(__file__).resolve().parent.glob("test_*.py")]


@pytest.fixture(scope="session")
def aggregator(program):
    """The program, if it has the command aggregate."""
    done = subprocess.run([str(program), "aggregate", "--help"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0 and "--metrics-output-dir" in done.stdout, done
    return program
