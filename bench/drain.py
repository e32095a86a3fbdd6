#!/usr/bin/env python3
"""make bench-drain: the drain of 408 pending prompts, tokdrain beside what there is in Python.

Before: transformers, one prompt after the other on one thread; and the fastest that can be put
together today, its template renderer with gigatoken (left out when that cannot be imported). Both
count requests that are parsed already. After: tokdrain drains the same backlog with nothing known
before ("cold"), with the earlier turns of the same conversations counted before ("warm"), and once
more ("repeat"); the median of --repeat processes each. Every count of every one of them must be
equal to transformers', or the bench fails.

Then, tokdrain alone: the backlog by its size, threads and length of the prompts, and a run of an
hour compressed to --live-seconds and counted live at several concurrencies (0: not at all). Tables
go to the output, all figures to build/bench/drain.json, plots to build/bench/drain-*.svg."""
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
import pending  # noqa: E402
from common import processor, python_with_peers, run  # noqa: E402
from live_run import sweep as live_sweep  # noqa: E402
from plot import chart  # noqa: E402

SIZES = ["2k", "8k", "30k"]


def site_of(python):
    """The site-packages of the peers, when these can be imported by this Python."""
    if not os.path.exists(python):
        return None
    code = ("import sys, sysconfig, gigatoken\n"
            "print(sysconfig.get_path('platlib'), *sys.version_info[:2])")
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    words = done.stdout.split()
    return words[0] if words[1:] == [str(v) for v in sys.version_info[:2]] else None


class Bench:
    def __init__(self, options):
        self.o = options
        self.peers = python_with_peers(options.peers, ROOT / "build")
        self.build = ROOT / options.build
        self.program = str(self.build / "tokdrain")
        if not Path(self.program).exists():
            sys.exit(f"bench: the program is not built: {self.program}")
        self.model = demo.model_options(options.model)
        if "--template" in self.model:
            sys.exit("bench: this model has no chat template for the reference to use")
        self.folder = self.model[1] if self.model else str(ROOT / "assets" / "default")
        self.requests = demo.backlog(self.build / "demo")
        self.earlier = self.write("earlier", lambda: pending.select_earlier(
            chosen := pending.backlog_trajectories(), pending.select_pending(chosen)))

    def write(self, name, select):
        """Requests beside the backlog, as old as the generator that made that."""
        path = self.requests.with_name(self.requests.name.replace("pending", name))
        if not path.exists():
            pending.write_requests(path, select())
        return path

    def drain(self, *options):
        return json.loads(run([self.program, "drain", *self.model, "--parse-arguments", "--json",
                               *options]))

    def check_counts(self, expected, name, counts):
        wrong = [i for i, (a, b) in enumerate(zip(counts, expected)) if a != b]
        if len(counts) != len(expected) or wrong:
            sys.exit(f"bench: {name}: {len(counts)} counts for {len(expected)} requests; "
                     f"different: {[(i, counts[i], expected[i]) for i in wrong[:5]]}")

    def check_program(self, expected):
        """The counts of a cold, a warm and a repeated pass, one by one."""
        for name, files in (("cold", [self.requests]),
                            ("warm and repeat", [self.earlier, self.requests, self.requests])):
            lines = run([self.program, "count", *self.model, "--parse-arguments",
                         *files]).splitlines()
            counts = [json.loads(line)["tokens"] for line in lines]
            for part in range(2 if len(files) > 1 else 1):
                last = len(counts) - part * len(expected)
                self.check_counts(expected, name, counts[last - len(expected):last])

    def before(self):
        """Rows of the reference and of what is put together, and the counts."""
        script, rows = ROOT / "bench" / "reference_drain.py", {}
        print("bench: transformers counts", file=sys.stderr, flush=True)
        reference = json.loads(run([sys.executable, script, self.folder, self.requests]))
        expected = reference.pop("counts")
        rows[f"{reference['version']}, 1 thread"] = reference
        site = site_of(self.peers)
        if site is None:
            print("bench: gigatoken is left out: not there for this Python", file=sys.stderr)
            return rows, expected
        glued = json.loads(run([sys.executable, script, "--gigatoken", site, self.folder,
                                self.requests]))
        self.check_counts(expected, glued["version"], glued.pop("counts"))
        rows[f"{glued['version']}, 1 thread"] = glued
        rows[f"{glued['version']}, once more"] = {**glued, "drain_s": glued["again_s"]}
        return rows, expected

    def after(self, jobs, tokens):
        """The cold, warm and repeated drain."""
        cold, warm, again = [], [], []
        for _ in range(self.o.repeat):
            one = self.drain(f"-j{jobs}", "--repeat", "6", self.requests)
            cold.append({**one, **one["runs"][0]})
            again += [{**one, **r} for r in one["runs"][1:]]
            one = self.drain(f"-j{jobs}", "--warm", self.earlier, self.requests)
            warm.append({**one, **one["runs"][0]})
        rows = {}
        for name, runs in (("cold", cold), ("warm", warm), ("repeat", again)):
            if {r["tokens"] for r in runs} != {tokens}:
                sys.exit(f"bench: {name}: other totals than {tokens}")
            rows[f"tokdrain {name}, {jobs} thread{'s' * (jobs > 1)}"] = {
                "drain_s": statistics.median(r["drain_s"] for r in runs),
                "best_s": min(r["drain_s"] for r in runs), "tokens": tokens,
                "reused": runs[0]["reused"],
                "peak_rss_bytes": max(r["peak_rss_bytes"] for r in runs)}
        return rows

    def sizes(self):
        """Drain time by number of pending prompts and threads, and by length of the prompts."""
        jobs = ",".join(map(str, self.o.jobs))
        by_count = self.drain("--sweep-pending", "51,102,204,408", "--sweep-jobs", jobs,
                              self.requests)["runs"]
        by_size = []
        for size in SIZES:
            chosen = pending.backlog_trajectories(size)
            path = self.write(f"pending-{size}", lambda: pending.select_pending(chosen))
            by_size += self.drain("--sweep-jobs", jobs, path)["runs"]
        return by_count, by_size + by_count[3::4]

    def live(self):
        command = [self.program, "count", *self.model, "--parse-arguments"]
        return live_sweep(command, self.o.concurrency, self.o.live_seconds)


def print_table(head, lines):
    lines = [head, *lines]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    print("\n".join("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w)
                              for i, (cell, w) in enumerate(zip(line, widths)))
                    for line in lines) + "\n")


def print_rows(rows, count):
    bases = [r["drain_s"] for name, r in rows.items() if "tokdrain" not in name][:2]
    head = ("", "drain s", "prompts/s", "tokens/s", "peak MB",
            *("x transformers", "x glued")[: len(bases)])
    print_table(head, [
        (name, f"{r['drain_s']:.4f}", f"{count / r['drain_s']:,.0f}",
         f"{r['tokens'] / r['drain_s']:,.0f}", f"{r['peak_rss_bytes'] / 1e6:,.0f}",
         *(f"{base / r['drain_s']:.{1 if base > r['drain_s'] else 3}f}" for base in bases))
        for name, r in rows.items()])


def print_runs(runs):
    print_table(("pending", "jobs", "tokens a prompt", "drain s", "tokens/s"), [
        (str(r["pending"]), str(r["jobs"]), f"{r['tokens'] / r['pending']:,.0f}",
         f"{r['drain_s']:.4f}", f"{r['tokens_per_s']:,.0f}") for r in runs])


def print_live(live):
    names = {"issued": "issued", "completed": "completed", "most_pending": "most pending",
             "pending_at_drain": "pending at drain", "drain_s": "drain s",
             "final_pending": "final pending", "fallbacks": "fallbacks"}
    print_table(("concurrency", *names.values()), [
        (str(c), *(f"{r[k]:.4f}" if k == "drain_s" else str(r[k]) for k in names))
        for c, r in live.items()])


def plots(folder, result):
    def by_jobs(runs, x, y):
        return {f"{j} thread{'s' * (j > 1)}": [(x(r), y(r)) for r in runs if r["jobs"] == j]
                for j in sorted({r["jobs"] for r in runs})}

    def put(name, *args):
        (folder / f"drain-{name}.svg").write_text(chart(*args))

    put("pending", "Drain time, agentic prompts", "pending prompts", "seconds",
        by_jobs(result["by_count"], lambda r: r["pending"], lambda r: r["drain_s"]))
    put("context", "Drain time of 408 pending prompts", "tokens a prompt", "seconds",
        by_jobs(result["by_size"], lambda r: round(r["tokens"] / r["pending"]),
                lambda r: r["drain_s"]))
    if result["live"]:
        put("live", "An hour counted live, compressed", "concurrency",
            "prompts, seconds", {
                name: [(c, r[key]) for c, r in result["live"].items()]
                for name, key in (("most pending", "most_pending"),
                                  ("pending at the end", "pending_at_drain"),
                                  ("drain s", "drain_s"))})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--model", help="a name of make models, or a model folder")
    parser.add_argument("--jobs", type=int, nargs="*", default=[1, 2], help="threads of tokdrain")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peers",
                        help="Python with gigatoken (default: TD_PEERS, build/bench/peers)")
    parser.add_argument("--concurrency", type=int, nargs="*",
                        default=[16, 32, 64, 128, 256, 512, 1024])
    parser.add_argument("--live-seconds", type=float, default=20)
    bench = Bench(parser.parse_args())
    rows, expected = bench.before()
    bench.check_program(expected)
    for jobs in bench.o.jobs:
        rows |= bench.after(jobs, sum(expected))
    name = bench.o.model or "built-in"
    print(f"{len(expected)} pending prompts, {sum(expected):,} tokens, model {name}; all counts "
          f"equal\n{processor()}, {os.cpu_count()} cores, CPython {platform.python_version()}\n")
    print_rows(rows, len(expected))
    by_count, by_size = bench.sizes()
    print_runs(by_size + [r for r in by_count if r not in by_size])
    live = bench.live() if bench.o.live_seconds else {}
    if live:
        print(f"an hour of 5,531 requests in {bench.o.live_seconds:g} s, counted as they come")
        print_live(live)
    result = {"pending": len(expected), "model": name, "processor": processor(), "rows": rows,
              "by_count": by_count, "by_size": by_size, "live": live}
    out = bench.build / "bench" / "drain.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=2) + "\n")
    plots(out.parent, result)


if __name__ == "__main__":
    main()
