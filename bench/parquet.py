#!/usr/bin/env python3
"""A million conversations of four messages counted from Parquet, tokdrain beside Python's ways.

    make bench-parquet [MODEL=NAME] [ARGS="--rows 1000000 --sample 20000"]

tokdrain: `python -m tokdrain count`, Parquet in, Parquet out, the whole data set. Beside it, on the
same rows from the same file in the same run: datasets.map with two processes calling
transformers' apply_chat_template; and jinja2 as transformers sets it up, with gigatoken encoding
each batch (both are left out when they cannot be imported). These are slow, so they count the
first --sample rows, and their time for all rows is scaled from that, which the table says. Starting
up (imports, processes, the model) and writing an output are part of tokdrain's time, not of
theirs. Counts of the sample must be equal, or the bench fails.

The Python that runs it needs pyarrow, and the libraries of parquet_requirements.txt."""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools")]
import models  # noqa: E402

WORDS = ("the a of to model prompt count token answer question file line error test code data why "
         "how when which please show fix write read run build server request latency").split()


def write_rows(path, rows):
    """Conversations of four messages, about 1 KB together, none equal to another."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    rng = random.Random(4)
    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    schema = pa.schema([("id", pa.int64()), ("messages", pa.list_(message))])

    def say(i, turn, words):
        return f"{i}.{turn}: " + " ".join(rng.choices(WORDS, k=words))
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, rows, 20000):
            ids = range(first, min(first + 20000, rows))
            chats = [[{"role": role, "content": say(i, turn, words)} for turn, (role, words)
                      in enumerate([("user", 20), ("assistant", 60)] * 2)] for i in ids]
            writer.write_table(pa.table({"id": list(ids), "messages": chats}, schema=schema))


def count_tokdrain(args, source, folder):
    out = folder / "out.parquet"
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "tokdrain", "count", str(source), str(out), "-m",
                    args.model, "-j", "2"], check=True,
                   env={**os.environ, "PYTHONPATH": str(Path(args.build).resolve() / "python")})
    seconds = time.perf_counter() - start
    import pyarrow.parquet as pq
    return pq.read_table(out, columns=["tokens"])["tokens"].to_pylist(), seconds


class WithTransformers:
    """Counts batches of a data set; loads the tokenizer in each process, before the clock."""

    def __init__(self, model):
        self.model, self.tokenizer = model, None

    def __getstate__(self):
        return {"model": self.model, "tokenizer": None}

    def __call__(self, batch):
        if self.tokenizer is None:
            from transformers import AutoTokenizer
            self.tokenizer = AutoTokenizer.from_pretrained(self.model)
        ids = [self.tokenizer.apply_chat_template(chat, add_generation_prompt=True,
                                                  return_dict=False) for chat in batch["messages"]]
        return {"tokens": [len(x) for x in ids]}


def count_datasets(args, sample):
    import datasets
    data = datasets.Dataset(sample)
    count = WithTransformers(args.model)

    def run(rows):
        start = time.perf_counter()
        done = data.select(range(rows)).map(count, batched=True, num_proc=2, batch_size=250,
                                            load_from_cache_file=False)
        return done["tokens"][:], time.perf_counter() - start
    few = min(500, len(data))
    _, start_up = run(few)  # starting processes and loading the model
    counts, seconds = run(len(data))
    if seconds < 1.2 * start_up:
        print("bench: starting datasets.map took most of its time: --sample is too small for its "
              "figure to mean much", file=sys.stderr)
    return counts, max(seconds - start_up, 0.01) * len(data) / max(len(data) - few, 1)


def count_gigatoken(args, sample):
    import awkward
    import gigatoken
    from transformers import AutoTokenizer
    renderer = AutoTokenizer.from_pretrained(args.model)
    encoder = gigatoken.Tokenizer(str(Path(args.model) / "tokenizer.json"))
    counts, start = [], time.perf_counter()
    for batch in sample.to_batches(max_chunksize=1000):
        texts = [renderer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
                 for chat in batch.column("messages").to_pylist()]
        counts += awkward.num(encoder.encode_batch(texts), axis=1).tolist()
    return counts, time.perf_counter() - start


def first_rows(path, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq
    batches = []
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches():
            batches.append(batch.slice(0, rows))
            rows -= batches[-1].num_rows
            if rows == 0:
                break
        return pa.Table.from_batches(batches, file.schema_arrow)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--build", default=str(ROOT / "build"))
    p.add_argument("--model", default="qwen3", help="as make models calls it, or a folder")
    p.add_argument("--rows", type=int, default=1_000_000)
    p.add_argument("--sample", type=int, default=20_000)
    p.add_argument("--json", metavar="FILE")
    args = p.parse_args()
    if not Path(args.model).is_dir():
        args.model = str(models.models_folder() / args.model)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.parquet"
        write_rows(source, args.rows)
        want, seconds = count_tokdrain(args, source, Path(folder))
        size = min(args.sample, args.rows)
        sample = first_rows(source, size)
        table = [("tokdrain, Parquet to Parquet, 2 threads", args.rows, seconds)]
        for name, count in [("datasets.map, num_proc=2, transformers", count_datasets),
                            ("jinja2 of transformers + gigatoken", count_gigatoken)]:
            try:
                got, seconds = count(args, sample)
            except ImportError as error:
                print(f"bench: {name} is left out: {error}", file=sys.stderr)
                continue
            if got != want[:size]:
                sys.exit(f"bench: {name} gives other counts")
            table.append((name, size, seconds))
    print(f"{args.rows:,} conversations, {sum(want):,} tokens")
    print(f"{'':42} {'counted':>10} {'s':>9} {'s for all':>10} {'rows/s':>10}")
    for name, rows, seconds in table:
        scaled = seconds * args.rows / rows
        print(f"{name:42} {rows:>10,} {seconds:>9.2f} {scaled:>10.1f} {rows / seconds:>10,.0f}"
              f"{'' if rows == args.rows else '  (scaled)'}")
    if args.json:
        Path(args.json).write_text(json.dumps(table))


if __name__ == "__main__":
    main()
