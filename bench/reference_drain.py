#!/usr/bin/env python3
"""Counts requests one after the other on one thread in Python. Prints one JSON object: seconds of
the first pass and of another one, tokens, the counts, peak resident memory.

    reference_drain.py MODEL_DIR REQUESTS.jsonl
        with transformers alone, as a benchmark client does today (one pass)
    reference_drain.py --gigatoken SITE MODEL_DIR REQUESTS.jsonl
        the fastest that can be put together: the template renderer of transformers and gigatoken,
        which is found in the site-packages folder SITE"""
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


def transformers_count(tokenizer):
    def count(r):
        return len(tokenizer.apply_chat_template(
            r["messages"], tools=r.get("tools"), add_generation_prompt=True, tokenize=True,
            return_dict=False))
    return count


def glued_count(tokenizer, folder, site):
    sys.path.append(site)
    from gigatoken import Tokenizer
    encode = Tokenizer(os.path.join(folder, "tokenizer.json")).encode

    def count(r):
        return len(encode(tokenizer.apply_chat_template(
            r["messages"], tools=r.get("tools"), add_generation_prompt=True, tokenize=False)))
    return count


def timed(count, requests):
    start = time.perf_counter()
    counts = [count(r) for r in requests]
    return time.perf_counter() - start, counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("requests")
    parser.add_argument("--gigatoken", metavar="SITE")
    options = parser.parse_args()
    import transformers
    tokenizer = transformers.AutoTokenizer.from_pretrained(options.model)
    with open(options.requests, encoding="utf-8") as f:
        requests = [json.loads(line) for line in f]
    for r in requests:
        parse_arguments(r["messages"])
    name, again = f"transformers {transformers.__version__}", None
    count = transformers_count(tokenizer)
    if options.gigatoken:
        name, count = "jinja2 + gigatoken", glued_count(tokenizer, options.model, options.gigatoken)
    count({"messages": [{"role": "user", "content": "warm up"}]})
    seconds, counts = timed(count, requests)
    if options.gigatoken:
        again, _ = timed(count, requests)
    json.dump({"drain_s": seconds, "again_s": again, "tokens": sum(counts), "counts": counts,
               "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
               "version": name}, sys.stdout)


if __name__ == "__main__":
    main()
