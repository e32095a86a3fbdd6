#!/usr/bin/env python3
"""make bench-aggregate: a benchmark run played to the aggregator over real sockets.

Three measurements, each with a process of its own:
  at once  nothing is counted during the run; the 408 pending prompts are counted after the end
  live     every request of the sample workload is played, trajectories --concurrency at a time,
           answers in streamed chunks, counted by --workers threads as they come; the 408 pending
           prompts and the end follow one another directly
  ingest   chunk events in batch frames, as fast as they are read

Prints a table; the figures go to build/bench/aggregate.json. "end to file" runs from sending the
end of the session to final_snapshot.json being there."""
import argparse
import json
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "service")]
import demo  # noqa: E402
import make_workload  # noqa: E402
import pending  # noqa: E402
from harness import START, Parent, batch, record, single  # noqa: E402

BATCH_RECORDS = 1000
CHUNK_CHARS = 40


class Clock:
    """Timestamps of the events: any that grow do."""

    def __init__(self):
        self.now = START

    def tick(self):
        self.now += 250_000
        return self.now


class Sender:
    """Collects records into batch frames as the parent does."""

    def __init__(self, parent):
        self.parent, self.records, self.sent = parent, [], 0

    def add(self, payload):
        self.records.append(payload)
        if len(self.records) == BATCH_RECORDS:
            self.flush()

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


def play_turn(sender, clock, t, turn, prompt=True):
    uuid = f"{t['id']}:{turn}"
    if prompt:
        sender.add(issued(t, turn, clock.tick()))
    data = answer(t["outputs"][turn])
    sender.add(record("sample.recv_first", clock.tick(), uuid))
    for _ in range(len(data[1]) + len(data[2] or []) + len(data[3] or []) - 1):
        sender.add(record("sample.recv_non_first", clock.tick(), uuid,
                          ["TextModelOutput", "x" * CHUNK_CHARS]))
    sender.add(record("sample.complete", clock.tick(), uuid, data, finish_reason="stop"))


def begin(parent):
    parent.send(single(record("session.started", START)),
                single(record("session.start_performance_tracking", START + 1)))


def end(parent, clock):
    """Seconds from the end of the session to the file."""
    path = parent.out / "final_snapshot.json"
    start = time.monotonic()
    parent.send(single(record("session.ended", clock.tick())))
    while not path.exists():
        if parent.process.poll() is not None and not path.exists():
            sys.exit(f"bench: the aggregator failed:\n{parent.log()}")
        time.sleep(0.0005)
    return time.monotonic() - start


def peak_rss(parent):
    for line in Path(f"/proc/{parent.process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return 0


def wait_counted(parent):
    """Until all samples are complete and nothing is pending."""
    parent.wait_for(n_pending_tasks=0)


def finish(parent, clock, row):
    row["end_to_file_s"] = end(parent, clock)
    parent.wait()
    final = parent.final()
    series = {m["name"]: m for m in final["metrics"]}
    row["pending"] = final["n_pending_tasks"]
    row["isl_tokens"] = series["isl"]["total"]
    row["counted"] = sum(series[n]["count"] for n in ("isl", "osl", "tpot_ns"))
    return row


def start(program, model, workers):
    begun = time.monotonic()
    parent = Parent(program, ["--streaming", "--tokenizer", model, "--tokenizer-workers",
                              str(workers)])
    begin(parent)
    return parent, {"ready_s": time.monotonic() - begun}


def at_once(program, model, backlog):
    parent, row = start(program, model, 0)
    with parent:
        clock, sender = Clock(), Sender(parent)
        for t, turn in backlog:
            sender.add(issued(t, turn, clock.tick()))
        sender.flush()
        parent.wait_for(n_pending_tasks=len(backlog))
        row["peak_rss_bytes"] = peak_rss(parent)
        return finish(parent, clock, row)


def live(program, model, trajectories, backlog, workers, concurrency):
    left = {(t["id"], turn) for t, turn in backlog}
    parent, row = start(program, model, workers)
    with parent:
        clock, sender, played = Clock(), Sender(parent), time.monotonic()
        for first in range(0, len(trajectories), concurrency):
            group = trajectories[first:first + concurrency]
            for turn in range(max(len(t["cuts"]) for t in group)):
                for t in group:
                    if turn < len(t["cuts"]) and (t["id"], turn) not in left:
                        play_turn(sender, clock, t, turn)
                sender.flush()
                parent.read_frames()
        row["events"] = sender.sent
        parent.wait_for(n_pending_tasks=0, total_samples_completed=sum(
            len(t["cuts"]) for t in trajectories) - len(left))
        row["played_s"] = time.monotonic() - played
        for t, turn in backlog:
            sender.add(issued(t, turn, clock.tick()))
        sender.flush()
        row["peak_rss_bytes"] = peak_rss(parent)
        return finish(parent, clock, row)


def ingest(program, events, samples=128):
    parent = Parent(program, ["--streaming"])
    with parent:
        begin(parent)
        names = [f"{i:032x}" for i in range(samples)]
        parent.send(batch(record("sample.issued", START, n) for n in names))
        frames = [batch(record("sample.recv_non_first", START + i * 10**6 + k, names[k % samples],
                               ["TextModelOutput", " hello"]) for k in range(BATCH_RECORDS))
                  for i in range(20)]
        clock = Clock()
        count = events // BATCH_RECORDS
        begun = time.monotonic()
        for i in range(count):
            parent.send(frames[i % len(frames)])
        want = count * BATCH_RECORDS - samples
        parent.wait_for(chunk_delta_ns=want)
        seconds = time.monotonic() - begun
        row = {"events": count * BATCH_RECORDS, "events_per_s": count * BATCH_RECORDS / seconds,
               "peak_rss_bytes": peak_rss(parent)}
        row["end_to_file_s"] = end(parent, clock)
        return row


def show(rows):
    columns = [("ready s", "ready_s", "{:.3f}"), ("events", "events", "{:,}"),
               ("events/s", "events_per_s", "{:,.0f}"), ("counted", "counted", "{:,}"),
               ("pending", "pending", "{:,}"), ("prompt tokens", "isl_tokens", "{:,}"),
               ("end to file s", "end_to_file_s", "{:.3f}"),
               ("peak MB", "peak_rss_bytes", "{:,.0f}")]
    lines = [["", *(c[0] for c in columns)]]
    for name, row in rows.items():
        cells = [row.get(key) for _, key, _ in columns]
        cells[-1] = cells[-1] and cells[-1] / 1e6
        lines.append([name, *("" if v is None else f.format(v)
                              for v, (_, _, f) in zip(cells, columns))])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w)
                        for i, (c, w) in enumerate(zip(line, widths))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--model", help="a name of make models, or a model folder")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--concurrency", type=int, nargs="*", default=[128])
    parser.add_argument("--trajectories", type=int, default=make_workload.TRAJECTORIES,
                        help="how many to play, the last ones (at least the 128 of the backlog)")
    parser.add_argument("--events", type=int, default=3_000_000, help="of the ingest measurement")
    options = parser.parse_args()
    program = ROOT / options.build / "tokdrain"
    if not program.exists():
        sys.exit(f"bench: the program is not built: {program}")
    model = (demo.model_options(options.model) or ["-m", str(ROOT / "assets" / "default")])[1]
    first = make_workload.TRAJECTORIES - max(options.trajectories, pending.CONCURRENCY)
    played = list(make_workload.trajectories(make_workload.SEED, first=max(first, 0)))
    backlog = pending.select_pending(played[-pending.CONCURRENCY:])
    rows = {"at once": at_once(program, model, backlog)}
    for concurrency in options.concurrency:
        rows[f"live, {concurrency} at a time"] = live(program, model, played, backlog,
                                                      options.workers, concurrency)
    rows["ingest"] = ingest(program, options.events)
    out = ROOT / options.build / "bench"
    out.mkdir(parents=True, exist_ok=True)
    (out / "aggregate.json").write_text(json.dumps(rows, indent=1) + "\n")
    show(rows)


if __name__ == "__main__":
    main()
