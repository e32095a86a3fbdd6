#!/usr/bin/env python3
"""make bench-drain: the drain of 408 pending prompts, tokdrain beside transformers.

Both count the same requests on one thread (--jobs for more on tokdrain's side), and every count
must be equal. Prints a table; the figures go to build/bench/drain.json. The reference counts the
backlog once; tokdrain drains it --repeat times in processes of their own, and the median counts."""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import demo  # noqa: E402


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"bench: {' '.join(command)} failed ({done.returncode}):\n{done.stderr}")
    return done.stdout


def processor():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def check_counts(program, model, requests, expected):
    """Exits unless tokdrain's counts are the reference's, one by one."""
    lines = run([program, "count", *model, "--parse-arguments", str(requests)]).splitlines()
    counts = [json.loads(line)["tokens"] for line in lines]
    wrong = [i for i, (a, b) in enumerate(zip(counts, expected)) if a != b]
    if len(counts) != len(expected) or wrong:
        sys.exit(f"bench: {len(counts)} counts for {len(expected)} requests; "
                 f"different: {[(i, counts[i], expected[i]) for i in wrong[:5]]}")


def measure(program, model, requests, jobs, repeat):
    runs = [json.loads(run([program, "drain", *model, "--parse-arguments", "--json", f"-j{jobs}",
                            str(requests)])) for _ in range(repeat)]
    runs.sort(key=lambda r: r["runs"][0]["drain_s"])
    middle = runs[len(runs) // 2]
    return {"drain_s": statistics.median(r["runs"][0]["drain_s"] for r in runs),
            "tokens": middle["runs"][0]["tokens"], "peak_rss_bytes": middle["peak_rss_bytes"]}


def table(rows, count, base):
    head = ("", "drain s", "prompts/s", "tokens/s", "peak MB", "x")
    lines = [head] + [(name, f"{r['drain_s']:.3f}", f"{count / r['drain_s']:,.0f}",
                       f"{r['tokens'] / r['drain_s']:,.0f}", f"{r['peak_rss_bytes'] / 1e6:,.0f}",
                       f"{base / r['drain_s']:.1f}") for name, r in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w)
                               for i, (cell, w) in enumerate(zip(line, widths)))
                     for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--model", help="a name of make models, or a model folder")
    parser.add_argument("--jobs", type=int, nargs="*", default=[1], help="threads of tokdrain")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    build = ROOT / options.build
    program = str(build / "tokdrain")
    if not Path(program).exists():
        sys.exit(f"bench: the program is not built: {program}")
    requests = demo.backlog(build / "demo")
    model = demo.model_options(options.model)
    if "--template" in model:
        sys.exit("bench: this model has no chat template for the reference to use")
    folder = model[1] if model else str(ROOT / "assets" / "default")
    print("bench: the reference counts", file=sys.stderr, flush=True)
    reference = json.loads(run([sys.executable, str(ROOT / "bench" / "reference_drain.py"),
                                folder, str(requests)]))
    count = len(reference["counts"])
    check_counts(program, model, requests, reference["counts"])
    rows = [(f"{reference['version']}, 1 thread", reference)]
    for jobs in options.jobs:
        rows.append((f"tokdrain, {jobs} thread{'s' * (jobs > 1)}",
                     measure(program, model, requests, jobs, options.repeat)))
    print(f"{count} pending prompts, {reference['tokens']:,} tokens, model "
          f"{options.model or 'built-in'}; all counts equal\n"
          f"{processor()}, {os.cpu_count()} cores, CPython {platform.python_version()}\n")
    print(table(rows, count, reference["drain_s"]))
    out = build / "bench" / "drain.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    reference.pop("counts")
    out.write_text(json.dumps({"pending": count, "model": options.model or "built-in",
                               "processor": processor(), "rows": dict(rows)}, indent=2) + "\n")


if __name__ == "__main__":
    main()
