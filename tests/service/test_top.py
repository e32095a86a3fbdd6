"""The viewer: what a running aggregator publishes, for people and for scripts."""
import json
import subprocess

import pytest

from harness import START, Parent, batch, record, single

STARTED = single(record("session.started", START))
TRACK = single(record("session.start_performance_tracking", START + 1))


def run(program, *args, timeout=20):
    return subprocess.run([str(program), "top", *args], capture_output=True, text=True,
                          timeout=timeout, check=False)


@pytest.fixture
def parent(aggregator):
    with Parent(aggregator, ["--streaming", "--publish-interval", "0.05"]) as parent:
        parent.send(STARTED, TRACK, batch(r for n in range(40) for r in (
            record("sample.issued", START, f"s{n}"),
            record("sample.complete", START + 10**6 * (n + 1), f"s{n}"))))
        parent.wait_for(tracked_samples_completed=40)
        yield parent


def test_once_json_is_a_snapshot(aggregator, parent):
    for endpoint in (f"ipc://{parent.dir}/s/met", f"{parent.dir}/s/met"):
        done = run(aggregator, endpoint, "--once", "--json")
        assert done.returncode == 0 and done.stderr == "" and done.stdout.count("\n") == 1
        got = json.loads(done.stdout)
        parent.read_frames(100)
        want = parent.snapshots()[-1]
        assert list(got) == list(want)
        for key in ("counter", "timestamp_ns"):
            got.pop(key), want.pop(key)
        assert got == want and got["state"] == "live"


def test_once_for_people(aggregator, parent):
    done = run(aggregator, f"ipc://{parent.dir}/s/met", "--once")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert "state live" in lines[0]
    assert "samples   issued 40  completed 40  failed 0  in flight 0" in lines
    latency = next(line for line in lines if line.startswith("sample_latency_ns"))
    parent.read_frames(100)
    series = next(m for m in parent.snapshots()[-1]["metrics"] if m["name"] == "sample_latency_ns")
    shown = [20.5e6] + [series["percentiles"][p] for p in ("50.0", "90.0", "99.0", "99.9")]
    shown = [f"{v / 1e6:.2f} ms" for v in shown + [series["max"]]]
    assert latency.split() == ["sample_latency_ns", "40", *" ".join(shown).split()]
    assert any(line.endswith("#" * 50) for line in lines)  # the largest bucket


def test_watching_ends_with_the_run(aggregator, parent):
    process = subprocess.Popen([str(aggregator), "top", f"ipc://{parent.dir}/s/met", "--json"],
                               stdout=subprocess.PIPE, text=True)
    first = json.loads(process.stdout.readline())
    final = parent.end()
    rest = [json.loads(line) for line in process.stdout]
    assert process.wait(10) == 0
    assert first["state"] == "live" and rest[-1] == final


def test_trouble(aggregator, tmp_path):
    assert run(aggregator).returncode == 2
    assert run(aggregator, "a", "b").returncode == 2
    assert run(aggregator, "a", "--timeout", "x").returncode == 2
    assert run(aggregator, "nothing://x").returncode == 3
    done = run(aggregator, str(tmp_path / "nobody"), "--once", "--timeout", "0.2")
    assert done.returncode == 1 and "no snapshot from" in done.stderr
    assert run(aggregator, "--help").returncode == 0
