"""The viewer: what a running aggregator publishes, for people and for scripts."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

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


class Screen:
    """As much of a terminal as the view uses: home, clear to the end of line or screen."""

    def __init__(self, columns, rows):
        self.rows, self.columns, self.lines, self.at = rows, columns, [], 0

    def feed(self, text):
        """Shows the text; nothing of it may wrap or scroll."""
        line = ""
        for part in re.split("(\033\\[[HJK]|\r?\n)", text):
            if part == "\033[H":
                self.at, line = 0, ""
            elif part == "\033[K":
                self.lines[self.at:self.at + 1] = [line]
            elif part == "\033[J":
                del self.lines[self.at:]
            elif part.endswith("\n"):
                self.at, line = self.at + 1, ""
                assert self.at < self.rows, "the screen scrolls"
            else:
                assert "\033" not in part and len(part) <= self.columns, part
                line += part


@pytest.mark.parametrize("columns,rows", [(80, 24), (200, 60), (40, 12), (10, 3), (100, 20)])
def test_the_view_fits_its_terminal(aggregator, parent, columns, rows):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen([str(aggregator), "top", f"ipc://{parent.dir}/s/met"],
                               stdout=theirs)
    os.close(theirs)
    screen, drawn, seen = Screen(columns, rows), 0, ""
    while drawn < 3:
        seen += os.read(ours, 65536).decode()
        *whole, seen = seen.split("\033[J")
        for frame in whole:
            screen.feed(frame + "\033[J")
            drawn += 1
    process.terminate()
    process.wait(10)
    os.close(ours)
    shown = screen.lines
    assert shown[0].startswith("state live  snapshot "[:columns])
    assert len(shown) < rows
    if rows >= 24:
        assert "samples   issued 40  completed 40  failed 0  in flight 0" in shown
        bars = [line for line in shown if re.match(r" *[0-9.]+ (us|ms|s) +[0-9]+ #*$", line)]
        assert len(bars) >= 3 and sum(int(b.split()[2]) for b in bars) == 40
        assert max(b.count("#") for b in bars) == 50
    assert any("p99.9" in line for line in shown) == (columns >= 88)
