#!/usr/bin/env python3
"""make bench-aggregate: a benchmark run played to the aggregator over real sockets.

Each measurement has a process of its own:
  before   what mlcommons/endpoints' own service takes for "at once", when --before names a Python
           that has it (or TD_ENDPOINTS_PYTHON does)
  at once  nothing is counted during the run; the 408 pending prompts are counted after the end
  live     every request of the sample workload is played within --seconds, so many trajectories at
           a time, answers in streamed chunks, counted by --workers threads as they come; then the
           408 pending prompts and the end follow one another directly
  ingest   chunk events in batch frames, as fast as they are read

Prints a table; the figures go to build/bench/aggregate.json. "end to file" runs from sending the
end of the session to final_snapshot.json being there, "drain" is the same by the process's own log;
"per core" divides events by the CPU time of the whole process; "late" is by how much the latest
live snapshot missed its time; "B/event" is the growth of memory over the last 80% of the ingested
events."""
import argparse
import datetime
import json
import os
import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench")]
import aggregate_load as load  # noqa: E402 - it adds the next ones' folders
import demo  # noqa: E402
import make_workload  # noqa: E402
import pending  # noqa: E402
from harness import START, Parent, batch, record, single  # noqa: E402

BEFORE = ["-m", "inference_endpoint.async_utils.services.metrics_aggregator"]
INTERVAL_S = 0.25


def processes(pid):
    """pid and everything below it."""
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid] + [p for child in below for p in processes(int(child))]


def memory(parent, key):
    """VmHWM or VmRSS in bytes, of the process and those that it started."""
    total = 0
    for pid in processes(parent.process.pid):
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        found = re.search(key + r":\s*(\d+)", status)
        total += int(found.group(1)) * 1024 if found else 0
    return total


def cpu_seconds(parent):
    fields = Path(f"/proc/{parent.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def latest(snapshots):
    """By how much the latest of them missed its time, in seconds."""
    times = [s["timestamp_ns"] / 1e9 for s in snapshots if s["state"] == "live"]
    return max((b - a - INTERVAL_S for a, b in zip(times, times[1:])), default=0)


def log_seconds(log, first, last):
    """Between two lines of the log."""
    times = []
    for text in (first, last):
        line = next(line for line in log.splitlines() if text in line)
        times.append(datetime.datetime.strptime(line[:23], "%Y-%m-%d %H:%M:%S,%f"))
    return (times[1] - times[0]).total_seconds()


def start(program, *flags):
    parent = Parent(program, ["--streaming", *flags], patience=300)
    load.begin(parent)
    return parent, {"ready_s": parent.ready_s}


def end(parent, clock, row):
    """Ends the session and fills in what that took."""
    path = parent.out / "final_snapshot.json"
    begun = time.monotonic()
    parent.send(single(record("session.ended", clock.tick())))
    while not path.exists():
        if parent.process.poll() is not None and not path.exists():
            sys.exit(f"bench: the aggregator failed:\n{parent.log()}")
        row["peak_rss_bytes"] = max(row.get("peak_rss_bytes", 0), memory(parent, "VmHWM"))
        time.sleep(0.0005)
    row["end_to_file_s"] = time.monotonic() - begun
    parent.wait(60)
    final = parent.final()
    series = {m["name"]: m for m in final["metrics"]}
    row["pending"] = final["n_pending_tasks"]
    row["isl_tokens"] = series["isl"]["total"]
    row["counted"] = sum(series[n]["count"] for n in ("isl", "osl", "tpot_ns"))
    row["drain_s"] = log_seconds(parent.log(), "ENDED event received", "Aggregator finalized")
    row["log"] = [line for line in parent.log().splitlines()
                  if re.search("ENDED|Draining|drained|finalized", line)]
    return row


def at_once(program, model, backlog):
    parent, row = start(program, "--tokenizer", model, "--tokenizer-workers", "0")
    with parent:
        clock, sender = load.Clock(), load.Sender(parent)
        for t, turn in backlog:
            sender.add(load.issued(t, turn, clock.tick()))
        sender.flush()
        parent.wait_for(n_pending_tasks=len(backlog))
        return end(parent, clock, row)


def live(program, model, trajectories, backlog, concurrency, options):
    left = {(t["id"], turn) for t, turn in backlog}
    requests = sum(len(t["cuts"]) for t in trajectories) - len(left)
    count = load.count_records(trajectories, left)
    parent, row = start(program, "--tokenizer", model, "--tokenizer-workers",
                        str(options.workers))
    with parent:
        clock = load.Clock()
        sender = load.Sender(parent, count / options.seconds if options.seconds else None)
        for event in load.run_records(trajectories, left, concurrency, clock):
            sender.add(event)
        sender.flush()
        assert sender.sent == count
        row["events"] = count
        parent.wait_for(n_pending_tasks=0, total_samples_completed=requests)
        row["played_s"] = time.monotonic() - sender.begun
        row["late_s"] = latest(parent.snapshots())
        row["cpu_s"] = cpu_seconds(parent)
        sender.per_second = None
        for t, turn in backlog:
            sender.add(load.issued(t, turn, clock.tick()))
        sender.flush()
        return end(parent, clock, row)


def ingest(program, events, samples=128):
    parent, row = start(program)
    with parent:
        names = [f"{i:032x}" for i in range(samples)]
        parent.send(batch(record("sample.issued", START, n) for n in names))
        size = load.BATCH_RECORDS
        frames = [batch(record("sample.recv_non_first", START + i * 10**6 + k, names[k % samples],
                               ["TextModelOutput", " hello"]) for k in range(size))
                  for i in range(20)]
        clock, count, begun = load.Clock(), events // size, time.monotonic()
        for i in range(count):
            parent.send(frames[i % len(frames)])
            if i == count // 5:
                parent.wait_for(chunk_delta_ns=(i + 1) * size - samples, patience=120)
                early_rss = memory(parent, "VmRSS")
        parent.wait_for(chunk_delta_ns=count * size - samples, patience=120)
        seconds, cpu_s = time.monotonic() - begun, cpu_seconds(parent)
        row |= {"events": count * size, "events_per_s": count * size / seconds, "cpu_s": cpu_s,
                "events_per_cpu_s": count * size / cpu_s, "late_s": latest(parent.snapshots()),
                "bytes_per_event": (memory(parent, "VmRSS") - early_rss) / (0.8 * count * size)}
        return end(parent, clock, row)


COLUMNS = [("ready s", "ready_s", "{:.3f}"), ("events", "events", "{:,}"),
           ("events/s", "events_per_s", "{:,.0f}"), ("per core", "events_per_cpu_s", "{:,.0f}"),
           ("late s", "late_s", "{:.3f}"), ("B/event", "bytes_per_event", "{:.1f}"),
           ("counted", "counted", "{:,}"), ("pending", "pending", "{:,}"),
           ("prompt tokens", "isl_tokens", "{:,}"), ("end to file s", "end_to_file_s", "{:.3f}"),
           ("drain s", "drain_s", "{:.3f}"), ("peak MB", "peak_rss_bytes", "{:,.0f}")]


def show(rows):
    lines = [["", *(c[0] for c in COLUMNS)]]
    for name, row in rows.items():
        cells = [row.get(key) for _, key, _ in COLUMNS]
        cells[-1] = cells[-1] and cells[-1] / 1e6
        lines.append([name, *("" if v is None else f.format(v)
                              for v, (_, _, f) in zip(cells, COLUMNS))])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w)
                        for i, (c, w) in enumerate(zip(line, widths))))
    for name, row in rows.items():
        if name in ("before", "at once"):
            print(f"\n{name}:", *row["log"], sep="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--model", help="a name of make models, or a model folder")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--concurrency", type=int, nargs="*", default=[16, 128, 1024])
    parser.add_argument("--seconds", type=float, default=20,
                        help="of playing, for each concurrency; 0: as fast as it goes")
    parser.add_argument("--trajectories", type=int, default=make_workload.TRAJECTORIES,
                        help="how many to play, the last ones (at least the 128 of the backlog)")
    parser.add_argument("--events", type=int, default=10_000_000, help="of the ingest measurement")
    parser.add_argument("--before", default=os.environ.get("TD_ENDPOINTS_PYTHON"),
                        help="a Python that can import mlcommons/endpoints")
    options = parser.parse_args()
    program = ROOT / options.build / "tokdrain"
    if not program.exists():
        sys.exit(f"bench: the program is not built: {program}")
    model = (demo.model_options(options.model) or ["-m", str(ROOT / "assets" / "default")])[1]
    first = make_workload.TRAJECTORIES - max(options.trajectories, pending.CONCURRENCY)
    played = list(make_workload.trajectories(make_workload.SEED, first=max(first, 0)))
    backlog = pending.select_pending(played[-pending.CONCURRENCY:])
    rows = {}
    if options.before:
        rows["before"] = at_once([options.before, *BEFORE], model, backlog)
    rows["at once"] = at_once(program, model, backlog)
    for concurrency in options.concurrency:
        rows[f"live, {concurrency} at a time"] = live(program, model, played, backlog,
                                                      concurrency, options)
    if options.events:
        rows["ingest"] = ingest(program, options.events)
    out = ROOT / options.build / "bench"
    out.mkdir(parents=True, exist_ok=True)
    (out / "aggregate.json").write_text(json.dumps(rows, indent=1) + "\n")
    show(rows)


if __name__ == "__main__":
    main()
