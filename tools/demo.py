#!/usr/bin/env python3
"""make demo: drains a sample agentic backlog of 408 pending prompts and prints the table.

Without a model the built-in one counts. --model NAME takes a real tokenizer that `make models`
knows (fetched when absent), or a model folder."""
import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import models
import pending

ROOT = Path(__file__).resolve().parent.parent
GENERATOR = ["synthetic.py", "make_workload.py", "pending.py"]


def backlog(folder):
    """The requests' file, made once and again when its generator changes."""
    sha = hashlib.sha256()
    for name in GENERATOR:
        sha.update((ROOT / "tools" / name).read_bytes())
    path = folder / f"pending-{sha.hexdigest()[:12]}.jsonl"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        print("demo: making the sample workload", file=sys.stderr, flush=True)
        part = path.with_suffix(".part")
        pending.write_requests(part, pending.select_pending(pending.backlog_trajectories()))
        part.rename(path)
    return path


def has_template(folder):
    if (folder / "chat_template.jinja").is_file():
        return True
    config = folder / "tokenizer_config.json"
    return config.is_file() and bool(json.loads(config.read_bytes()).get("chat_template"))


def model_options(name):
    """Options of tokdrain that choose the model."""
    if not name:
        return []
    folder = Path(name)
    if not folder.is_dir():
        if name not in models.SHA256:
            sys.exit(f"demo: no model folder and no known model: {name} "
                     f"(known: {', '.join(models.SHA256)})")
        folder = models.models_folder() / name
        if not (folder / "tokenizer.json").is_file():
            status = subprocess.run(["make", "-s", "models", f"MODELS={name}"], cwd=ROOT,
                                    check=False).returncode
            if status:
                sys.exit("demo: the real tokenizer could not be fetched")
    options = ["-m", str(folder)]
    if not has_template(folder):
        print(f"demo: {name} has no chat template; the built-in one is used", file=sys.stderr)
        options += ["--template", str(ROOT / "assets" / "default" / "chat_template.jinja")]
    return options


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--model", help="a name of make models, or a model folder")
    options, extra = parser.parse_known_args()
    build = ROOT / options.build
    program = build / "tokdrain"
    if not program.exists():
        sys.exit(f"demo: the program is not built: {program}")
    requests = backlog(build / "demo")
    command = [str(program), "drain", *model_options(options.model), "--parse-arguments", *extra,
               str(requests)]
    print("+", " ".join(command), file=sys.stderr, flush=True)
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
