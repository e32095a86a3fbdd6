"""The module that stands in for the service's: which program it becomes, and that it becomes it."""
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness import START, Parent, batch, record, single, values

ROOT = Path(__file__).resolve().parents[2]
MODULE = "tokdrain.endpoints.metrics_aggregator"
START_MODULE = [sys.executable, "-m", MODULE]


def environment(folder=ROOT / "python", **more):
    """This one's, but nothing in it leads to a program unless said."""
    kept = {k: v for k, v in os.environ.items() if k not in ("TOKDRAIN_BIN", "PYTHONPATH")}
    return kept | {"PYTHONPATH": str(folder), "PATH": "/nonexistent"} | more


def run(*args, **how):
    return subprocess.run([*START_MODULE, *args], capture_output=True, text=True, timeout=30,
                          check=False, env=environment(**how))


@pytest.fixture
def package(tmp_path):
    """A copy of the package, to put a program beside it."""
    copy = tmp_path / "site"
    shutil.copytree(ROOT / "python" / "tokdrain" / "endpoints", copy / "tokdrain" / "endpoints",
                    ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def script(path, says):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho {says} "$@"\n')
    path.chmod(0o755)
    return path


def test_the_order_in_which_a_program_is_looked_for(package, tmp_path):
    script(tmp_path / "path" / "tokdrain", "path")
    named = str(script(tmp_path / "named", "named"))
    where = str(tmp_path / "path")
    assert run("--x", "y z", folder=package, PATH=where).stdout == "path aggregate --x y z\n"
    assert run(folder=package, PATH=where, TOKDRAIN_BIN=named).stdout == "named aggregate\n"
    assert run(folder=package, PATH=where, TOKDRAIN_BIN="").stdout == "path aggregate\n"
    beside = script(package / "tokdrain" / "bin" / "tokdrain", "beside")
    assert run(folder=package, PATH=where, TOKDRAIN_BIN=named).stdout == "beside aggregate\n"
    beside.chmod(0o644)
    assert run(folder=package, PATH=where).stdout == "path aggregate\n"


def test_no_program(package, tmp_path):
    done = run(folder=package)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith(f"FATAL: {MODULE}: the tokdrain program cannot be started: ")
    for said in (str(package / "tokdrain" / "bin" / "tokdrain"), "TOKDRAIN_BIN is not set", "PATH"):
        assert said in done.stderr
    done = run(folder=package, TOKDRAIN_BIN=str(tmp_path))
    assert done.returncode == 1 and f"TOKDRAIN_BIN={tmp_path} is no program" in done.stderr
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)
    done = run(folder=package, TOKDRAIN_BIN=str(broken))
    assert done.returncode == 1 and "cannot be started: " in done.stderr
    assert "Traceback" not in done.stderr


def test_the_script_of_the_package_does_not_start_itself(package, tmp_path):
    path = tmp_path / "path" / "tokdrain"
    path.parent.mkdir()
    path.write_text(f"#!{sys.executable}\nfrom {MODULE} import main\nmain()\n")
    path.chmod(0o755)
    for how in ([str(path)], START_MODULE):
        done = subprocess.run(how, capture_output=True, text=True, timeout=30, check=False,
                              env=environment(folder=package, PATH=str(path.parent)))
        assert done.returncode == 1 and "no tokdrain but this script is on the PATH" in done.stderr


def test_a_whole_run(aggregator):
    program = environment(TOKDRAIN_BIN=str(aggregator))
    with Parent(START_MODULE, ["--streaming"], environment=program) as parent:
        parent.send(single(record("session.started", START)),
                    single(record("session.start_performance_tracking", START)),
                    batch([record("sample.issued", START, "a", ["PromptData", None, [1, 2]]),
                           record("sample.complete", START + 9, "a")]))
        parent.wait_for(tracked_samples_completed=1)
        parent.signal(signal.SIGINT)
        final = parent.end()
        assert values(final)["isl"] == 1 and final["state"] == "complete"
        assert "received SIGINT" in parent.log()


def test_statuses_and_messages_are_the_programs(aggregator, tmp_path):
    done = run(TOKDRAIN_BIN=str(aggregator))
    assert done.returncode == 2 and "the following arguments are required: " in done.stderr
    done = run("--socket-dir=x", "--socket-name=x", "--metrics-socket=x",
               f"--metrics-output-dir={tmp_path}/none", TOKDRAIN_BIN=str(aggregator))
    assert done.returncode == 1 and done.stderr.startswith("FATAL: --metrics-output-dir ")
    with Parent(START_MODULE, environment=environment(TOKDRAIN_BIN=str(aggregator))) as parent:
        parent.signal(signal.SIGTERM)
        assert parent.wait() == 0 and parent.final()["state"] == "interrupted"
