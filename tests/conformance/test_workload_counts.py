"""Counts of the sample workload, in the order in which a run issues its requests, are those of the
reference one by one, and what was counted before is reused. TD_TEST_SCALE=103 takes the whole
workload, which the reference counts for a quarter of an hour or longer."""
import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench")]
import make_workload  # noqa: E402
import pending  # noqa: E402
from reference_drain import parse_arguments  # noqa: E402

SCALE = float(os.environ.get("TD_TEST_SCALE", "1"))
TRAJECTORIES = min(make_workload.TRAJECTORIES, max(2, round(6 * SCALE)))
CONCURRENCY = min(pending.CONCURRENCY, (TRAJECTORIES + 1) // 2)


@pytest.fixture(scope="module")
def requests():
    chosen = list(make_workload.trajectories(limit=TRAJECTORIES))
    events = pending.issue_order(CONCURRENCY, chosen=chosen)
    return [pending.request(t, k) for _, _, t, k in events]


def reference_counts(folder, requests, parsed):
    from transformers import AutoTokenizer
    tokenizer = AutoTokenizer.from_pretrained(folder)
    counts = []
    for r in copy.deepcopy(requests):
        if parsed:
            parse_arguments(r["messages"])
        counts.append(len(tokenizer.apply_chat_template(
            r["messages"], tools=r["tools"], add_generation_prompt=True, return_dict=False)))
    return counts


def program_results(program, options, requests):
    lines = "".join(json.dumps(r) + "\n" for r in requests)
    done = subprocess.run([program, "count", *options], input=lines, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [r["id"] for r in results] == [r["id"] for r in requests]
    return results


@pytest.mark.parametrize("parsed", [False, True], ids=["as-they-are", "parse-arguments"])
@pytest.mark.parametrize("name", ["built-in", "qwen3", "llama3"])
def test_counts(program, model_dir, requests, name, parsed):
    folder = ROOT / "assets" / "default" if name == "built-in" else model_dir(name)
    options = [] if name == "built-in" else ["-m", str(folder)]
    if parsed:
        options.append("--parse-arguments")
    results = program_results(program, options, requests)
    counts = reference_counts(folder, requests, parsed)
    assert [r["tokens"] for r in results] == counts
    encoded = sum(r["tokens"] - r["reused"] for r in results)
    last = {r["conversation_id"]: n for r, n in zip(requests, counts)}
    assert encoded <= 1.3 * sum(last.values())
