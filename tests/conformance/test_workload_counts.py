"""Counts of the sample workload are those of the reference, request by request."""
import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench")]
import make_workload  # noqa: E402
import pending  # noqa: E402
from reference_drain import parse_arguments  # noqa: E402

TRAJECTORIES = 6


@pytest.fixture(scope="module")
def requests():
    chosen = list(make_workload.trajectories(limit=TRAJECTORIES))
    return [pending.request(t, k) for t in chosen for k in range(len(t["cuts"]))]


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


def program_counts(program, options, requests):
    lines = "".join(json.dumps(r) + "\n" for r in requests)
    done = subprocess.run([program, "count", *options], input=lines, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [r["id"] for r in results] == [r["id"] for r in requests]
    return [r["tokens"] for r in results]


@pytest.mark.parametrize("parsed", [False, True], ids=["as-they-are", "parse-arguments"])
@pytest.mark.parametrize("name", ["built-in", "qwen3", "llama3"])
def test_counts(program, model_dir, requests, name, parsed):
    folder = ROOT / "assets" / "default" if name == "built-in" else model_dir(name)
    options = [] if name == "built-in" else ["-m", str(folder)]
    if parsed:
        options.append("--parse-arguments")
    assert program_counts(program, options, requests) == reference_counts(folder, requests, parsed)
