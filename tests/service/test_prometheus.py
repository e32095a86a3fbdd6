"""The text that Prometheus scrapes."""
import re
import socket
import urllib.error
import urllib.request

import pytest

from harness import START, Parent, batch, record, single

STARTED = single(record("session.started", START))
TRACK = single(record("session.start_performance_tracking", START + 1))


def port_of(parent):
    return int(re.search(r"http://127\.0\.0\.1:(\d+)/metrics", parent.log()).group(1))


def scrape(port, path="/metrics"):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as response:
        assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return response.read().decode()


def parse(text):
    """name (labels included) -> value; each metric after the line that tells its type."""
    types, out = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types
            types[name] = kind
            continue
        name, value = line.rsplit(" ", 1)
        base = re.sub(r"\{.*", "", name)
        assert base in types or re.sub(r"_(sum|count)$", "", base) in types, line
        assert re.fullmatch(r'[a-z_]+(\{[a-z]+="[^"]+"\})?', name), line
        out[name] = float(value)
    return types, out


def test_live_snapshot_is_served(aggregator):
    flags = ["--streaming", "--publish-interval", "0.02", "--prometheus", "0"]
    with Parent(aggregator, flags) as parent:
        port = port_of(parent)
        assert scrape(port) == ""
        parent.send(STARTED, TRACK, batch(r for n in range(40) for r in (
            record("sample.issued", START, f"s{n}", ["PromptData", None, [1] * n]),
            record("sample.complete", START + 10**6 * (n + 1), f"s{n}"))))
        parent.wait_for(tracked_samples_completed=40)
        types, got = parse(scrape(port))
        snapshot = parent.snapshots()[-1]
        with pytest.raises(urllib.error.HTTPError):
            scrape(port, "/other")
        # whoever connects and says nothing holds up nobody but the next scrape, and not for long
        silent = socket.create_connection(("127.0.0.1", port))
        assert parse(scrape(port))[1]["tokdrain_total_samples_issued"] == 40
        silent.close()
        assert parent.end()["state"] == "complete"
    assert got['tokdrain_state{state="live"}'] == 1 and got['tokdrain_state{state="complete"}'] == 0
    assert types["tokdrain_total_samples_issued"] == "counter"
    assert types["tokdrain_total_duration_ns"] == "gauge"
    for metric in snapshot["metrics"]:
        name = "tokdrain_" + metric["name"]
        if metric["type"] == "counter":
            assert got[name] == metric["value"]
            continue
        assert types[name] == "summary"
        assert got[name + "_count"] == metric["count"] and got[name + "_sum"] == metric["total"]
        assert got[name + "_min"] == metric["min"] and got[name + "_max"] == metric["max"]
        for p, value in metric["percentiles"].items():
            assert got[f'{name}{{quantile="{float(p) / 100:g}"}}'] == value


def test_a_port_in_use_is_refused(aggregator):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        flags = ["--prometheus", str(taken.getsockname()[1])]
        with Parent(aggregator, flags, ready=False) as parent:
            assert parent.wait() == 1
            assert "crashed (OSError)" in parent.log() and "cannot listen on port" in parent.log()
