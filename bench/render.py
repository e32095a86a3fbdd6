#!/usr/bin/env python3
"""make bench-render: rendering beside jinja2 and minijinja, one thread each, in one run.

Every contestant is a process of its own that obeys orders, one a line, each answered by a line:

    version                     its name
    template FILE               compile this
    inputs FILE                 variables of renders, a JSON object a line
    outputs FILE                render each; write 8 bytes of length and the text (all ones: failed)
    choose 0,4,7                the inputs that are timed
    time prebuilt|json NS       pass over these until so much CPU time is gone: ns of one pass

What is timed is from variables to text ("prebuilt"), or from their JSON text on ("json"). All
render the same inputs in turn, so that none is warm from the one before. An input that a
contestant renders otherwise than the reference is left out for all of the cell; who differs in more
than a third of them is left out itself, by name. Contestants take turns, --rounds times; the best
and the median of their CPU times count."""
import argparse
import json
import math
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import render_inputs
from common import processor

ROOT = Path(__file__).resolve().parent.parent
FAMILIES = {
    "qwen3": "qwen3-Qwen-Qwen3-0.6B-llamacpp",
    "qwen3-coder": "qwen3-Qwen3-Coder-llamacpp",
    "qwen3.5": "qwen3.5-Qwen-Qwen3.5-4B-hfjs",
    "qwen3.6": "qwen3.6-qwen3_6-trl",
    "qwen3.8": "qwen3.8-qwen3_8-trl",
    "llama3.1": "llama3-llama3_1-trl",
    "gpt-oss": "gptoss-gptoss-trl",
    "deepseek-r1": "deepseek-llama-cpp-deepseek-r1-llamacpp",
    "deepseek-v3.1": "deepseek-deepseek-ai-DeepSeek-V3.1-llamacpp",
    "deepseek-v3.2": "deepseek-deepseek-ai-DeepSeek-V3.2-llamacpp",
    "deepseek-v4": "deepseek-deepseek-ai-DeepSeek-V4-llamacpp",
    "glm-4.6": "glm-GLM-4.6-llamacpp",
    "glm-5.1": "glm-zai-org-GLM-5.1-hfjs",
    "kimi-k2": "kimi-Kimi-K2-Thinking-llamacpp",
    "kimi-k3": "kimi-Kimi-K3-llamacpp",
    "gemma4": "gemma4-gemma4-trl",
    "mistral-v13": "mistral-mistral-common-test-v13",
    "mistral-small-3.2": "mistral-Mistral-Small-3.2-24B-Instruct-2506-llamacpp",
    "granite-4": "granite-ibm-granite-granite-4.0-llamacpp",
    "minimax-m2": "minimax-MiniMax-M2-llamacpp",
    "smollm3": "smol-HuggingFaceTB-SmolLM3-3B-hfjs",
}
WORKLOADS, MODES = ("short", "agentic"), ("prebuilt", "json")
SLICE_NS = {"short": 10_000_000, "agentic": 20_000_000}


class Contestant:
    def __init__(self, key, command):
        self.key = key
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.name = self.ask("version")

    def ask(self, *order):
        self.process.stdin.write(" ".join(map(str, order)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().rstrip("\n")
        if not answer:
            sys.exit(f"bench: {self.key} died of the order {order}")
        return answer

    def outputs(self, template, folder):
        """Texts of all inputs; None where rendering failed."""
        path = folder / f"{self.key}.out"
        if self.ask("template", template) != "ok":
            return None
        if self.ask("outputs", path) != "ok":
            return None
        data, at, texts = path.read_bytes(), 0, []
        while at < len(data):
            head, at = data[at:at + 8], at + 8
            if head == b"\xff" * 8:
                texts.append(None)
                continue
            size = int.from_bytes(head, "little")
            texts.append(data[at:at + size])
            at += size
        return texts

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def rust_peer(build):
    """The command of the minijinja crate, or None after telling why."""
    cargo = shutil.which("cargo")
    if cargo is None:
        print("bench: no cargo: the minijinja crate is left out", file=sys.stderr)
        return None
    target = build / "bench" / "minijinja"
    done = subprocess.run([cargo, "build", "--release", "-q", "--locked", "--target-dir", target,
                           "--manifest-path", ROOT / "bench" / "minijinja" / "Cargo.toml"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        print("bench: cargo cannot build the minijinja crate, which is left out:\n" +
              "\n".join(done.stderr.splitlines()[:5]), file=sys.stderr)
        return None
    return [str(target / "release" / "render-peer")]


def python_peer(build):
    """A Python that has the minijinja package: TD_PEER_PYTHON, or an environment of its own."""
    given = os.environ.get("TD_PEER_PYTHON")
    if given:
        return given
    venv, wanted = build / "venv-render", ROOT / "bench" / "render_requirements.txt"
    stamp, python = venv / "requirements.stamp", venv / "bin" / "python"
    if not stamp.exists() or stamp.read_text() != wanted.read_text():
        subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r",
                        wanted], check=True)
        stamp.write_text(wanted.read_text())
    return str(python)


def contestants(build):
    peer = str(ROOT / "bench" / "render_peer.py")
    found = [Contestant("tokdrain", [str(build / "bench" / "bench_render")]),
             Contestant("jinja2", [sys.executable, peer, "jinja2"]),
             Contestant("minijinja-py", [python_peer(build), peer, "minijinja"])]
    rust = rust_peer(build)
    if rust is not None:
        found.append(Contestant("minijinja-rs", rust))
    return found


def write_inputs(path, variables):
    path.write_text("".join(json.dumps(v, ensure_ascii=False) + "\n" for v in variables),
                    encoding="utf-8", errors="surrogatepass")


def prepare(workload, family, template, who, folder):
    """(kind, reference outputs) of the first kind of inputs that the reference renders."""
    for kind in render_inputs.KINDS if workload == "agentic" else ("conversations",):
        path = folder / f"{workload}-{kind.replace(' ', '-')}.jsonl"
        if not path.exists():
            write_inputs(path, render_inputs.short() if workload == "short"
                         else render_inputs.agentic(kind))
        for c in who:
            if c.ask("inputs", path) != "ok":
                sys.exit(f"bench: {c.key} cannot read {path}")
        texts = {c.key: c for c in who}["jinja2"].outputs(template, folder)
        if texts is not None and (workload == "short" or None not in texts):
            return kind, path, texts
    sys.exit(f"bench: the reference renders no {workload} inputs with {family}")


def agree(who, template, expected, folder):
    """The inputs that count, the contestants that take part, and what is said about the others."""
    good = [i for i, text in enumerate(expected) if text is not None]
    same, notes = {}, []
    for c in who:
        texts = expected if c.key == "jinja2" else c.outputs(template, folder)
        same[c.key] = {i for i in good if texts is not None and texts[i] == expected[i]}
        if c.key == "tokdrain" and len(same[c.key]) != len(good):
            sys.exit(f"bench: tokdrain differs from the reference: {template}")
    part = []
    for c in who:
        wrong = len(good) - len(same[c.key])
        if wrong * 3 > len(good):
            notes.append(f"{c.key} left out: {wrong} of {len(good)} texts are not the reference's")
            continue
        if wrong:
            notes.append(f"{c.key}: {wrong} of {len(good)} texts are not the reference's")
        part.append(c)
    chosen = [i for i in good if all(i in same[c.key] for c in part)]
    return chosen, part, notes


def measure(part, chosen, mode, slice_ns, rounds):
    """Microseconds of one render: {contestant: (best, median)}."""
    times = {c.key: [] for c in part}
    for c in part:
        c.ask("choose", ",".join(map(str, chosen)))
        c.ask("time", mode, 0)
    for n in range(rounds):
        for c in part:
            if c.key == "jinja2" and n >= 3:
                continue
            ns = int(c.ask("time", mode, slice_ns))
            if ns == 0:
                sys.exit(f"bench: {c.key} failed where it did not before")
            times[c.key].append(ns / len(chosen) / 1e3)
    return {key: (min(t), statistics.median(t)) for key, t in times.items()}


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def ratio(cell, key):
    return cell["us"][key][0] / cell["us"]["tokdrain"][0]


def summary(cells, keys):
    """Per workload and mode: geometric means of MB/s and of the ratios to each peer, the least of
    these, and the family in which any peer comes nearest."""
    result, peers = {}, [key for key in keys if key != "tokdrain"]
    for w in WORKLOADS:
        for m in MODES:
            some = [c for c in cells if c["workload"] == w and c["mode"] == m]
            speed = {key: geometric([c["bytes"] / c["us"][key][0] for c in some if key in c["us"]])
                     for key in keys}
            times = {key: geometric([ratio(c, key) for c in some if key in c["us"]])
                     for key in peers}
            lowest = min((ratio(c, key), c["family"]) for c in some for key in peers
                         if key in c["us"])
            result[f"{w}, {m}"] = {"MB/s": speed, "x": times, "x least": min(times.values()),
                                   "lowest": lowest, "families": len(some)}
    return result


def cell_line(cell, keys):
    ours = cell["us"]["tokdrain"]
    fields = [f"{cell['family']:18}", f"{cell['bytes'] / 1e3:7.1f}", f"{ours[0]:9.2f}"]
    for key in keys:
        if key != "tokdrain":
            fields.append(f"{ratio(cell, key):14.1f}" if key in cell["us"] else f"{'-':>14}")
    return "".join(fields)


def print_tables(cells, keys, result, names):
    for w in WORKLOADS:
        for m in MODES:
            peers = "".join(f"{'x ' + key:>14}" for key in keys if key != "tokdrain")
            print(f"\n{w}, {m}: KB of output and us of one render, and how many times longer the "
                  f"peers take\n{'':18}     KB  tokdrain{peers}")
            for cell in cells:
                if cell["workload"] == w and cell["mode"] == m:
                    print(cell_line(cell, keys))
    print("\nGeometric means; x: times faster than the fastest peer")
    print(f"{'':20}" + "".join(f"{key + ' MB/s':>19}" for key in keys) + "      x   lowest")
    for title, r in result.items():
        print(f"{title:20}" + "".join(f"{r['MB/s'][key]:19.0f}" for key in keys) +
              f"{r['x least']:7.1f}   {r['lowest'][0]:.1f} {r['lowest'][1]}")
    print("\n" + "\n".join(f"{key}: {name}" for key, name in names.items()))


def template_folder():
    shared = Path(os.environ.get("TOKDRAIN_SHARED", ROOT.parent / "shared"))
    folder = shared / "templates"
    if not folder.is_dir():
        sys.exit(f"bench: no templates: {folder} (TOKDRAIN_SHARED names the folder above it)")
    return folder


def run(options, build, folder):
    who, cells, notes = contestants(build), [], []
    templates = template_folder()
    for family in options.family or FAMILIES:
        template = templates / f"{FAMILIES[family]}.jinja"
        for workload in WORKLOADS:
            kind, _, expected = prepare(workload, family, template, who, folder)
            chosen, part, said = agree(who, template, expected, folder)
            notes += [f"{family}, {workload}: {note}" for note in said]
            if kind not in ("conversations", "full"):
                notes.append(f"{family}, agentic: {kind}")
            size = sum(len(expected[i]) for i in chosen) / len(chosen)
            for mode in MODES:
                us = measure(part, chosen, mode, SLICE_NS[workload], options.rounds)
                cells.append({"family": family, "template": template.name, "workload": workload,
                              "mode": mode, "inputs": len(chosen), "bytes": size, "us": us})
        print(f"bench: {family} done", file=sys.stderr, flush=True)
    names = {c.key: c.name for c in who}
    for c in who:
        c.close()
    return cells, notes, names


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--family", nargs="*", choices=sorted(FAMILIES))
    options = parser.parse_args()
    build = ROOT / options.build
    with tempfile.TemporaryDirectory() as folder:
        cells, notes, names = run(options, build, Path(folder))
    keys = list(names)
    result = summary(cells, keys)
    print(f"{processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, CPython "
          f"{platform.python_version()}; CPU time of one thread, best of {options.rounds}")
    print_tables(cells, keys, result, names)
    print("\n" + "\n".join(notes))
    out = build / "bench" / "render.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"processor": processor(), "load": os.getloadavg(),
                               "rounds": options.rounds, "names": names, "summary": result,
                               "notes": notes, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
