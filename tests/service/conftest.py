import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


@pytest.fixture(scope="session")
def aggregator(program):
    """The program, if it has the command aggregate."""
    done = subprocess.run([str(program), "aggregate", "--help"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0 and "--metrics-output-dir" in done.stdout, done
    return program
