"""Token counts of prompts and answers of every shape, against transformers on the built-in model.

The oracle follows the rules for what is counted; the numbers are the reference library's."""
import json
import random
import signal
import time

import pytest

from harness import START, Parent, batch, record, single, values
from random_run import random_output, random_prompt

msgspec = pytest.importorskip("msgspec")
transformers = pytest.importorskip("transformers")

STARTED = single(record("session.started", START))
TRACK = single(record("session.start_performance_tracking", START + 1))


def parse_arguments(messages):
    """Tool-call arguments that are the text of a JSON object become that object."""
    out = []
    for message in messages:
        calls = message.get("tool_calls")
        if isinstance(calls, list) and calls:
            new = []
            for call in calls:
                function = call.get("function")
                if isinstance(function, dict) and isinstance(function.get("arguments"), str):
                    try:
                        parsed = json.loads(function["arguments"])
                    except ValueError:
                        parsed = None
                    if isinstance(parsed, dict):
                        call = {**call, "function": {**function, "arguments": parsed}}
                new.append(call)
            message = {**message, "tool_calls": new}
        out.append(message)
    return out


def merge(calls):
    if not calls or not isinstance(calls[0], list):
        return calls
    merged = {}
    for chunk in calls:
        for part in chunk:
            call = merged.setdefault(part.get("index", 0),
                                     {"type": "function", "function": {"arguments": ""}})
            for key in ("id", "type"):
                if part.get(key):
                    call[key] = part[key]
            function = part.get("function") or {}
            if function.get("name"):
                call["function"]["name"] = function["name"]
            call["function"]["arguments"] += function.get("arguments") or ""
    return [merged[i] for i in sorted(merged)]


class Oracle:
    def __init__(self, path):
        self.tok = transformers.AutoTokenizer.from_pretrained(path)

    def text(self, text):
        return len(self.tok.encode(text, add_special_tokens=False))

    def rendered(self, messages, **more):
        ids = self.tok.apply_chat_template(messages, tokenize=True, return_dict=False, **more)
        return len(ids)

    def message(self, content, reasoning, calls):
        turn = {"role": "assistant", "content": content}
        if reasoning:
            turn["reasoning_content"] = reasoning
        if calls:
            turn["tool_calls"] = calls
        pair = [{"role": "user", "content": ""}, {"role": "assistant", "content": ""}]
        try:
            whole = self.rendered(parse_arguments([pair[0], turn]), add_generation_prompt=False)
        except Exception:  # whatever the template raises
            parts = [content, reasoning, msgspec.json.encode(calls).decode() if calls else ""]
            return self.text("\n".join(p for p in parts if p))
        return max(0, whole - self.rendered(pair, add_generation_prompt=False))

    def prompt(self, messages, tools, kwargs, template, choice):
        messages = parse_arguments(messages)
        more = {k: v for k, v in (kwargs or {}).items()
                if k not in ("tokenize", "return_dict", "add_generation_prompt")}
        if choice is not None:
            more["tool_choice"] = choice
        if template is not None:
            more["chat_template"] = template
        if tools is not None:
            more["tools"] = tools
        try:
            return self.rendered(messages, add_generation_prompt=True, **more)
        except Exception:
            whole = {"messages": messages}
            if tools is not None:
                whole["tools"] = tools
            return self.text(msgspec.json.encode(whole).decode())

    def isl(self, data):
        _, text, ids, messages, *rest = data
        if ids is not None:
            return len(ids)
        if text:
            return self.text(text)
        return None if messages is None else self.prompt(messages, *rest)

    def osl(self, data):
        _, output, reasoning, calls = data
        if reasoning or calls:
            joined = None if reasoning is None else "".join(reasoning)
            return self.message("".join(output), joined, merge(calls))
        return self.text("".join(output)) if "".join(output) else None

    def rest(self, data):
        """What followed the first chunk."""
        _, output, reasoning, calls = data
        chunked = isinstance(output, list)
        if not reasoning and not calls:
            text = "".join(output[1:]) if chunked else ""
            return self.text(text) if text else None
        several = isinstance(reasoning, list) and len(reasoning) > 1
        reasons = "".join(reasoning[1:]) if several else None
        if not output:
            content = ""
        elif chunked:
            content = "".join(output if reasoning else output[1:])
        else:
            content = output if isinstance(reasoning, list) and reasoning else ""
        if calls and isinstance(calls[0], list) and not output and not reasoning:
            calls = calls[1:]
        return self.message(content, reasons, merge(calls) or None)


@pytest.fixture(scope="module")
def model(root):
    return root / "assets" / "default"


@pytest.fixture(scope="module")
def oracle(model):
    return Oracle(str(model))


def series_of(snapshot, name):
    return next(m for m in snapshot["metrics"] if m["name"] == name)


def check(snapshot, name, want):
    got = series_of(snapshot, name)
    assert got["count"] == len(want), name
    assert got["total"] == pytest.approx(sum(want), rel=1e-9)
    assert got["sum_sq"] == pytest.approx(sum(v * v for v in want), rel=1e-9)
    ordered = sorted(want)
    for p, value in got["percentiles"].items():
        expected = ordered[int(float(p) / 100 * (len(want) - 1))]
        assert value == pytest.approx(expected, rel=1e-12), (name, p)


@pytest.mark.parametrize("seed,workers", [(1, 2), (2, 0), (3, 1)])
def test_counts_are_those_of_the_reference(aggregator, model, oracle, seed, workers):
    rng = random.Random(seed)
    isl, osl, tpot, records = [], [], [], []
    for n in range(150):
        prompt, output = random_prompt(rng), random_output(rng)
        isl.append(oracle.isl(prompt))
        osl.append(oracle.osl(output))
        records.append(record("sample.issued", START + n, f"s{n}", prompt))
        rest = None
        if rng.random() < 0.9:
            records.append(record("sample.recv_first", START + n + 10, f"s{n}"))
            rest = oracle.rest(output)
        records.append(record("sample.complete", START + n + 1010, f"s{n}", output))
        if rest:
            tpot.append(1000 / rest)
    flags = ["--streaming", "--tokenizer", str(model), "--tokenizer-workers", str(workers)]
    with Parent(aggregator, flags) as parent:
        parent.send(STARTED, TRACK, *(batch(records[i:i + 37]) for i in range(0, len(records), 37)))
        if workers:
            parent.wait_for(n_pending_tasks=0, tracked_samples_completed=150)
        final = parent.end()
        log = parent.log()
    assert final["n_pending_tasks"] == 0
    check(final, "isl", [v for v in isl if v is not None])
    check(final, "osl", [v for v in osl if v is not None])
    check(final, "tpot_ns", tpot)
    assert log.count("(TemplateError)") == 1  # each kind of fallback is told once


def heavy_run(n, size=4000):
    """n prompts with different texts."""
    return [record("sample.issued", START + i, f"s{i}",
                   ["PromptData", f"{i} " + "lorem ipsum dolor %d " % i * (size // 20)])
            for i in range(n)]


@pytest.mark.parametrize("timeout", ["-1", "0.002", "0"])
def test_drain_timeout_conserves_items(aggregator, model, timeout):
    flags = ["--tokenizer", str(model), "--tokenizer-workers", "0", "--drain-timeout", timeout]
    with Parent(aggregator, flags) as parent:
        parent.send(STARTED, TRACK, *map(single, heavy_run(4000)))
        parent.wait_for(n_pending_tasks=4000)
        final = parent.end()
        log = parent.log()
    left = final["n_pending_tasks"]
    assert final["state"] == "complete"
    assert "Draining 4000 pending tokenizations..." in log
    assert series_of(final, "isl")["count"] + left == 4000
    if timeout == "0":
        assert left == 0 and "fully drained (n_pending_tasks=0)" in log
    else:
        assert left > 0 and f"timed out after {float(timeout):.1f}s; {left} items" in log
        assert f"incomplete (budget {float(timeout):.1f}s); {left} tokenizations" in log


def test_sigterm_while_draining(aggregator, model):
    flags = ["--tokenizer", str(model), "--tokenizer-workers", "0", "--publish-interval", "0.01"]
    with Parent(aggregator, flags) as parent:
        parent.send(STARTED, TRACK, *map(single, heavy_run(3000, 20000)))
        parent.wait_for(n_pending_tasks=3000)
        parent.send(single(record("session.ended", START + 10**9)))
        parent.wait_for(state="draining")
        start = time.monotonic()
        parent.signal(signal.SIGTERM)
        assert parent.wait() == 0
        assert time.monotonic() - start < 2
        final = parent.final()
    assert final["state"] == "interrupted" and final["n_pending_tasks"] > 0
    assert values(final)["isl"] + final["n_pending_tasks"] == 3000


def test_series_that_are_not_wanted_queue_nothing(aggregator, model):
    flags = ["--streaming", "--tokenizer", str(model), "--series", "osl", "--memory", "8MiB"]
    with Parent(aggregator, flags) as parent:
        parent.send(STARTED, TRACK, batch([
            record("sample.issued", START, "a", ["PromptData", "text"]),
            record("sample.recv_first", START + 5, "a"),
            record("sample.complete", START + 9, "a", ["TextModelOutput", ["one ", "two"]])]))
        final = parent.end()
    assert [series_of(final, n)["count"] for n in ("isl", "osl", "tpot_ns")] == [0, 1, 0]


def test_what_cannot_be_counted_stays_pending(aggregator, model):
    bad = [["TextModelOutput", "x", None, [[5]]], ["TextModelOutput", "x", None, [{}, 5]]]
    with Parent(aggregator, ["--tokenizer", str(model)]) as parent:
        parent.send(STARTED, TRACK)
        for n, data in enumerate(bad + [["TextModelOutput", "fine"]]):
            parent.send(single(record("sample.issued", START, f"s{n}")),
                        single(record("sample.complete", START + 9, f"s{n}", data)))
        turn = {"role": "assistant", "content": "", "tool_calls": ["x"]}
        parent.send(single(record("sample.issued", START, "s9",
                                  ["PromptData", None, None, [turn]])))
        final = parent.end()
        log = parent.log()
    assert final["n_pending_tasks"] == 3 and series_of(final, "osl")["count"] == 1
    assert "tokenizer drain failed; 3 items not counted" in log
    assert "incomplete (budget unlimited); 3 tokenizations did not complete" in log
