#!/usr/bin/env python3
"""make bench-turns: what one more turn costs, by the length of the conversation before it.

Conversations of about a thousand new tokens a turn grow to 128k tokens. At each length the next
turn of --conversations of them is counted: without reuse, with the turn before known (as in a
service that counts every turn), and once more, when all is known (what remains is rendering and
recognising the text). Prints a table of microseconds a prompt; figures go to
build/bench/turns.json, a plot to build/bench/turns.svg."""
import argparse
import json
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import demo  # noqa: E402
import make_workload  # noqa: E402
import pending  # noqa: E402
from common import run  # noqa: E402
from plot import chart  # noqa: E402

LENGTHS = [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000]
TURN_CHARS = 2600


def turns_of(program, model, conversation, path):
    """Tokens of the prompt of each turn."""
    pending.write_requests(path, ((conversation, k) for k in range(len(conversation["cuts"]))))
    lines = run([program, "count", *model, "--parse-arguments", path]).splitlines()
    return [json.loads(line)["tokens"] for line in lines]


def measure(program, model, jobs, files, repeat):
    """Microseconds a prompt: without reuse, the turn before known, all known; and tokens."""
    def drain(*options):
        return json.loads(run([program, "drain", *model, "--parse-arguments", "--json",
                               f"-j{jobs}", *options]))["runs"]

    cold, turn, again = [], [], []
    for _ in range(repeat):
        cold.append(drain("--no-reuse", files[1])[0])
        first, *others = drain("--warm", files[0], "--repeat", "4", files[1])
        turn.append(first)
        again += others

    def middle(runs):
        return statistics.median(r["drain_s"] / r["pending"] * 1e6 for r in runs)
    return {"cold": middle(cold), "turn": middle(turn), "again": middle(again),
            "tokens": cold[0]["tokens"] / cold[0]["pending"],
            "new": statistics.mean((r["tokens"] - r["reused"]) / r["pending"] for r in turn)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--model", help="a name of make models, or a model folder")
    parser.add_argument("--jobs", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--conversations", type=int, default=16)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    build = ROOT / options.build
    program, model = str(build / "tokdrain"), demo.model_options(options.model)
    folder = build / "bench" / "turns"
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [make_workload.trajectory("turns", t, 260, TURN_CHARS, 1, 300, 300)
              for t in range(options.conversations)]
    lengths = [turns_of(program, model, c, folder / "all.jsonl") for c in chosen]
    rows = {jobs: [] for jobs in options.jobs}
    for want in LENGTHS:
        at = [next((k for k, n in enumerate(ns) if n >= want), len(ns) - 1) for ns in lengths]
        files = [folder / "before.jsonl", folder / "turn.jsonl"]
        for back, path in ((1, files[0]), (0, files[1])):
            pending.write_requests(path, ((c, max(0, k - back)) for c, k in zip(chosen, at)))
        for jobs in options.jobs:
            rows[jobs].append(measure(program, model, jobs, files, options.repeat))
    print("microseconds a prompt; known: tokens that the turn adds are encoded")
    print(f"{'threads':>7} {'tokens':>8} {'no reuse':>9} {'turn N':>8} {'again':>7} {'encoded':>8}")
    for jobs, cells in rows.items():
        for r in cells:
            print(f"{jobs:7} {r['tokens']:8,.0f} {r['cold']:9,.0f} {r['turn']:8,.0f} "
                  f"{r['again']:7,.0f} {r['new']:8,.0f}")
    (build / "bench" / "turns.json").write_text(json.dumps(rows, indent=2) + "\n")
    lines = {f"{name}, {jobs}": [(round(r["tokens"]), r[key]) for r in cells]
             for jobs, cells in rows.items()
             for name, key in (("no reuse", "cold"), ("turn N", "turn"), ("again", "again"))}
    (build / "bench" / "turns.svg").write_text(
        chart("One more turn, by threads", "tokens of the prompt", "microseconds", lines))


if __name__ == "__main__":
    main()
