"""The final snapshot's file: full disks, wrong files in its place, signals and kills while it is
written. Whatever happens, the old file or the new one is there whole, and the last frame leaves."""
import json
import os
import random
import signal
import subprocess
import time

import pytest

from harness import START, Parent, batch, record, single, terminate

SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))
ENDED = single(record("session.ended", START + 10**9))
OLD = '{"state": "old"}'


def begin(parent, samples=300):
    """A run whose snapshot has something in every series that needs no tokenizer."""
    records = [record("session.started", START),
               record("session.start_performance_tracking", START)]
    for n in range(1, samples + 1):
        records += [record("sample.issued", START + n, f"s{n}", ["PromptData", None, [1] * (n % 90)]),
                    record("sample.recv_first", START + n * 1000, f"s{n}"),
                    record("sample.recv_non_first", START + n * 2000, f"s{n}"),
                    record("sample.complete", START + n * 10**6, f"s{n}")]
    parent.send(batch(records))


def check_unwritten(parent):
    """The end of a run whose file cannot be written."""
    parent.send(ENDED)
    assert parent.wait() == 0, parent.log()
    assert parent.snapshots()[-1]["state"] == "complete"
    assert parent.log().count("final_snapshot.json was not written: ") == 1
    assert "Aggregator finalized: " in parent.log()


@pytest.mark.parametrize("how", ["ended", "terminated"])
def test_no_space_for_the_file(aggregator, how):
    with Parent(aggregator, ["--streaming"]) as parent:
        (parent.out / "final_snapshot.json").write_text(OLD)
        (parent.out / "final_snapshot.json.tmp").symlink_to("/dev/full")
        begin(parent)
        parent.wait_for(tracked_samples_completed=300)
        if how == "ended":
            check_unwritten(parent)
        else:
            assert terminate(parent) == 0
            assert parent.snapshots()[-1]["state"] == "interrupted"
        assert "No space left on device" in parent.log()
        assert (parent.out / "final_snapshot.json").read_text() == OLD
        assert not (parent.out / "final_snapshot.json.tmp").is_symlink()


def test_a_full_file_system(aggregator):
    with Parent(aggregator, ["--streaming", "--n-histogram-buckets", "3000"]) as parent:
        place = parent.out
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)],
                              capture_output=True, check=False)
        if done.returncode != 0:
            pytest.skip("no file system may be mounted here")
        try:
            (place / "final_snapshot.json").write_text(OLD)
            begin(parent)
            check_unwritten(parent)
            assert "No space left on device" in parent.log()
            assert [p.name for p in place.iterdir()] == ["final_snapshot.json"]
            assert (place / "final_snapshot.json").read_text() == OLD
        finally:
            subprocess.run(["umount", str(place)], check=True)


def test_a_folder_in_the_place_of_the_file(aggregator):
    for name in ("final_snapshot.json", "final_snapshot.json.tmp"):
        with Parent(aggregator) as parent:
            (parent.out / name).mkdir()
            (parent.out / name / "keep").write_text("")
            begin(parent)
            check_unwritten(parent)
            assert (parent.out / name / "keep").exists()


def test_rest_of_an_earlier_run(aggregator):
    """A longer .tmp that a kill left is no part of the new file."""
    with Parent(aggregator) as parent:
        (parent.out / "final_snapshot.json.tmp").write_text("x" * 500_000)
        begin(parent)
        assert parent.end()["state"] == "complete"
        assert sorted(p.name for p in parent.out.iterdir()) == [".ready", "final_snapshot.json"]


def test_an_output_directory_that_is_not_writable(aggregator, tmp_path):
    """The marker of readiness cannot be made: the start fails, and says so."""
    out = tmp_path / "out"
    out.mkdir()
    (out / ".ready").mkdir()
    done = subprocess.run([str(aggregator), "aggregate", "--socket-dir", str(tmp_path),
                           "--socket-name=e", "--metrics-socket=m", f"--metrics-output-dir={out}"],
                          capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert "metrics aggregator subprocess crashed (OSError)" in done.stdout
    assert ".ready: Is a directory" in done.stdout


def test_sigterm_while_the_file_is_written(aggregator):
    """The end was there first: the file is the complete one, and nothing is written twice."""
    hit = 0
    flags = ["--streaming", "--n-histogram-buckets", "60000", "--publish-interval", "60"]
    for _ in range(4):
        with Parent(aggregator, flags, subscribe=False) as parent:
            begin(parent)
            parent.send(ENDED)
            temporary = parent.out / "final_snapshot.json.tmp"
            while not temporary.exists() and parent.process.poll() is None:
                pass
            parent.signal(signal.SIGTERM)
            hit += not (parent.out / "final_snapshot.json").exists()
            assert parent.wait() == 0, parent.log()
            assert parent.final()["state"] == "complete"
            assert not temporary.exists()
    assert hit > 0, "no signal came while the file was being written"


def test_kills_at_random_moments(aggregator):
    """20 moments, 200 at scale 10, spread over the time from the end to a little after the file."""
    rng = random.Random(11)
    flags = ["--streaming", "--n-histogram-buckets", "5000"]
    span, seen = None, {"old": 0, "complete": 0}
    for i in range(int(20 * SCALE) + 1):
        with Parent(aggregator, flags, subscribe=False) as parent:
            path = parent.out / "final_snapshot.json"
            path.write_text(OLD)
            begin(parent)
            begun = time.monotonic()
            parent.send(ENDED)
            if span is None:  # how long it takes at all
                assert parent.process.wait(30) == 0
                span = time.monotonic() - begun
                continue
            delay = rng.random() * span * 1.2
            while time.monotonic() - begun < delay:
                pass
            parent.process.kill()
            parent.process.wait()
            found = json.loads(path.read_text())
            seen[found["state"]] += 1
            if found["state"] == "complete":
                assert found["metrics"][-1]["name"] == "tpot_ns"
    assert sum(seen.values()) == int(20 * SCALE)
    assert seen["old"] > 0 or SCALE < 5, seen
