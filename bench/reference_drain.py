#!/usr/bin/env python3
"""Counts requests with transformers, one after the other on one thread, as a benchmark client
does today. Prints one JSON object: seconds, tokens, the counts, peak resident memory.

    reference_drain.py MODEL_DIR REQUESTS.jsonl"""
import argparse
import json
import os
import resource
import sys
import time

os.environ.update(RAYON_NUM_THREADS="1", TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1")


def parse_arguments(messages):
    """Tool-call arguments that are the JSON text of an object become that object."""
    for message in messages:
        for call in message.get("tool_calls") or []:
            function = call.get("function") or call
            if isinstance(function.get("arguments"), str):
                try:
                    value = json.loads(function["arguments"])
                except ValueError:
                    continue
                if isinstance(value, dict):
                    function["arguments"] = value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("requests")
    options = parser.parse_args()
    import transformers
    tokenizer = transformers.AutoTokenizer.from_pretrained(options.model)
    with open(options.requests, encoding="utf-8") as f:
        requests = [json.loads(line) for line in f]
    for r in requests:
        parse_arguments(r["messages"])
    tokenizer.apply_chat_template([{"role": "user", "content": "warm up"}], tokenize=True)
    counts = []
    start = time.perf_counter()
    for r in requests:
        counts.append(len(tokenizer.apply_chat_template(
            r["messages"], tools=r.get("tools"), add_generation_prompt=True, tokenize=True,
            return_dict=False)))
    seconds = time.perf_counter() - start
    json.dump({"drain_s": seconds, "tokens": sum(counts), "counts": counts,
               "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
               "version": f"transformers {transformers.__version__}"}, sys.stdout)


if __name__ == "__main__":
    main()
