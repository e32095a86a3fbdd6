"""Events in every order, and bytes that are no events, against a plain second reading."""
import os
import random

import pytest

from expected_run import Run
from harness import START, BATCH, Parent, batch, record, single
from random_run import BROKEN, REASONS, SAMPLE, SESSION, as_record, framed, random_event

msgspec = pytest.importorskip("msgspec")
SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))


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


def every_order(kinds, length):
    """A sequence in which every word of so many kinds stands: de Bruijn's."""
    out, word = [], [0] * (len(kinds) * length)

    def extend(t, p):
        if t > length:
            if length % p == 0:
                out.extend(word[1:p + 1])
            return
        word[t] = word[t - p]
        extend(t + 1, p)
        for k in range(word[t - p] + 1, len(kinds)):
            word[t] = k
            extend(t + 1, t)

    extend(1, 1)
    return [kinds[k] for k in out + out[:length - 1]]


def test_every_event_type_in_every_order(aggregator):
    """Any four events (five at scale) of one sample and its session, one after the other."""
    rng = random.Random(5)
    kinds = [f"session.{n}" for n in SESSION] + [f"sample.{n}" for n in SAMPLE]
    kinds += [f"error.{n}" for n in ("generic", "loadgen", "session", "client")]
    events = []
    for kind in every_order(kinds, 5 if SCALE > 1 else 4):
        ts = START + rng.choice([0, 1, 10**6, rng.randrange(10**12), -rng.randrange(10**12)])
        uuid = "" if kind.startswith("session.") else "u"
        data = ["PromptData", None, [7] * rng.randrange(5)] if kind == "sample.issued" else None
        events.append((kind, ts, uuid, data, rng.choice(REASONS)))
    assert len(events) == len(kinds) ** (5 if SCALE > 1 else 4) + (4 if SCALE > 1 else 3)
    events.append(("session.ended", START, "", None, None))
    run = Run(streaming=True)
    for event in events:
        run.event(*event)
    payloads = list(map(as_record, events))
    with Parent(aggregator, ["--streaming"]) as parent:
        parent.send(*(batch(payloads[i:i + 1000]) for i in range(0, len(payloads), 1000)))
        assert parent.wait(60) == 0, parent.log()
        check(parent.final(), run)
        starts = sum(kind == "session.started" for kind, *_ in events)
        assert parent.log().count("Duplicate STARTED event received") == starts - 1
        assert "Duplicate ISSUED for sample u, possibly due to retry - skipping" in parent.log()


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
