"""The same frames to this program and to the process that it replaces: the same snapshots.

Needs mlcommons/endpoints: TD_ENDPOINTS_PYTHON names a Python that can import it. What is random
here repeats; TD_TEST_SCALE multiplies the number of runs."""
import math
import os
import random

import pytest

from harness import START, Parent, batch, record, single, terminate
from random_run import BROKEN, as_record, framed, random_event, random_output, random_prompt

PYTHON = os.environ.get("TD_ENDPOINTS_PYTHON")
SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))
MODULE = "inference_endpoint.async_utils.services.metrics_aggregator"

pytestmark = pytest.mark.skipif(not PYTHON, reason="TD_ENDPOINTS_PYTHON is not set")

# Records that end the handling of a whole read burst there (docs/aggregator.md) are not among them.
UNREADABLE = [r for r in BROKEN if len(r) < 1000 and b"\xa2\xff\xff" not in r and
              r not in (record("sample.unknown", 0), record(5), record(None))]


def differences(a, b, path="", loose=()):
    """Of two JSON values: numbers must have the same type, floats may differ by rounding."""
    if path in loose:
        return []
    if isinstance(a, dict) and isinstance(b, dict):
        if list(a) != list(b):
            return [f"{path}: keys {list(a)} and {list(b)}"]
        return [d for k in a for d in differences(a[k], b[k], f"{path}.{k}", loose)]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        names = [x["name"] if isinstance(x, dict) else i for i, x in enumerate(a)]
        return [d for n, x, y in zip(names, a, b) for d in differences(x, y, f"{path}.{n}", loose)]
    if isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=1e-9):
        return []
    return [] if type(a) is type(b) and a == b else [f"{path}: {a!r} and {b!r}"]


def random_samples(rng, count):
    """Records of samples with prompts and answers of every shape."""
    out = []
    for n in range(count):
        at = START + n * 1000
        out.append(record("sample.issued", at, f"t{n}", random_prompt(rng)))
        if rng.random() < 0.9:
            out.append(record("sample.recv_first", at + rng.randrange(-5, 10**7), f"t{n}"))
        for _ in range(rng.randrange(3)):
            out.append(record("sample.recv_non_first", at + rng.randrange(10**9), f"t{n}"))
        out.append(record("sample.complete", at + rng.randrange(10**10), f"t{n}",
                          random_output(rng), finish_reason="stop"))
    return out


def play(program, flags, frames, errors, how):
    """The final snapshot."""
    with Parent(program, flags, patience=120) as parent:
        parent.send(*frames)
        if how == "terminated":
            parent.wait_for(total_samples_failed=errors, n_pending_tasks=0, patience=60)
            assert terminate(parent) == 0, parent.log()
            return parent.final()
        return parent.end(START + 10**11)


@pytest.mark.parametrize("seed", range(int(6 * SCALE)))
def test_random_runs(aggregator, root, seed):
    rng = random.Random(seed)
    how = rng.choice(["ended", "ended", "terminated"])
    events = [random_event(rng) for _ in range(rng.choice([50, 2000]))]
    records = [as_record(e) for e in events] + [rng.choice(UNREADABLE) for _ in range(20)]
    if rng.random() < 0.3:
        rng.shuffle(records)
    errors = sum(e[0].startswith("error.") for e in events) + 20
    records += random_samples(rng, 100)
    records.insert(0, record("session.started", START))
    records.insert(1, record("session.start_performance_tracking", START + 5))
    errors += 1
    records.append(record("error.client", START))
    flags = ["--tokenizer-workers", rng.choice(["1", "4"]), "--tokenizer",
             str(root / "assets" / "default"), "--hdr-sig-figs", rng.choice(["1", "2", "3"]),
             "--n-histogram-buckets", rng.choice(["1", "30", "77"])]
    flags += [f for f in ("--streaming", "--early-stopping") if rng.random() < 0.7]
    frames = list(framed(rng, records))
    finals = [play(p, flags, frames, errors, how) for p in (aggregator, [PYTHON, "-m", MODULE])]
    # our own clock stands in for the time of an unreadable record
    loose = [".counter", ".timestamp_ns", ".metrics.total_duration_ns"]
    assert differences(*finals, loose=loose) == []
