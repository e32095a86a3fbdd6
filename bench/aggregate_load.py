"""The load of bench/aggregate.py: the records of a benchmark run, and who sends them when."""
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "service")]
from harness import START, batch, record, single  # noqa: E402

BATCH_RECORDS = 1000
CHUNK_CHARS = 40
FLUSH_S = 0.01


class Clock:
    """Timestamps of the events: any that grow do."""

    def __init__(self):
        self.now = START

    def tick(self):
        self.now += 250_000
        return self.now


class Sender:
    """Collects records into batch frames as the parent does, at a pace."""

    def __init__(self, parent, per_second=None):
        self.parent, self.records, self.sent = parent, [], 0
        self.per_second, self.begun = per_second, time.monotonic()

    def add(self, payload):
        self.records.append(payload)
        if len(self.records) == BATCH_RECORDS:
            self.flush()
        if self.per_second:
            ahead = (self.sent + len(self.records)) / self.per_second - \
                (time.monotonic() - self.begun)
            if ahead > FLUSH_S:
                self.flush()
                self.parent.read_frames()
                time.sleep(ahead)

    def flush(self):
        if self.records:
            self.parent.send(batch(self.records))
            self.sent += len(self.records)
            self.records = []


def issued(t, turn, ts):
    messages = t["messages"][: t["cuts"][turn]]
    return record("sample.issued", ts, f"{t['id']}:{turn}",
                  ["PromptData", None, None, messages, t["tools"]], conversation_id=t["id"])


def pieces(text):
    return [text[i:i + CHUNK_CHARS] for i in range(0, len(text), CHUNK_CHARS)]


def answer(output):
    """What the model answered, in the chunks of a stream."""
    calls = output.get("tool_calls") or []
    chunks = [[{"index": i, "id": c["id"], "type": "function",
                "function": {"name": c["function"]["name"],
                             "arguments": c["function"]["arguments"]}}]
              for i, c in enumerate(calls)]
    return ["TextModelOutput", pieces(output.get("content") or ""),
            pieces(output.get("reasoning") or "") or None, chunks or None]


def turn_records(t, turn, clock):
    """The events of one request, one after the other."""
    uuid = f"{t['id']}:{turn}"
    yield issued(t, turn, clock.tick())
    data = answer(t["outputs"][turn])
    yield record("sample.recv_first", clock.tick(), uuid)
    for _ in range(sum(len(part or []) for part in data[1:]) - 1):
        yield record("sample.recv_non_first", clock.tick(), uuid,
                     ["TextModelOutput", "x" * CHUNK_CHARS])
    yield record("sample.complete", clock.tick(), uuid, data, finish_reason="stop")


def trajectory_records(t, left, clock):
    for turn in range(len(t["cuts"])):
        if (t["id"], turn) not in left:
            yield from turn_records(t, turn, clock)


def run_records(trajectories, left, concurrency, clock):
    """All events but those of left: concurrency trajectories under way at any moment, their
    streams taking turns, each turn of one waiting for the answer of the turn before."""
    waiting = iter(trajectories)
    active = []
    while True:
        while len(active) < concurrency and (t := next(waiting, None)) is not None:
            active.append(trajectory_records(t, left, clock))
        if not active:
            return
        still = []
        for events in active:
            if (event := next(events, None)) is not None:
                yield event
                still.append(events)
        active = still


def count_records(trajectories, left):
    """How many run_records gives."""
    return sum(2 + max(1, sum(len(part or []) for part in answer(t["outputs"][turn])[1:]))
               for t in trajectories for turn in range(len(t["cuts"]))
               if (t["id"], turn) not in left)


def begin(parent):
    parent.send(single(record("session.started", START)),
                single(record("session.start_performance_tracking", START + 1)))
