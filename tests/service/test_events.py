"""Events in every order, and bytes that are no events, against a plain second reading."""
import random

import pytest

from expected_run import Run
from harness import START, BATCH, Parent, batch, record, single
from random_run import BROKEN, as_record, framed, random_event

msgspec = pytest.importorskip("msgspec")


def check(snapshot, run):
    got = {m["name"]: m for m in snapshot["metrics"]}
    assert {n: m["value"] for n, m in got.items() if m["type"] == "counter"} == run.counters
    assert [n for n, m in got.items() if m["type"] == "series"] == list(run.series)
    for name, want in run.series.items():
        assert got[name]["count"] == len(want), name
        assert got[name]["total"] == sum(want)
        assert got[name]["min"] == min(want, default=0) and got[name]["max"] == max(want, default=0)
        assert got[name]["sum_sq"] == float(sum(v * v for v in want))
        assert sum(n for _, n in got[name]["histogram"]) == len(want)


@pytest.mark.parametrize("seed", range(12))
def test_random_runs(aggregator, seed):
    rng = random.Random(seed)
    streaming = seed % 2 == 0
    events = [random_event(rng) for _ in range(rng.choice([5, 60, 3000]))]
    if seed % 3:
        events[:0] = [("session.started", START, "", None, None),
                      ("session.start_performance_tracking", START + 5, "", None, None)]
    events.append(("session.ended", START + 2 * 10**9, "", None, None))
    behind = [random_event(rng) for _ in range(rng.randrange(3))]
    run = Run(streaming)
    for topic, ts, uuid, data, reason in events + behind:
        run.event(topic, ts, uuid, data, reason)
    payloads = [as_record(e) for e in events + behind]
    with Parent(aggregator, ["--streaming"] if streaming else []) as parent:
        parent.send(*framed(rng, payloads))
        assert parent.wait() == 0, parent.log()
        check(parent.final(), run)
        assert f"Aggregator finalized: {len(events)}" in parent.log() or behind


def test_broken_records_count_as_errors(aggregator):
    with Parent(aggregator) as parent:
        parent.send(single(record("session.started", START), b"session.started"))
        for payload in BROKEN:
            parent.send(single(payload))
        parent.send(batch(p for payload in BROKEN for p in (payload, record("error.client"))))
        parent.wait_for(total_samples_failed=3 * len(BROKEN))
        snapshot = parent.end()
        assert f"Aggregator finalized: {3 * len(BROKEN) + 2} total" in parent.log()
    counters = {m["name"]: m.get("value") for m in snapshot["metrics"]}
    assert counters["total_samples_issued"] == 0
    assert counters["total_samples_failed"] == 3 * len(BROKEN)


def test_broken_frames(aggregator):
    good = record("error.client")
    bad = [b"", msgspec.msgpack.encode([good, "text"]), msgspec.msgpack.encode([good, None]),
           msgspec.msgpack.encode({"a": good}), msgspec.msgpack.encode([good]) + b"\x00",
           msgspec.msgpack.encode([good])[:-1], b"\xdd\xff\xff\xff\xff", b"\xc1"]
    with Parent(aggregator) as parent:
        parent.send(single(record("session.started", START), b"session.started"))
        parent.send(b"", b"short", b"x" * 40)  # dropped silently
        parent.send(*(BATCH + payload for payload in bad))
        parent.send(batch([]), batch([b"", b""]), batch([good]))
        parent.wait_for(total_samples_failed=1)
        parent.end()
        log = parent.log()
    for payload in bad:
        assert f"Failed to decode batch message ({len(payload)} bytes), dropping." in log
    assert log.count("Failed to decode batch message") == len(bad)
    assert "Aggregator finalized: 3 total records processed" in log


def test_unknown_keys_and_any_order(aggregator):
    fields = {"zzz": [1, {"x": {5: b"\xff"}}], "data": ["PromptData", None, [1, 2, 3], None, None,
                                                      None, None, None, {"surplus": 1}],
              "sample_uuid": "u", "event_type": "sample.issued", "timestamp_ns": START,
              "turn": 2**64 - 1, "worker_id": -5}
    with Parent(aggregator) as parent:
        parent.send(single(record("session.start_performance_tracking")))
        parent.send(single(msgspec.msgpack.encode(fields)))
        # the last of two equal keys wins
        twice = msgspec.msgpack.encode({"event_type": "sample.issued", "sample_uuid": "v",
                                        "event_typf": "error.client"}).replace(b"event_typf",
                                                                               b"event_type")
        parent.send(single(twice))
        snapshot = parent.end()
    counters = {m["name"]: m.get("value", m.get("total")) for m in snapshot["metrics"]}
    assert counters["isl"] == 3 and counters["tracked_samples_issued"] == 1
    assert counters["total_samples_failed"] == 1
