"""Random events, texts, prompts and answers of every shape, and records that are none."""
import pytest

from harness import START, batch, record, single

msgspec = pytest.importorskip("msgspec")

SESSION = ["started", "stop_loadgen", "start_performance_tracking", "stop_performance_tracking"]
SAMPLE = ["issued", "complete", "recv_first", "recv_non_first"]
REASONS = [None, "stop", "length", "tool_calls", "content_filter", "function_call", "", "Stop",
           "\N{SNOWMAN}"]


def random_event(rng):
    """(topic, ts, uuid, data, finish_reason)"""
    ts = START + rng.randrange(-10**6, 10**9) if rng.random() < 0.95 else \
        rng.choice([0, -1, -5, 10**15, 1])
    kind = rng.random()
    if kind < 0.1:
        return "session." + rng.choice(SESSION), ts, "", None, None
    uuid = rng.choice(["", "a", "b", "c", "d", "e", "x" * 300, "\N{SNOWMAN}"])
    if kind < 0.17:
        return ("error." + rng.choice(["generic", "loadgen", "session", "client"]), ts, uuid,
                ["ErrorData", "E", "m"], None)
    data = rng.choice([None, ["PromptData", "text", list(range(rng.randrange(4)))],
                       ["PromptData", "text"], ["PromptData", None, None],
                       ["TextModelOutput", ["a", "b"], None, [{}]], ["ErrorData", "E"]])
    if data is not None and data[0] == "PromptData" and len(data) == 2:
        data = data + [None]
    return "sample." + rng.choice(SAMPLE), ts, uuid, data, rng.choice(REASONS)


def as_record(event):
    topic, ts, uuid, data, finish_reason = event
    more = {} if finish_reason is None else {"finish_reason": finish_reason}
    return record(topic, ts, uuid, data, **more)


def framed(rng, payloads):
    """The payloads in order, in frames of all kinds."""
    at = 0
    while at < len(payloads):
        n = rng.choice([1, 1, 2, 3, 50])
        part = payloads[at:at + n]
        at += n
        if len(part) == 1 and rng.random() < 0.7:
            yield single(part[0], rng.choice([b"sample.issued", b"anything", b""]))
        else:
            yield batch(p for payload in part for p in ([payload, b""] if rng.random() < 0.1
                                                         else [payload]))


BROKEN = [
    b"\xc1", b"\x91", b"\x80", b"\x01", b"{}", b"\xff" * 50,
    record("sample.issued") + b"\x00",
    record("sample.issued")[:-1],
    record("sample.unknown"), record(""), record(5), record(None),
    record("sample.issued", 1.0), record("sample.issued", True), record("sample.issued", None),
    record("sample.issued", uuid=None), record("sample.issued", uuid=b"u"),
    record("sample.issued", data={}), record("sample.issued", data=[]),
    record("sample.issued", data=["Unknown"]), record("sample.issued", data="text"),
    record("sample.issued", data=["PromptData", None, [1.0]]),
    record("sample.issued", data=["PromptData", None, None, [5]]),
    record("sample.issued", data=["TextModelOutput", 5]),
    record("sample.complete", finish_reason=None), record("sample.complete", worker_id=None),
    msgspec.msgpack.encode({"timestamp_ns": 5}), msgspec.msgpack.encode({1: 2}),
    msgspec.msgpack.encode([]),
    record("sample.issued", uuid="UU").replace(b"\xa2UU", b"\xa2\xff\xff"),
    b"\x82\xaaevent_type\xadsample.issued\xa4data" + b"\x91" * 3000 + b"\xc0",
]


# ---- what is counted ----

TEXTS = ["", "a", "Hello, world!", "def f(x):\n    return x * 2\n", "\N{SNOWMAN} na\u00efve caf\u00e9",
         "<|im_end|>", "   ", "x" * 500, "The quick brown fox. " * 40, "\u4f60\u597d\uff0c\u4e16\u754c"]


def pieces(rng):
    """A text whole, in pieces, or missing."""
    if rng.random() < 0.5:
        return rng.choice(TEXTS)
    return [rng.choice(TEXTS) for _ in range(rng.randrange(4))]


ARGUMENTS = ["", "{}", '{"x": 1.50, "y": [1, null]}', '{"path": "caf\u00e9"}', "[1]", "not json"]


def whole_call(rng):
    return {"id": "c1", "type": "function",
            "function": {"name": rng.choice(["f", "search"]), "arguments": rng.choice(ARGUMENTS)}}


def tool_calls(rng):
    shape = rng.randrange(4)
    if shape == 0:
        return None
    if shape == 1:
        return [whole_call(rng) for _ in range(rng.randrange(3))]
    chunks = []
    for index in range(rng.randrange(1, 3)):
        call = whole_call(rng)
        text = call["function"]["arguments"]
        cut = rng.randrange(len(text) + 1)
        chunks.append([{**call, "index": index,
                        "function": {**call["function"], "arguments": text[:cut]}}])
        chunks.append([{"index": index, "function": {"arguments": text[cut:]}}])
    if shape == 3:
        rng.shuffle(chunks)
    return chunks


def random_output(rng):
    return ["TextModelOutput", pieces(rng), None if rng.random() < 0.5 else pieces(rng),
            tool_calls(rng)]


def random_messages(rng):
    messages = []
    if rng.random() < 0.4:
        messages.append({"role": "system", "content": rng.choice(TEXTS)})
    for _ in range(rng.randrange(4)):
        messages.append({"role": "user", "content": rng.choice(TEXTS)})
        turn = {"role": "assistant", "content": rng.choice(TEXTS)}
        if rng.random() < 0.5:
            turn["tool_calls"] = [whole_call(rng) for _ in range(rng.randrange(3))]
        if rng.random() < 0.3:
            turn["reasoning_content"] = rng.choice(TEXTS)
        messages.append(turn)
        if turn.get("tool_calls"):
            messages.append({"role": "tool", "tool_call_id": "c1", "content": rng.choice(TEXTS)})
    if rng.random() < 0.1:  # the template refuses it
        messages.append({"role": "user", "content": [{"type": "image", "url": "x"}, 1e16, 1.5e-7]})
    return messages


TOOLS = [{"type": "function", "function": {"name": "search", "description": "Finds \u201cthings\u201d",
                                           "parameters": {"type": "object", "properties": {
                                               "q": {"type": "string", "default": None}}}}}]
TEMPLATE = "{% for m in messages %}{{ m.role }}:{{ m.content }};{{ depth }}{% endfor %}"


def random_prompt(rng):
    kwargs = rng.choice([None, {}, {"depth": 3}, {"add_generation_prompt": False, "depth": "x"},
                         {"tokenize": False, "return_dict": True}])
    return ["PromptData", rng.choice([None, None, "", rng.choice(TEXTS)]),
            [1, 2, 3] if rng.random() < 0.05 else None,
            None if rng.random() < 0.05 else random_messages(rng),
            rng.choice([None, None, [], TOOLS]), kwargs,
            rng.choice([None] * 6 + ["", TEMPLATE, "{{ raise_exception('no') }}"]),
            rng.choice([None, None, "auto", {"type": "function"}])]
