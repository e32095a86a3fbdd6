"""What use_everything.py leaves behind: references, in a debug build of CPython, and memory, under
valgrind (make leaks). The extension of build-leaks takes and gives references by calls that a debug
interpreter counts."""
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = (ROOT / (os.environ.get("TD_BUILD") or "build")).resolve()
SCRIPT = ROOT / "tests" / "python" / "use_everything.py"
pytestmark = pytest.mark.skipif(BUILD.name != "build-leaks", reason="only in make leaks")


def run(*command, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                          timeout=900, env={**clean, "PYTHONPATH": str(BUILD / "python"),
                                            **environment})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_no_reference_is_left():
    python = shutil.which("python3-dbg")
    if python is None:
        pytest.skip("there is no debug build of CPython (Debian's python3-dbg)")
    lines = run(python, SCRIPT, "references").splitlines()
    assert len(lines) >= 9


def test_valgrind_finds_nothing(tmp_path):
    """No error, and no lost memory, with the extension among the callers; other libraries have
    some of their own."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    report = tmp_path / "report.xml"
    out = run("valgrind", "--leak-check=full", "--show-leak-kinds=definite",
              "--errors-for-leak-kinds=definite", "--num-callers=40", "--xml=yes",
              f"--xml-file={report}", os.path.realpath(sys.executable), SCRIPT, "once",
              PYTHONMALLOC="malloc", PYTHONPATH=os.pathsep.join([str(BUILD / "python"), *sys.path]))
    assert out == "used everything\n"
    root = ET.parse(report).getroot()
    assert root.findall("status")[-1].findtext("state") == "FINISHED"
    ours = [ET.tostring(error).decode() for error in root.iter("error")
            if any("_core.abi3" in (frame.findtext("obj") or "") for frame in error.iter("frame"))]
    assert not ours, f"{len(ours)} errors:\n" + "\n".join(ours[:3])
