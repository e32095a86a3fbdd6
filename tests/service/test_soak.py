"""Many events: none is lost, and memory grows by the recorded values only."""
import os
import random
import re
from pathlib import Path

from harness import START, Parent, batch, record, values
from random_run import random_output, random_prompt

SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))
SAMPLES, SIZE = 128, 1000


def resident(parent):
    status = Path(f"/proc/{parent.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s*(\d+)", status).group(1)) * 1024


def is_sanitized(program):
    return b"__asan_init" in Path(program).read_bytes() or \
        b"__tsan_init" in Path(program).read_bytes()


def test_chunk_events(aggregator):
    """A million of them, ten at scale 10."""
    rounds = int(10 * SCALE)
    names = [f"{i:032x}" for i in range(SAMPLES)]
    frames = [batch(record("sample.recv_non_first", START + i * 10**6 + k, names[k % SAMPLES],
                           ["TextModelOutput", " hello"]) for k in range(SIZE))
              for i in range(100)]
    with Parent(aggregator, ["--streaming"]) as parent:
        parent.send(batch([record("session.started", START),
                           record("session.start_performance_tracking", START)]),
                    batch(record("sample.issued", START, n) for n in names))
        sizes = []
        for done in range(1, rounds + 1):
            parent.send(*frames)
            parent.wait_for(chunk_delta_ns=done * SIZE * 100 - SAMPLES, patience=60)
            sizes.append(resident(parent))
        final = parent.end()
        count = rounds * SIZE * 100
        assert values(final)["chunk_delta_ns"] == count - SAMPLES
        assert f"Aggregator finalized: {count + SAMPLES + 3} total" in parent.log()
    if not is_sanitized(aggregator):
        grown, events = sizes[-1] - sizes[1], (rounds - 2) * SIZE * 100
        assert grown < 8 * 1.3 * events + (4 << 20), sizes


def test_whole_samples(aggregator, root):
    """Prompts and answers come and go: what is counted leaves nothing behind but its number. Few of
    them wait at a time, as what waits is memory, too, more or less of it by chance."""
    rng = random.Random(4)
    data = [(random_prompt(rng), random_output(rng)) for _ in range(50)]
    sizes = []
    flags = ["--streaming", "--memory", "4MiB", "--tokenizer", str(root / "assets" / "default"),
             "--publish-interval", "0.01"]
    with Parent(aggregator, flags) as parent:
        parent.send(batch([record("session.started", START),
                           record("session.start_performance_tracking", START)]))
        for done in range(1, int(8 * SCALE) + 1):
            for part in range(20):
                parent.send(batch(r for n, (prompt, output) in enumerate(data) for r in (
                    record("sample.issued", START, f"{done}.{part}.{n}", prompt),
                    record("sample.recv_first", START + 5, f"{done}.{part}.{n}"),
                    record("sample.complete", START + 9, f"{done}.{part}.{n}", output))))
                parent.wait_for(n_pending_tasks=0, patience=60,
                                tracked_samples_completed=done * 1000 - 950 + part * 50)
            sizes.append(resident(parent))
        assert parent.end()["n_pending_tasks"] == 0
    if not is_sanitized(aggregator):
        assert sizes[-1] - sizes[2] < 4 << 20, sizes
