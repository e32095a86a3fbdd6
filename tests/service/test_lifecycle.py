"""How a run ends: signals at every stage, trouble with files, and listeners that do not listen."""
import os
import resource
import signal
import subprocess
import time

import pytest

from harness import START, Parent, batch, record, single, terminate, values

STARTED = single(record("session.started", START), b"session.started")
TRACK = single(record("session.start_performance_tracking", START + 1))


def sample(n):
    return [record("sample.issued", START + n, f"s{n}", ["PromptData", None, [1] * n]),
            record("sample.recv_first", START + n + 1000, f"s{n}"),
            record("sample.complete", START + n + 5000, f"s{n}", ["TextModelOutput", ["a", "b"]],
                   finish_reason="stop")]


def test_a_whole_run(aggregator):
    with Parent(aggregator, ["--streaming", "--publish-interval", "0.03"]) as parent:
        assert (parent.out / ".ready").read_bytes() == b""
        parent.send(STARTED, TRACK, batch(r for n in range(1, 50) for r in sample(n)))
        parent.wait_for(tracked_samples_completed=49, state="live")
        final = parent.end()
        snapshots = parent.snapshots()
        assert sorted(p.name for p in parent.out.iterdir()) == [".ready", "final_snapshot.json"]
        assert not (parent.dir / "s" / "met").exists()
        log = parent.log()
    assert snapshots[-1] == final and final["state"] == "complete"
    assert [s["counter"] for s in snapshots] == sorted({s["counter"] for s in snapshots})
    lines = ["ENDED event received, shutting down aggregator", "Draining 0 pending tokenizations...",
             "Tokenizations fully drained (n_pending_tasks=0)",
             "Aggregator finalized: 150 total records processed"]
    assert [line for line in lines if line in log] == lines
    assert [log.index(line) for line in lines] == sorted(log.index(line) for line in lines)


def test_end_without_start(aggregator):
    with Parent(aggregator, ["--publish-interval", "0.02"]) as parent:
        parent.send(batch(sample(3)))
        time.sleep(0.1)
        final = parent.end()
        assert parent.snapshots() == [final] and final["counter"] == 1


@pytest.mark.parametrize("stage", ["before start", "live"])
def test_sigterm(aggregator, stage):
    with Parent(aggregator, ["--streaming", "--early-stopping"]) as parent:
        if stage == "live":
            parent.send(STARTED, TRACK, batch(sample(5)))
            parent.wait_for(tracked_samples_completed=1)
        start = time.monotonic()
        assert terminate(parent) == 0
        assert time.monotonic() - start < 2
        final = parent.final()
        assert parent.snapshots()[-1] == final
        assert "received SIGTERM; writing INTERRUPTED final snapshot" in parent.log()
    assert final["state"] == "interrupted"
    assert values(final)["tracked_samples_completed"] == (stage == "live")
    assert values(final)["tracked_duration_ns"] == (5004 if stage == "live" else 0)
    assert not any("early_stopping_percentiles" in m for m in final["metrics"])


def test_sigint_is_ignored(aggregator):
    with Parent(aggregator) as parent:
        for _ in range(3):
            parent.signal(signal.SIGINT)
            time.sleep(0.05)
        assert parent.end()["state"] == "complete"
        assert "received SIGINT \N{EM DASH} ignoring" in parent.log()


def test_sigterm_during_start_has_its_default_effect(aggregator):
    """Whatever the moment: killed by the signal, or a clean interrupted end."""
    for delay in (0, 0.002, 0.004, 0.008):
        with Parent(aggregator, ready=False) as parent:
            time.sleep(delay)
            status = terminate(parent)
            assert status in (0, -signal.SIGTERM)
            if status == 0:
                assert parent.final()["state"] == "interrupted"
            else:
                assert not (parent.out / "final_snapshot.json").exists()


def test_parent_gone(aggregator):
    """The event socket going away is no end; a signal still works."""
    with Parent(aggregator) as parent:
        parent.send(STARTED)
        parent.pub.close()
        time.sleep(0.3)
        assert parent.process.poll() is None
        assert terminate(parent) == 0
        assert parent.final()["state"] == "interrupted"


def test_nobody_subscribes_to_metrics(aggregator):
    with Parent(aggregator, ["--publish-interval", "0.01"], subscribe=False) as parent:
        parent.send(STARTED, TRACK, batch(sample(5)))
        time.sleep(0.3)
        start = time.monotonic()
        assert parent.end()["state"] == "complete"
        assert time.monotonic() - start < 1


def test_a_slow_subscriber_loses_frames_but_delays_nothing(aggregator):
    with Parent(aggregator, ["--publish-interval", "0.002", "--n-histogram-buckets", "2000",
                             "--streaming"]) as parent:
        parent.send(STARTED, TRACK, batch(r for n in range(1, 2000) for r in sample(n)))
        time.sleep(1.0)  # the subscriber's buffers fill up meanwhile
        parent.send(single(record("error.client", START + 5)))
        parent.send(single(record("session.ended", START + 10**9)))
        deadline = time.monotonic() + 5
        while not (parent.out / "final_snapshot.json").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert values(parent.final())["total_samples_failed"] == 1
        assert parent.wait() == 0


def test_output_directory_removed(aggregator):
    """The file cannot be written; the last frame still leaves, and the end is a normal one."""
    with Parent(aggregator) as parent:
        parent.send(STARTED)
        parent.wait_for(state="live")
        (parent.out / ".ready").unlink()
        parent.out.rmdir()
        parent.send(single(record("session.ended", START + 1)))
        assert parent.wait() == 0
        assert parent.snapshots()[-1]["state"] == "complete"
        assert "final_snapshot.json was not written" in parent.log()


def test_full_disk_leaves_the_old_file(aggregator):
    def limit_files():  # the snapshot with its histogram is larger, the log is not
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    with Parent(aggregator, preexec=limit_files) as parent:
        old = parent.out / "final_snapshot.json"
        old.write_text("old")
        parent.send(STARTED, TRACK, batch(sample(5)))
        parent.wait_for(state="live")
        parent.send(single(record("session.ended", START + 1)))
        assert parent.wait() == 0, parent.log()
        assert old.read_text() == "old"
        assert sorted(p.name for p in parent.out.iterdir()) == [".ready", "final_snapshot.json"]
        assert parent.snapshots()[-1]["state"] == "complete"


def test_address_is_reused_after_a_kill(aggregator):
    with Parent(aggregator) as parent:
        parent.process.kill()
        parent.process.wait()
        assert (parent.dir / "s" / "met").exists()
        argv = parent.process.args
        log = open(os.devnull, "wb")
        again = subprocess.Popen(argv, stdout=log, stderr=log)
        log.close()
        parent.process = again
        parent.wait_ready()
        assert parent.end()["state"] == "complete"
