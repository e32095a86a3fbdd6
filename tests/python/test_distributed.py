"""Ray and Spark on two local workers give the totals of one process (make test-distributed)."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ENV = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(tokdrain.__file__))}


def totals(name):
    done = subprocess.run([sys.executable, str(EXAMPLES / name)], env=ENV, capture_output=True,
                          text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"(\d+) rows, (\d+) tokens, (\d+) failed", done.stdout)
    return tuple(map(int, found.groups()))


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    sys.path.insert(0, str(EXAMPLES))
    from distributed_data import DEFAULT, one_process, write_sample
    want = one_process(write_sample(tmp_path_factory.mktemp("data")), str(DEFAULT))
    assert want[0] == 20000 and want[2] == 20
    return want


def test_ray(expected):
    pytest.importorskip("ray.data", reason="ray is not installed: make test-distributed")
    assert totals("ray_count.py") == expected


def test_spark(expected):
    pytest.importorskip("pyspark", reason="pyspark is not installed: make test-distributed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is no java on the PATH")
    assert totals("spark_count.py") == expected
