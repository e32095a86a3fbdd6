#!/usr/bin/env python3
"""make bench-encode: encoding speed beside other tokenizer libraries, in one run, single-threaded.

Every measurement is a process of its own: load, one call with a short text, one pass over the text
(cold), some more passes (warm). CPU time, so that other load on the machine matters little, and on
one CPU, so that a library that shares a document among threads has no more than the others and
does not pay for waiting. The ids of all engines must be those of tokenizers, or the engine is
marked. Texts are generated or collected from what Python brings, the same for everybody; so are two
tokenizers of kinds that are no BPE. Nothing is downloaded.

Table and JSON go to build/bench/encode.{txt,json}. With --quick: smaller texts, fewer passes."""
import argparse
import ast
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench")]
import make_workload  # noqa: E402
import models  # noqa: E402
from common import processor, python_with_peers  # noqa: E402

PEERS = {"gigatoken": "gigatoken", "fastokens": "fastokens", "snaptokens": "snaptokens",
         "splintr": "splintr-rs", "quicktok": "quicktok-v1", "tiktoken": "tiktoken",
         "tokenizers": "tokenizers"}
MODELS = ["qwen3", "llama3_1", "gptoss", "deepseek_v3", "gemma3", "llama2", "wordpiece", "unigram"]
MADE = ["wordpiece", "unigram"]  # by the trainers of tokenizers (encode_made.py)
CORPORA = ["english", "code", "cjk", "json", "mixed"]
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
RUNS = {"spaces": " ", "newlines": "\n", "tabs": "\t", "crlf": "\r\n", "a": "a", "digits": "7",
        "marks": "!", "dashes": "-", "nbsp": "\u00a0", "latin": "\u00e9", "accents": "\u0301",
        "arabic": "\u0628", "thai": "\u0e01", "han": "\u4e2d", "kana": "\u3042",
        "emoji": "\U0001f600", "ab": "ab", "a-b": "a b", "indent": "  a", "base64": BASE64,
        "letters": "abcdefghij"}  # the last two: characters by chance


def stdlib():
    root = Path(sysconfig.get_paths()["stdlib"])
    skip = ("site-packages", "test", "tests", "idlelib", "lib2to3", "encodings", "pydoc_data")
    for path in sorted(root.rglob("*.py")):
        if not any(part in skip for part in path.relative_to(root).parts):
            yield path.read_text(encoding="utf-8", errors="ignore")


def english():
    import pydoc_data.topics as topics
    yield from (topics.topics[k] for k in sorted(topics.topics))
    for source in stdlib():
        try:
            tree = ast.parse(source)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                yield (ast.get_docstring(node) or "") + "\n\n"


def cjk():
    """Words of one to four characters by Zipf's law, Chinese, Japanese and Korean paragraphs."""
    r = random.Random(7)

    def words(first, count, lengths):
        chars = [chr(first + int(count * r.random() ** 2)) for _ in range(count)]
        return ["".join(r.choice(chars) for _ in range(r.choice(lengths))) for _ in range(6000)]
    scripts = [(words(0x4E00, 6000, (1, 2, 2, 2, 3, 4)), "", "，", "。"),
               (words(0x3042, 80, (1, 1, 2, 3)) + words(0x4E00, 3000, (1, 2, 2)), "", "、", "。"),
               (words(0xAC00, 2000, (2, 2, 3, 4)), " ", ", ", ". ")]
    while True:
        lexicon, gap, comma, stop = r.choice(scripts)
        out = []
        for _ in range(r.randint(40, 200)):
            out.append(lexicon[int(len(lexicon) * r.random() ** 3)])
            out.append(r.choices([gap, comma, stop], [12, 2, 1])[0])
        yield "".join(out) + "\n"


def json_lines():
    for t in make_workload.trajectories(limit=40):
        yield json.dumps(t, ensure_ascii=False) + "\n"


def fill(parts, size):
    out, have = [], 0
    for part in parts:
        data = part.encode("utf-8", "ignore")
        out.append(data)
        have += len(data)
        if have >= size:
            break
    data = b"".join(out)
    if len(data) < size:  # not enough text: start again
        data = data * (size // len(data) + 1)
    return data[:size].decode("utf-8", "ignore").encode()


def corpora(folder, size):
    folder.mkdir(parents=True, exist_ok=True)
    made = {"english": fill(english(), size), "code": fill(stdlib(), size),
            "cjk": fill(cjk(), size), "json": fill(json_lines(), size)}
    texts = [made[k].decode() for k in ("english", "code", "cjk", "json")]
    mixed = (t[at:at + 1500] for at in range(0, size, 1500) for t in texts)
    made["mixed"] = fill(mixed, size)
    r = random.Random(3)
    for name, unit in RUNS.items():
        text = "".join(r.choices(unit, k=1 << 20)) if len(unit) > 4 else unit * (1 << 20)
        made["run-" + name] = fill([text], 1 << 20)
    for name, data in made.items():
        (folder / (name + ".txt")).write_bytes(data)


def on_one_cpu():
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def run(command, limit):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit,
                              preexec_fn=on_one_cpu)
    except subprocess.TimeoutExpired:
        return {"error": f"longer than {limit} s"}
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return {"error": lines[-1][:120]}
    return json.loads(done.stdout)


class Bench:
    def __init__(self, options):
        self.o = options
        self.build = ROOT / options.build
        self.texts = self.build / "bench" / "texts"
        self.python = python_with_peers(options.python, self.build)

    def versions(self):
        """Version of each peer that is there."""
        code = ("import importlib.metadata as m, json, sys\n"
                "def v(n):\n try: return m.version(n)\n"
                " except m.PackageNotFoundError: return None\n"
                "print(json.dumps({n: v(n) for n in sys.argv[1:]}))")
        if not os.path.exists(self.python):
            return {}
        done = subprocess.run([self.python, "-c", code, *PEERS.values()], capture_output=True,
                              text=True, check=True)
        return {k: v for k, v in json.loads(done.stdout).items() if v}

    def model(self, name):
        """Where the tokenizer.json of a model is; None: nowhere."""
        if name not in MADE:
            path = models.models_folder() / name / "tokenizer.json"
            return path if path.exists() else None
        path = self.build / "bench" / "made" / name / "tokenizer.json"
        if not path.exists() and "tokenizers" in self.versions():
            subprocess.run([self.python, str(ROOT / "bench" / "encode_made.py"), name, path],
                           check=True)
        return path if path.exists() else None

    def one(self, engine, model, text, doc, passes):
        path = str(self.texts / (text + ".txt"))
        if engine.startswith("tokdrain"):
            how = "count" if engine.endswith("count") else "ids"
            return run([str(self.build / "bench" / "bench_encode"), model, path, str(doc),
                        str(passes), how], self.o.timeout)
        if engine == "tokenizers":
            passes = 0  # slow, and its cache changes little
        return run([self.python, str(ROOT / "bench" / "encode_peer.py"), engine, model, path,
                    str(doc), str(passes), str(self.build / "bench" / "quicktok")],
                   self.o.timeout)

    def cell(self, engines, name, model, text, doc, size):
        """All engines on one text; best and median of some processes."""
        rows = {}
        for engine in engines:
            runs = []
            for _ in range(1 if engine == "tokenizers" else self.o.repeat):
                runs.append(self.one(engine, model, text, doc, self.o.passes))
                if "error" in runs[-1]:
                    break
            good = [r for r in runs if "error" not in r]
            if len(good) < len(runs) or not good:
                rows[engine] = {"error": runs[-1]["error"]}
                continue
            warm = [s for r in good for s in r["warm_s"]]
            rows[engine] = {
                "cold_mb_s": size / 1e6 / min(r["cold_s"] for r in good),
                "cold_median": size / 1e6 / statistics.median(r["cold_s"] for r in good),
                "load_ms": 1e3 * min(r["load_s"] for r in good),
                "first_ms": 1e3 * min(r["first_s"] for r in good),
                "loaded_mb": good[0]["loaded_kb"] / 1e3, "peak_mb": good[0]["peak_kb"] / 1e3,
                "ids": good[0]["ids"], "crc": good[0]["crc"]}
            if warm:
                rows[engine].update(warm_mb_s=size / 1e6 / min(warm),
                                    warm_median=size / 1e6 / statistics.median(warm))
        truth = rows.get("tokenizers", {})
        for engine, r in rows.items():
            if "crc" in r and "crc" in truth:
                same = r["ids"] == truth["ids"] and \
                    (r["crc"] == truth["crc"] or engine.endswith("count"))
                r["equal"] = same
        return {"model": name, "text": text, "doc_bytes": doc, "bytes": size, "engines": rows}


def figure(r, key):
    if "error" in r:
        return "-"
    mark = "" if r.get("equal", True) else "*"
    return f"{r[key]:.0f}{mark}" if key in r else "-"


def table(cells, engines, key):
    head = ["model", "text", "doc"] + engines + ["x"]
    lines = [head]
    for c in cells:
        rows = c["engines"]
        peers = [r[key] for e, r in rows.items()
                 if not e.startswith("tokdrain") and key in r and r.get("equal", True)]
        ours = rows.get("tokdrain", {}).get(key)
        lines.append([c["model"], c["text"], str(c["doc_bytes"])] +
                     [figure(rows.get(e, {"error": ""}), key) for e in engines] +
                     [f"{ours / max(peers):.2f}" if ours and peers else "-"])
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(w) if i < 2 else cell.rjust(w)
                               for i, (cell, w) in enumerate(zip(line, widths))) for line in lines)


def report(cells, runs, engines, facts):
    loads = {}
    for c in cells:
        for engine, r in c["engines"].items():
            if "load_ms" in r and c["doc_bytes"] > 1000:
                loads.setdefault((c["model"], engine), r)
    out = [json.dumps(facts), "", "MB/s cold: one pass behind the first call; x: tokdrain over the "
           "fastest peer with equal ids", table(cells, engines, "cold_mb_s"), "",
           "MB/s warm: best pass", table(cells, engines, "warm_mb_s"), "",
           "load ms / first call ms / MB resident after it / MB at the end"]
    out += [f"{model:12} {engine:14} {r['load_ms']:7.0f} {r['first_ms']:6.1f} "
            f"{r['loaded_mb']:6.0f} {r['peak_mb']:6.0f}" for (model, engine), r in loads.items()]
    if runs:
        out += ["", "1 MB of one thing, MB/s of the first pass", table(runs, engines, "cold_mb_s")]
    errors = sorted({f"{c['model']}: {e}: {r['error']}" for c in cells + runs
                     for e, r in c["engines"].items() if "error" in r})
    return "\n".join(out + ([""] + errors if errors else []) +
                     ["", "*: ids differ from those of tokenizers"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--python", help="with the peers (default: TD_PEERS, build/bench/peers)")
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--texts", nargs="*", default=CORPORA)
    parser.add_argument("--docs", nargs="*", type=int, default=[65536, 500])
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    parser.add_argument("--runs", nargs="*", default=["qwen3", "gemma3"],
                        help="models for 1 MB of one thing")
    parser.add_argument("--mb", type=float, default=4)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3, help="processes for each cell")
    parser.add_argument("--timeout", type=int, default=120)
    parser.add_argument("--quick", action="store_true")
    o = parser.parse_args()
    if o.quick:
        o.mb, o.passes, o.repeat = 1, 3, 1
    bench = Bench(o)
    versions = bench.versions()
    engines = ["tokdrain", "tokdrain-count"]
    for peer in o.peers:
        if PEERS[peer] in versions:
            engines.append(peer)
            if peer == "quicktok":
                engines.append("quicktok_count")
        else:
            print(f"bench: {PEERS[peer]} is missing and left out", file=sys.stderr)
    corpora(bench.texts, int(o.mb * 1e6))
    facts = {"processor": processor(), "python": platform.python_version(), "versions": versions,
             "load": os.getloadavg()[0], "mb": o.mb, "passes": o.passes, "repeat": o.repeat}
    cells, runs = [], []
    for name in o.models:
        path = bench.model(name)
        if path is None:
            how = "tokenizers makes it" if name in MADE else "make models"
            print(f"bench: {name} is missing and left out ({how})", file=sys.stderr)
            continue
        for text in o.texts:
            size = (bench.texts / (text + ".txt")).stat().st_size
            for doc in o.docs:
                cells.append(bench.cell(engines, name, str(path), text, doc, size))
                print(table(cells[-1:], engines, "cold_mb_s"), file=sys.stderr)
        if name in o.runs:
            one = argparse.Namespace(**{**vars(o), "passes": 0, "repeat": 1, "timeout": 20})
            bench.o, keep = one, bench.o
            runs += [bench.cell(engines, name, str(path), "run-" + k, 1 << 30, 1 << 20)
                     for k in RUNS]
            bench.o = keep
    text = report(cells, runs, engines, facts)
    (bench.build / "bench" / "encode.txt").write_text(text + "\n")
    (bench.build / "bench" / "encode.json").write_text(
        json.dumps({**facts, "cells": cells, "runs": runs}, indent=1) + "\n")
    print(text)
    wrong = [c for c in cells + runs for e, r in c["engines"].items()
             if e.startswith("tokdrain") and not r.get("equal", True)]
    if wrong:
        sys.exit(f"bench: ids differ in {[(c['model'], c['text']) for c in wrong]}")


if __name__ == "__main__":
    main()
