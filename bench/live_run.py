"""A benchmark run of an hour, compressed in time, counted live by one process.

Every request of the sample workload is written to `tokdrain count` when the run issues it, so many
trajectories at a time. The run is stopped when the last one is issued, while others still wait for
their answers; what has no count at that moment is pending, and drained then."""
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import pending  # noqa: E402

HOUR = 3600


class Lines:
    """The input line of each request, put together from parts that are made once."""

    def __init__(self, chosen):
        def dump(v):
            return json.dumps(v, ensure_ascii=False).encode()
        self.parts = {t["id"]: (dump(t["tools"]), [dump(m) for m in t["messages"]])
                      for t in chosen}

    def line(self, t, turn):
        tools, messages = self.parts[t["id"]]
        return (b'{"id":"%s:%d","tools":%s,"messages":[' % (t["id"].encode(), turn, tools)
                + b",".join(messages[: t["cuts"][turn]]) + b"]}\n")


class Run:
    """One run. events are those of pending.issue_order, seconds its length in real time."""

    def __init__(self, command, lines, events, seconds):
        self.lines, self.events, self.seconds = lines, events, seconds
        self.whole = events[-1][0]  # of the run's time when the last one is issued
        self.sent = self.done = self.most = self.pending = 0
        self.late = 0.0
        self.process = subprocess.Popen([*command, "--fallback"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.start = time.monotonic() + 0.5  # the model is there by then
        self.ended_at = None

    def feed(self):
        stream = self.process.stdin
        for begin, _, t, turn in self.events:
            line = self.lines.line(t, turn)
            due = self.start + begin / self.whole * self.seconds
            time.sleep(max(0.0, due - time.monotonic()))
            self.sent += 1
            stream.write(line)
            stream.flush()
            self.late = max(self.late, time.monotonic() - due)
            self.most = max(self.most, self.sent - self.done)
        self.ended_at, self.pending = time.monotonic(), self.sent - self.done
        stream.close()

    def collect(self):
        """Reads the results and returns the figures."""
        feeder = threading.Thread(target=self.feed)
        feeder.start()
        total, fallbacks, failed, last = 0, 0, 0, 0.0
        for line in self.process.stdout:
            self.done += 1
            last = time.monotonic()
            result = json.loads(line)
            total += result["tokens"] or 0
            fallbacks += result["via"] == "fallback"
            failed += result["tokens"] is None
        feeder.join()
        if self.process.wait() not in (0, 1):
            sys.exit(f"bench: counting live failed ({self.process.returncode})")
        return {"issued": self.sent, "completed": sum(end <= self.whole
                                                      for _, end, _, _ in self.events),
                "most_pending": self.most, "pending_at_drain": self.pending,
                "drain_s": max(0.0, last - self.ended_at), "final_pending": self.sent - self.done,
                "fallbacks": fallbacks, "failed": failed, "tokens": total,
                "seconds": self.seconds, "compressed": HOUR / self.seconds, "late_s": self.late}


def sweep(command, concurrencies, seconds):
    """A run for each concurrency: {concurrency: figures}."""
    chosen = list(pending.trajectories())
    lines = Lines(chosen)
    return {c: Run(command, lines, pending.issue_order(c, chosen=chosen), seconds).collect()
            for c in concurrencies}
