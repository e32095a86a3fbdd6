"""Events in every order, and bytes that are no events, against a plain second reading."""
import random

import pytest

from harness import START, BATCH, Parent, batch, record, single
from expected_run import Run

msgspec = pytest.importorskip("msgspec")

SESSION = ["started", "stop_loadgen", "start_performance_tracking", "stop_performance_tracking"]
SAMPLE = ["issued", "complete", "recv_first", "recv_non_first"]
REASONS = [None, "stop", "length", "tool_calls", "content_filter", "function_call", "", "Stop",
           "\N{SNOWMAN}"]


def random_event(rng):
    """(topic, ts, uuid, data, finish_reason)"""
    ts = START + rng.randrange(-10**6, 10**9) if rng.random() < 0.95 else \
        rng.choice([0, -1, -5, 10**15, 1])
    kind = rng.random()
    if kind < 0.1:
        return "session." + rng.choice(SESSION), ts, "", None, None
    uuid = rng.choice(["", "a", "b", "c", "d", "e", "x" * 300, "\N{SNOWMAN}"])
    if kind < 0.17:
        return ("error." + rng.choice(["generic", "loadgen", "session", "client"]), ts, uuid,
                ["ErrorData", "E", "m"], None)
    data = rng.choice([None, ["PromptData", "text", list(range(rng.randrange(4)))],
                       ["PromptData", "text"], ["PromptData", None, None],
                       ["TextModelOutput", ["a", "b"], None, [{}]], ["ErrorData", "E"]])
    if data is not None and data[0] == "PromptData" and len(data) == 2:
        data = data + [None]
    return "sample." + rng.choice(SAMPLE), ts, uuid, data, rng.choice(REASONS)


def as_record(event):
    topic, ts, uuid, data, finish_reason = event
    more = {} if finish_reason is None else {"finish_reason": finish_reason}
    return record(topic, ts, uuid, data, **more)


def framed(rng, payloads):
    """The payloads in order, in frames of all kinds."""
    at = 0
    while at < len(payloads):
        n = rng.choice([1, 1, 2, 3, 50])
        part = payloads[at:at + n]
        at += n
        if len(part) == 1 and rng.random() < 0.7:
            yield single(part[0], rng.choice([b"sample.issued", b"anything", b""]))
        else:
            yield batch(p for payload in part for p in ([payload, b""] if rng.random() < 0.1
                                                         else [payload]))


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


BROKEN = [
    b"\xc1", b"\x91", b"\x80", b"\x01", b"{}", b"\xff" * 50,
    record("sample.issued") + b"\x00",
    record("sample.issued")[:-1],
    record("sample.unknown"), record(""), record(5), record(None),
    record("sample.issued", 1.0), record("sample.issued", True), record("sample.issued", None),
    record("sample.issued", uuid=None), record("sample.issued", uuid=b"u"),
    record("sample.issued", data={}), record("sample.issued", data=[]),
    record("sample.issued", data=["Unknown"]), record("sample.issued", data="text"),
    record("sample.issued", data=["PromptData", None, [1.0]]),
    record("sample.issued", data=["PromptData", None, None, [5]]),
    record("sample.issued", data=["TextModelOutput", 5]),
    record("sample.complete", finish_reason=None), record("sample.complete", worker_id=None),
    msgspec.msgpack.encode({"timestamp_ns": 5}), msgspec.msgpack.encode({1: 2}),
    msgspec.msgpack.encode([]),
    record("sample.issued", uuid="UU").replace(b"\xa2UU", b"\xa2\xff\xff"),
    b"\x82\xaaevent_type\xadsample.issued\xa4data" + b"\x91" * 3000 + b"\xc0",
]


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
