"""The package's own tests again, with the extension module under AddressSanitizer and UBSan, or
under ThreadSanitizer: an interpreter of the system loads their runtime first."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = (ROOT / (os.environ.get("TD_BUILD") or "build")).resolve()
FILES = ["test_chat.py", "test_counter.py", "test_object_memory.py", "test_model.py", "test_spans.py"]
THREADS = ["test_counter.py", "test_model.py"]
# Templates and tokenizers have suites of their own; here it is about objects and threads. Memory
# that stays is looked for in the plain build: the sanitizer holds back what was freed.
CHOSEN = ("(objects or arguments and default or counter or reference or results or without or errors"
          " or limits or text and default or spans) and not resident and not stays"
          " and not multiprocessing and not killed and not conversations")


LIBRARIES = {"build-asan": ("libasan", "libubsan"), "build-tsan": ("libtsan",)}


def test_under_sanitizers():
    if BUILD.name not in LIBRARIES:
        pytest.skip("only where build-asan or build-tsan is tested")
    files = FILES if BUILD.name == "build-asan" else THREADS
    runtime = [subprocess.run(["cc", f"-print-file-name={lib}.so"], capture_output=True, text=True,
                              check=True).stdout.strip() for lib in LIBRARIES[BUILD.name]]
    environment = dict(os.environ, LD_PRELOAD=":".join(runtime), PYTHONMALLOC="malloc",
                       ASAN_OPTIONS="detect_leaks=0:abort_on_error=1",
                       UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1",
                       TSAN_OPTIONS="halt_on_error=1:die_after_fork=0")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist",
         "-k", CHOSEN, *[str(ROOT / "tests" / "python" / f) for f in files]], cwd=ROOT,
        env=environment, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert " passed" in done.stdout
