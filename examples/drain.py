#!/usr/bin/env python3
"""Before and after: the drain of a benchmark, whose prompts are still to be counted at its end.

Before: transformers counts the backlog, one prompt after the other. After: tokdrain counts turns
while the run goes on; at the end only what is new in the last ones is left. Both must agree on
every count. transformers is needed, and a model folder for both (default: the built-in model's)."""
import argparse
import sys
import time
from pathlib import Path

import tokdrain

DEFAULT = Path(__file__).resolve().parent.parent / "assets" / "default"


def conversations(number, turns):
    for i in range(number):
        chat = [{"role": "system", "content": f"You are agent {i}. " + "Follow the rules. " * 40}]
        for turn in range(turns):
            chat.append({"role": "user", "content": f"Step {turn}: " + f"look at file {i}. " * 30})
            yield turn, list(chat)
            chat.append({"role": "assistant", "content": f"Done with {turn}. " * 20})


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("-m", "--model", default=str(DEFAULT))
    p.add_argument("-n", "--conversations", type=int, default=30)
    p.add_argument("--turns", type=int, default=6)
    args = p.parse_args()
    chats = list(conversations(args.conversations, args.turns))
    earlier = [chat for turn, chat in chats if turn != args.turns - 1]
    backlog = [chat for turn, chat in chats if turn == args.turns - 1]

    from transformers import AutoTokenizer
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    start = time.perf_counter()
    before = [len(tokenizer.apply_chat_template(chat, add_generation_prompt=True,
                                                return_dict=False)) for chat in backlog]
    before_s = time.perf_counter() - start

    with tokdrain.Counter(tokdrain.Model.from_pretrained(args.model)) as counter:
        counter.count_batch(earlier, raise_errors=True)  # while the benchmark runs
        start = time.perf_counter()
        after = [r.tokens for r in counter.count_batch(backlog, raise_errors=True)]
        after_s = time.perf_counter() - start
    print(f"{len(backlog)} pending prompts, {sum(before)} tokens")
    print(f"before (transformers): {before_s:.4f} s")
    print(f"after (tokdrain):      {after_s:.4f} s, {before_s / after_s:.0f} times as fast")
    if before != after:
        sys.exit("the counts differ")
    print("all counts are equal")


if __name__ == "__main__":
    main()
