"""Uses every function of the extension module, well and badly; what test_leaks.py watches.

    python use_everything.py references      with a debug build of CPython: none may be left over
    python use_everything.py once [NAME...]  each scenario, or these

numpy and pyarrow are used where they can be imported; but for that it needs the package alone. A
debug build sees only those references of the extension that were taken and given with
Py_REF_DEBUG; numpy's and pyarrow's were not."""
import asyncio
import gc
import pickle
import sys
import warnings
from array import array
from types import SimpleNamespace

import tokdrain
from tokdrain._native import core

CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "é🙂 \ud800?"},
        {"role": "assistant", "content": [{"type": "text", "text": "x" * 300}, 2 ** 70, 1.5, None]}]
GOOD = [{"role": "user", "content": "How many tokens is this?"}]
SLOW = {"messages": GOOD, "chat_template":
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"}
MODEL = tokdrain.Model.built_in()


class Odd:
    def model_dump(self):
        raise KeyError("inside")


class Grows:
    def __init__(self, inside):
        self.inside = inside

    def model_dump(self):
        self.inside[len(self.inside)] = 1
        return {}


class Full:
    def append(self, ticket):
        raise KeyError(ticket)


def fails(f, *arguments, **keywords):
    """Calls it, which may fail; gives what was raised."""
    try:
        f(*arguments, **keywords)
    except Exception as error:  # noqa: BLE001 - that is what it is about
        return error
    return None


def models():
    model = tokdrain.Model.built_in()
    for made in (model, pickle.loads(pickle.dumps(model)),
                 model.with_options(timeout=5, now="2026-03-04T05:06:07")):
        made.count(GOOD)
    for name in ("/nonexistent", "no such name", b"\xff", "\ud800", "nul\0", None, 3):
        fails(tokdrain.Model.from_pretrained, name)
    fails(core.Model)
    fails(core.Model.load, 1, 2, 3, 4)
    fails(core.Model.load, b"a", None, b"\0", False)


def taken_over():
    backend = SimpleNamespace(to_str=lambda: '{"model": {"type": "WordLevel", "vocab": {"a": 0, '
                              '"b": 1}, "unk_token": "a"}, "added_tokens": []}')
    tokenizer = SimpleNamespace(
        backend_tokenizer=backend, chat_template={"default": "b", "n\udcff": "\ud800"},
        special_tokens_map={"unk_token": "a"}, clean_up_tokenization_spaces=False)
    model = tokdrain.Model.from_transformers(tokenizer)
    model.count("b"), model.chat_templates, model.info()
    backend.to_str = lambda: "{"
    fails(tokdrain.Model.from_transformers, tokenizer)
    fails(core.Model.from_parts, b"x", "{}", [(1, 2)], False, [], "c", False, False, False)
    fails(core.Model.from_parts, b"x", "{}", [("a", "b")] * 99, False, [], "c", 0, 0, 0)


def texts():
    for text in ("", "Hello, world", "é🙂", "x" * 3000):
        ids = MODEL.encode(text)
        MODEL.decode(ids), MODEL.decode(ids, skip_special_tokens=True), MODEL.count(text)
    for wrong in ("\ud800", None, 3, b"x"):
        fails(MODEL.encode, wrong)
        fails(MODEL.encode_batch, [wrong])
    for wrong in ([-1], [2 ** 32], ["x"], None):
        fails(MODEL.decode, wrong)
    model = tokdrain.Model.built_in()  # its pool of threads ends with it
    model.encode_batch(["a", "b"] * 9)
    MODEL.token_to_id("x"), MODEL.token_to_id("no such \ud800"), fails(MODEL.token_to_id, 3)
    MODEL.id_to_token(3), MODEL.id_to_token(2 ** 70), fails(MODEL.id_to_token, "x")
    MODEL.vocab_size, MODEL.special_tokens_map, MODEL.chat_templates, MODEL.info()
    MODEL._core.held_bytes()


def arrays():
    try:
        import numpy
    except ImportError:
        return
    model = tokdrain.Model.built_in()
    ids, offsets = model.encode_batch(["a", "b c"], flat=True)
    model.apply_chat_template([GOOD, GOOD], padding=True, return_tensors="np")
    model.decode(numpy.array(ids))


def conversations():
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    for more in ({}, {"tokenize": False}, {"return_dict": False}, {"tools": [tool]},
                 {"documents": [{"text": "x"}]}, {"continue_final_message": True},
                 {"return_assistant_tokens_mask": True}, {"sanitize_control_tokens": True},
                 {"chat_template": "{{ x.y }}"}, {"chat_template": "{% if"}, {"v": [CHAT, {1: 2}]},
                 {"chat_template": "{{ raise_exception('no \ud800') }}"}, {"v": Odd()}):
        for chat in (GOOD, CHAT, [GOOD, GOOD], tuple(GOOD), [], [None], [Odd()], "text", None, {}):
            fails(MODEL.apply_chat_template, chat, **more)
    MODEL.spans(GOOD), MODEL.count_messages(GOOD), MODEL.count(GOOD, tools=[tool])
    loop, grows = [], {"a": 1}
    loop.append(loop)
    grows["b"] = Grows(grows)
    for odd in (loop, grows, Odd(), {1, 2}, b"bytes", 10 ** 300, -2 ** 64, object()):
        fails(MODEL.count, [{"role": "user", "content": odd}])


MIXED = [GOOD, "text", b'{"text": "text", "id": 5}', {"messages": GOOD, "id": {"a": [1]}}, b"{",
         {"token_ids": [1]}, {"message": {"content": "x"}}, {}, [], None, 3, "\ud800", {1: 2},
         {"messages": [Odd()]}, {"messages": GOOD, "chat_template": "{% if"}, tuple(GOOD)]


def batches():
    with tokdrain.Counter(MODEL, jobs=2, queue=4) as counter:
        for results in (counter.count_batch(MIXED * 2), list(counter.count_iter(MIXED * 2))):
            for r in results:
                (r.id, r.tokens, r.via, r.error, r.text, r.ids, r.mask, r.offsets, r.owned,
                 r.generation, r.reused, r.index, repr(r), str(r.error))
        fails(counter.count_batch, MIXED, raise_errors=True), fails(counter.count, None)
        fails(counter.count_batch, "text"), fails(counter.count_batch, 3)
        fails(counter.count_iter, b"x"), counter.stats()
        left = counter.count_iter(MIXED * 2)
        next(left)
        left.close()
        with pickle.loads(pickle.dumps(counter)) as again:
            again.count("x")
    fails(counter.count, "x"), fails(counter.stats)
    fails(core.Queue), fails(core.Queue, MODEL, 0), fails(core.Result), fails(core.Request)
    for wrong in ({"jobs": 0}, {"now": "no"}, {"memory": "lots"}, {"chat_template": 3}):
        fails(tokdrain.Counter, MODEL, **wrong)
    for o in ("counter", "render", "encode"):
        queue = tokdrain._counter.queue_of(MODEL, operation=("counter", "render", "encode").index(o),
                                           packed=True)
        queue.batch(MIXED)
        queue.close()


def tickets():
    with tokdrain.Counter(MODEL, jobs=1, queue=3) as counter:
        queue, held = counter._queue, []
        request = queue.read(GOOD)
        queue.submit(request, 0, False, held)
        fails(queue.submit, request, 0, False), fails(queue.submit, queue.read("x"), 0, False, Full())
        fails(queue.submit, 1, 2, 3), fails(queue.take, 2 ** 40, True), fails(queue.take, "x", 1)
        full = [queue.submit(queue.read(SLOW), 0, False, held) for _ in range(5)]
        assert None in full
        queue.take(held[-1], False), queue.abandon(held[1:]), fails(queue.abandon, ["x"])
        fails(queue.abandon, 3), queue.take(held[0], True), queue.wait()
        queue.submit(queue.read("x"), 0, True)
        while not queue.pump():
            pass
        queue.submit(queue.read("x"), 0, False), queue.submit(queue.read(SLOW), 0, True)
    queue.close(), fails(queue.take, 0, True)


def tasks():
    async def main():
        with tokdrain.Counter(MODEL, jobs=2, queue=4) as counter:
            await counter.acount(GOOD)
            await counter.acount_batch(MIXED)
            stuck = [asyncio.ensure_future(counter.acount(SLOW)) for _ in range(6)]
            await asyncio.sleep(0.05)
            for task in stuck:
                task.cancel()
            await asyncio.gather(*stuck, return_exceptions=True)
            return [r.tokens async for r in counter.acount(iter(MIXED))]
    asyncio.run(main())


def columns():
    try:
        import pyarrow as pa
    except ImportError:
        return
    from tokdrain import arrow
    nested = pa.table({"messages": [GOOD, [], GOOD], "n": [1, 2, 3]})
    lines = pa.table({"messages": ['[{"role": "user", "content": "x"}]', "{", None]})
    with tokdrain.Counter(MODEL, jobs=2) as counter:
        for table in (nested, lines, nested.slice(1), nested.slice(3)):
            arrow.count(counter, table, messages_column="messages")
        fails(arrow.count, counter, nested, messages_column="nope")
        fails(arrow.count, counter, nested, messages_column="n")
        fails(counter._queue.columns, 3), fails(counter._queue.columns, (("a", False, 1, 2),), False)


SCENARIOS = [models, taken_over, texts, arrays, conversations, batches, tickets, tasks, columns]


def left_over(scenario):
    """References that each of some runs leaves behind, once caches are full."""
    totals = array("q", [0] * 8)
    for i in range(8):
        scenario()
        gc.collect()
        totals[i] = sys.gettotalrefcount()
    return [b - a for a, b in zip(totals[3:], totals[4:])]


def main():
    warnings.simplefilter("ignore")
    if sys.argv[1] == "once":
        for scenario in SCENARIOS:
            if not sys.argv[2:] or scenario.__name__ in sys.argv[2:]:
                scenario()
        print("used everything")
        return 0
    bad = 0
    for scenario in SCENARIOS:
        steps = left_over(scenario)
        print(scenario.__name__, *steps)
        bad += min(steps) > 0  # a thread may end a little later
    return bad


if __name__ == "__main__":
    sys.exit(main())
