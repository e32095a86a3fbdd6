#!/usr/bin/env python3
"""make bench-python: what a call through the Python package costs, beside the C call on the same
request and beside transformers. Single calls are told in processor time of their thread, best of
several rounds, with everything counted before (warm), so that other work on the machine shows
little; rates and threads go by the clock."""
import argparse
import asyncio
import hashlib
import json
import statistics
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools")]
import models  # noqa: E402
import pending  # noqa: E402


def best(call, rounds=15, seconds=0.05):
    """Processor seconds of one call: the best of some rounds of about that length."""
    call()
    begun = time.thread_time()
    call()
    number = max(1, int(seconds / max(time.thread_time() - begun, 1e-7)))
    times = []
    for _ in range(rounds):
        begun = time.thread_time()
        for _ in range(number):
            call()
        times.append((time.thread_time() - begun) / number)
    return min(times)


def small_chat():
    return [{"role": "system", "content": "You are a helpful assistant. " * 8},
            {"role": "user", "content": "What is the weather like in the city today? " * 10},
            {"role": "assistant", "content": "It depends on the place. " * 10}]


def agentic_chat(size):
    """Messages and tools of a conversation of about that many bytes of JSON."""
    made, trajectory = [], pending.backlog_trajectories()[0]
    tools, part = trajectory["tools"], trajectory["messages"]
    while len(json.dumps(made)) < size:
        made += part[len(made) > 0:]
    while len(json.dumps(made)) > size:
        made.pop()
    return made, tools


def threads_ratio(call, seconds=2.0):
    """How many more calls two threads do than one, in the same time."""
    def work(until, done):
        count = 0
        while time.perf_counter() < until:
            call()
            count += 1
        done.append(count)

    def run(count):
        done, until = [], time.perf_counter() + seconds
        threads = [threading.Thread(target=work, args=(until, done)) for _ in range(count)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return sum(done)
    return statistics.median(run(2) / run(1) for _ in range(3))


def rate(run, count):
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return count / min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--model", default="qwen3", help="as make models calls it, or a folder")
    options = parser.parse_args()
    sys.path.insert(0, str((ROOT / options.build / "python").resolve()))
    import tokdrain
    folder = Path(options.model)
    if not folder.is_dir():
        folder = models.models_folder() / options.model
    model = tokdrain.Model.from_pretrained(folder)

    def row(what, value, unit):
        print(f"{what:58} {value:12,.2f} {unit}", flush=True)

    small = small_chat()
    big, tools = agentic_chat(400_000)
    for name, chat, more in (("1 KB", small, {}), ("400 KB", big, {"tools": tools})):
        request = {"messages": chat, **more}
        line = json.dumps(request, ensure_ascii=False).encode()
        print(f"-- {name}: {len(line):,} bytes of JSON, {len(chat)} messages, "
              f"{model.count(chat, **more):,} tokens")
        mine = best(lambda: model.count(chat, **more))
        native = best(lambda: model._core.count(line))
        row(f"model.count, {name}", mine * 1e6, "us")
        row(f"the C call on the same request as JSON, {name}", native * 1e6, "us")
        row(f"ratio, {name}", mine / native, "")
        row(f"model.apply_chat_template (ids), {name}",
            best(lambda: model.apply_chat_template(chat, return_dict=False, **more)) * 1e6, "us")
        row(f"model.count_messages, {name}",
            best(lambda: model.count_messages(chat, **more)) * 1e6, "us")
        row(f"two threads against one, model.count, {name}",
            threads_ratio(lambda: model.count(chat, **more)), "times")
    row("model.count of 'hello world'", best(lambda: model.count("hello world")) * 1e6, "us")
    data = bytes(10_000_000)
    row("two threads against one, SHA-256 (control: needs no lock)",
        threads_ratio(lambda: hashlib.sha256(data).digest()), "times")
    many = [[{"role": "user", "content": f"question {i} " * 20},
             {"role": "assistant", "content": f"answer {i} " * 30}] * 2 for i in range(20000)]
    with tokdrain.Counter(model) as counter:
        row("Counter.count_batch, conversations of 4 messages",
            rate(lambda: counter.count_batch(many), len(many)), "a second")
        row("Counter.count_iter", rate(lambda: sum(1 for _ in counter.count_iter(iter(many))),
                                       len(many)), "a second")
        row("Counter.acount_batch in asyncio",
            rate(lambda: asyncio.run(counter.acount_batch(many)), len(many)), "a second")
    try:
        from transformers import AutoTokenizer
    except ImportError:
        return
    reference = AutoTokenizer.from_pretrained(folder)
    for name, chat, more in (("1 KB", small, {}), ("400 KB", big, {"tools": tools})):
        row(f"transformers: len(apply_chat_template), {name}",
            best(lambda: len(reference.apply_chat_template(
                chat, add_generation_prompt=True, return_dict=False, **more)), 3) * 1e6, "us")


if __name__ == "__main__":
    main()
